r"""Text as it is shown and stored: without the passwords of URLs in it, and names that are no Unicode with `\xff`."""

from __future__ import annotations

import re

# The length of a scheme is bounded, lest a long text without spaces be searched from each of its letters to its end.
_PASSWORD = re.compile(r"(\b[a-z][a-z0-9+.-]{0,30}:/{1,2}[^\s/?#:@]*):[^\s/?#]*@", re.IGNORECASE)


def redacted(text: str) -> str:
    """Return a text in which `***` stands for the password of each URL.

    A password ends at the last `@` before the path begins; as in any URL, a slash within it is written `%2F`.

    Args:
        text: a URL, or a message with URLs in it.
    """
    if "@" not in text:  # this is asked of every label of every shard
        return text
    return _PASSWORD.sub(r"\1:***@", text)


def readable(path: str) -> str:
    r"""Name a file or URL as messages, receipts and reports do: `https://user:***@host/data`, `/data/caf\xe9.txt`."""
    return redacted(path).encode(errors="surrogateescape").decode(errors="backslashreplace")


def redact_error(error: BaseException) -> None:
    """Take the passwords of URLs out of what an error of another library says.

    Args:
        error: what was raised; it is changed.
    """
    error.args = tuple(redacted(one) if isinstance(one, str) else one for one in error.args)
    if isinstance(error, OSError) and isinstance(error.filename, str):
        error.filename = redacted(error.filename)
