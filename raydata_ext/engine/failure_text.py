"""What is said of an exception of a user's function: text that can be made, shown and stored, whatever it holds."""

from __future__ import annotations

import asyncio
import os
import traceback
from pathlib import Path

_OWN_CODE = str(Path(__file__).parents[1]) + os.sep
_MOST_CHARACTERS = 10_000
"""Of a message, and of a traceback: some quote the whole of what they were given."""


def is_failure(error: BaseException) -> bool:
    """Tell whether what was raised is a failure, rather than the wish that the process ends.

    A panic of an extension written in Rust, and a coroutine that was cancelled, are no `Exception`, but failures.
    """
    return isinstance(error, Exception | asyncio.CancelledError) or type(error).__module__ == "pyo3_runtime"


def message_of(error: BaseException) -> str:
    """What an error says of itself, cut if it is long."""
    try:
        return _cut(str(error))
    except Exception as failure:  # noqa: BLE001 - the class is the user's, and so is what its `__str__` raises
        return f"(no message: its __str__ raised {type(failure).__name__})"


def described(error: BaseException) -> str:
    """Type and message of an error, and below it the traceback of `users_traceback`."""
    return f"{type(error).__name__}: {message_of(error)}\n{users_traceback(error)}"


def users_traceback(error: BaseException) -> str:
    """The traceback of an error, and of those that it was raised from, without the frames of this package."""
    shown = traceback.TracebackException.from_exception(error)
    part: traceback.TracebackException | None = shown
    while part is not None:
        part.stack = traceback.StackSummary.from_list(
            [frame for frame in part.stack if not frame.filename.startswith(_OWN_CODE)]
        )
        part = part.__cause__ or part.__context__
    return _cut("".join(shown.format()).rstrip())


def _cut(text: str) -> str:
    if len(text) <= _MOST_CHARACTERS:
        return text
    half = _MOST_CHARACTERS // 2
    return f"{text[:half]} ... ({len(text) - 2 * half:,} characters) ... {text[-half:]}"
