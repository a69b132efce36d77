"""What every file format offers: how a file is cut into pieces, and a piece read as record batches."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import orjson
import xxhash
from pydantic import BaseModel, ConfigDict, field_validator

from raydata_ext.errors import ReadError
from raydata_ext.fingerprint import combine
from raydata_ext.sources.input_file import InputFile, Piece

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

HASH_BLOCK_BYTES = 256 << 10
"""Bytes that are read and hashed at a time: so few that they are still in the cache of the core when they are hashed,
and that the same memory takes the next ones."""

UTF8_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that cannot be read; or, where a file is damaged from some position on, all that would have come there.

    Attributes:
        row: its number in the piece, from 0, rows that cannot be read included.
        byte_offset: where it begins in the (decompressed) file; None where that is not known.
        message: what is wrong.
        raw: its text, as far as there is any; long ones are cut.
    """

    row: int
    byte_offset: int | None
    message: str
    raw: str = ""


OnBadRow = Callable[[BadRow], None]
"""Is given each row that cannot be read, before rows that follow it come."""


class Reader(BaseModel, ABC):
    """A file format with its options; a value, so that it can travel and be part of a key.

    Attributes:
        columns: the columns to read, in this order; None is all.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]]
    revision: ClassVar[int] = 1
    """Raised when the same bytes and options begin to give other rows, so that older results are not taken for
    these."""

    columns: tuple[str, ...] | None = None

    @field_validator("columns")
    @classmethod
    def _each_once(cls, columns: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if columns is not None and not columns:
            raise ValueError("name one column at least, or leave it out for all")
        if columns is not None and len(set(columns)) < len(columns):
            raise ValueError(f"a column is named twice in {list(columns)}")
        return columns

    @functools.cached_property
    def digest(self) -> str:
        """Hash of format and options: the part of a shard's key that says how bytes become rows."""
        options = orjson.dumps(self.model_dump(mode="json"), option=orjson.OPT_SORT_KEYS)
        return combine("reader", self.format, self.revision, options)

    @property
    def rows_hold_names(self) -> bool:
        """Whether the name of a file is part of its rows, hence of their identity."""
        return False

    @property
    def rows_are_lines(self) -> bool:
        """Whether a row is a line, so that what is decompressed can be cut at any line end."""
        return False

    def fitted_to(self, files: Sequence[InputFile]) -> Reader:  # noqa: ARG002 - formats that look at names use it
        """The reader with what only the names of all files tell; here: the same."""
        return self

    def files_of_rows(self, files: Sequence[InputFile]) -> Sequence[InputFile]:
        """Those files that are cut and read; here: all. Others may belong to them."""
        return files

    def split(self, file: InputFile, max_bytes: int) -> list[Piece]:  # noqa: ARG002 - formats that split use it
        """Cut a file of more than `max_bytes` into pieces that can be read apart; here: one piece."""
        return [Piece(file)]

    def hash_piece(self, piece: Piece) -> str:
        """Hash of the bytes that the rows of a piece are made of (xxh3-128, 32 hex digits).

        Raises:
            ReadError: the file cannot be read.
        """
        digest = xxhash.xxh3_128()
        try:
            with piece.file.open() as stream:
                while block := stream.read(HASH_BLOCK_BYTES):
                    digest.update(block)
        except OSError as error:
            raise ReadError(f"{piece.file.path}: cannot be read ({error})") from error
        return digest.hexdigest()

    @abstractmethod
    def read(self, piece: Piece, on_bad_row: OnBadRow | None = None) -> Iterator[pa.RecordBatch]:
        """Read a piece in bounded memory.

        Args:
            piece: what to read.
            on_bad_row: is given rows that cannot be read, in place of an error; what is whole comes out.

        Raises:
            ReadError: the file cannot be read; or, where there is no `on_bad_row`, the bytes are not what the format
                asks for. The message gives file and position.
        """


def runs_of_units(file: InputFile, unit_bytes: Sequence[int], max_bytes: int) -> list[Piece]:
    """Cut a file into runs of its units (row groups, record batches) of at most `max_bytes`, at least one unit each."""
    pieces, first, size = [], 0, 0
    for number, unit in enumerate(unit_bytes):
        if size and size + unit > max_bytes:
            pieces.append(Piece(file, first, number, size))
            first, size = number, 0
        size += unit
    return [*pieces, Piece(file, first, len(unit_bytes), size)]


def require_columns(piece: Piece, columns: Sequence[str], names: Sequence[str]) -> None:
    """Check that a file with the columns `names` has each of `columns`, once.

    Raises:
        ReadError: it has not.
    """
    for column in columns:
        if names.count(column) != 1:
            found = "no column" if column not in names else "more than one column"
            raise ReadError(f"{piece.label}: {found} {column!r}; the file has {list(names)}; check columns=")
