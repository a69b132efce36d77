r"""The file of a dictionary: `symbol SPACE count`, a line each, in the order of their numbers.

The count follows the *last* space, so symbols may hold spaces. A line ends at `\n` alone. What stands after the count
is a flag:

* `#fairseq:overwrite`: the symbol stands in the dictionary already, and gets this place as well.
* `#special:ROLES`: a special symbol (bos, pad, eos, unk, extra). fairseq leaves special symbols out of the file, and so
  do we where they are the usual four; where they are not, they stand at the begin, since all numbers depend on them.

Source: `Dictionary.load` and `save` of fairseq; the second flag is ours.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeAlias

from raydata_ext.errors import ReadError

File: TypeAlias = str | os.PathLike[str] | IO[str]
"""A path, or an open text file."""

OVERWRITE_FLAG = "#fairseq:overwrite"
SPECIAL_FLAG = "#special:"
EXTRA_ROLE = "extra"
ROLES = ("bos", "pad", "eos", "unk", EXTRA_ROLE)


class DictionaryFileError(ReadError, RuntimeError):
    """A dictionary file has a line that is none, or a symbol twice; the message gives file and text."""


@dataclass(frozen=True)
class Entry:
    """A line of the file.

    Attributes:
        word: the symbol.
        count: how often it was seen.
        overwrite: whether it gets a new place where it has one already.
        roles: what it is special as; empty where it is not special.
    """

    word: str
    count: int
    overwrite: bool = False
    roles: tuple[str, ...] = ()


def read_entries(f: File) -> tuple[str, list[Entry]]:
    """Read a dictionary file.

    Returns:
        Its name, for messages, and its lines.

    Raises:
        DictionaryFileError: it is not UTF-8, or a line is not as above.
    """
    if not isinstance(f, str | os.PathLike):
        name = str(getattr(f, "name", "dictionary file"))
        return name, _parse_lines(f.read(), name)
    name = os.fspath(f)
    try:
        text = Path(f).read_bytes().decode("utf8")
    except UnicodeDecodeError as error:
        raise DictionaryFileError(
            f"Incorrect encoding detected in {name}: byte {error.start} is not UTF-8 ({error.reason}),"
            " please rebuild the dataset"
        ) from error
    return name, _parse_lines(text, name)


def format_entries(entries: list[Entry]) -> str:
    r"""The text that `read_entries` reads as these lines.

    Raises:
        ValueError: a symbol holds `\n`, so it cannot stand in a file of lines.
    """
    lines = []
    for entry in entries:
        if "\n" in entry.word:
            raise ValueError(f"symbol {entry.word!r} holds a line end; a dictionary file cannot hold it")
        flag = f" {SPECIAL_FLAG}{','.join(entry.roles)}" if entry.roles else ""
        flag = f" {OVERWRITE_FLAG}" if entry.overwrite else flag
        lines.append(f"{entry.word} {entry.count}{flag}\n")
    return "".join(lines)


def _parse_lines(text: str, name: str) -> list[Entry]:
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [_parse(line, f"{name}: line {number}") for number, line in enumerate(lines, 1)]


def _parse(line: str, place: str) -> Entry:
    rest, _, field = line.rstrip().rpartition(" ")
    overwrite = field == OVERWRITE_FLAG
    roles = tuple(field[len(SPECIAL_FLAG) :].split(",")) if field.startswith(SPECIAL_FLAG) else ()
    if not set(roles) <= set(ROLES):
        raise DictionaryFileError(f"{place}: unknown role in {field!r}; roles are {', '.join(ROLES)}")
    if overwrite or roles:
        rest, _, field = rest.rpartition(" ")
    try:
        count = int(field)
    except ValueError:
        raise DictionaryFileError(
            f"{place}: Incorrect dictionary format, expected '<token> <cnt> [flags]', got {line!r}"
        ) from None
    if len(rest) + len(field) >= len(line):
        raise DictionaryFileError(
            f"{place}: Incorrect dictionary format, no symbol stands before the count in {line!r}"
        )
    return Entry(rest, count, overwrite, roles)
