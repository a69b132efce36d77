"""A `.bin` and an `.idx` file of tokens that several workers write in place, in fairseq's or Megatron's format."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from raydata_ext.dataset.export_task import published
from raydata_ext.errors import RaydataError, WriteError
from raydata_ext.sources.token_types import cast_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from raydata_ext.dataset.token_items import Items
    from raydata_ext.sources.index_layout import IndexLayout
    from raydata_ext.store.directory_files import DirectoryFiles


@dataclass(frozen=True, slots=True)
class Extent:
    """How much there is in some rows, and so where in the files those that follow begin.

    Attributes:
        rows: rows.
        items: items.
        tokens: tokens.
        documents: documents that begin there.
        low: the smallest token, or 0.
        high: the largest token, or 0.
    """

    rows: int = 0
    items: int = 0
    tokens: int = 0
    documents: int = 0
    low: int = 0
    high: int = 0

    def then(self, other: Extent) -> Extent:
        """Both together."""
        return Extent(
            self.rows + other.rows,
            self.items + other.items,
            self.tokens + other.tokens,
            self.documents + other.documents,
            min(self.low, other.low),
            max(self.high, other.high),
        )


@dataclass(frozen=True, eq=False)
class TokenFiles:
    """A pair of files.

    Attributes:
        directory: where they go.
        name: of both, without suffix.
        layout: of the index.
        tokens: how many there are.
        dtype: of the tokens, little-endian.
    """

    directory: DirectoryFiles
    name: str
    layout: IndexLayout
    tokens: int
    dtype: np.dtype[Any]

    @property
    def prefix(self) -> str:
        """Path of both, without suffix."""
        return f"{self.directory.path}/{self.name}"

    @contextmanager
    def made(self) -> Iterator[tuple[Path, Path]]:
        """Temporary files of tokens and index, in their full size; they get their names when the block is left.

        An index stands beside its own tokens or not at all: an older one goes first, and the new one comes last.
        """
        for name in self.directory.leftovers():
            if name.startswith((f".{self.name}.bin.", f".{self.name}.idx.")):
                self.directory.delete(name)
        with (
            self.directory.written(f"{self.name}.idx") as index_place,
            self.directory.written(f"{self.name}.bin") as tokens_place,
            published(Path(index_place)) as index,
            published(Path(tokens_place)) as tokens,
        ):
            for path, size in ((tokens, self.tokens * self.dtype.itemsize), (index, self.layout.num_bytes)):
                with path.open("xb") as file:
                    file.truncate(size)
            with _opened_at(index, 0) as file:
                file.write(self.layout.header(self.dtype))
            if self.layout.borders is not None:  # the last of them is the number of items
                with _opened_at(index, self.layout.documents + 8 * (self.layout.borders - 1)) as file:
                    file.write(np.array([self.layout.items], "<i8").tobytes())
            yield tokens, index
            self.directory.delete(f"{self.name}.idx")

    def write(self, parts: Iterable[Items], before: Extent, files: tuple[Path, Path]) -> int:
        """Write items in place, and return how many rows they are from. To do it again changes nothing.

        Args:
            parts: the items, in order.
            before: what is before them in these files.
            files: the files of `made`.

        Raises:
            ValueError: a token does not fit the type; the message gives row and token.
            WriteError: the disk is full or fails, or the files are not seen from here.
        """
        tokens_path, index_path = files
        rows, items, tokens, size = 0, before.items, before.tokens, self.dtype.itemsize
        with (
            _opened_at(tokens_path, tokens * size) as token_file,
            _opened_at(index_path, self.layout.sizes + 4 * items) as size_file,
            _opened_at(index_path, self.layout.pointers + 8 * items) as pointer_file,
            _opened_at(index_path, self.layout.documents + 8 * before.documents) as document_file,
        ):
            for part in parts:
                token_file.write(part.cast(self.dtype).tobytes())
                place = f"row {part.first_row} or one soon after it: number of tokens"
                size_file.write(cast_tokens(part.sizes, np.dtype("<i4"), place).tobytes())
                pointers = (tokens + np.cumsum(part.sizes) - part.sizes) * size
                pointer_file.write(pointers.astype("<i8").tobytes())
                if self.layout.borders is not None:
                    document_file.write((items + part.documents).astype("<i8").tobytes())
                rows += part.num_rows
                items += len(part.sizes)
                tokens += len(part.tokens)
        return rows


@contextmanager
def _opened_at(path: Path, offset: int) -> Iterator[IO[bytes]]:
    """A file that is there, open for writing from an offset on; it is on the disk when the block is left.

    It is opened for nothing but writing: clients of network file systems that have read a page may write all of it
    back, and with it what they have not seen of another client's.
    """
    try:
        with os.fdopen(os.open(path, os.O_WRONLY), "wb") as file:
            file.seek(offset)
            yield file
            file.flush()
            os.fsync(file.fileno())
    except RaydataError:
        raise
    except OSError as error:
        raise WriteError(
            error.errno,
            f"cannot be written ({error.strerror or error}); on several nodes, it must be on a file system that all of"
            " them see",
            str(path),
        ) from error
