"""Reading the `.idx` file beside a `.bin` file of tokens, of which no more is in memory than is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from raydata_ext.errors import DamagedInputError, ReadError
from raydata_ext.sources.index_layout import HEADER_BYTES, IndexLayout
from raydata_ext.sources.token_types import dtype_of_code

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from raydata_ext.sources.input_file import InputFile

_SIZES_AT_ONCE = 1 << 20


@dataclass(frozen=True, slots=True)
class TokenIndex:
    """What the begin of an index says; its sizes are read as they are needed.

    Attributes:
        file: the `.idx` file.
        dtype: type of the tokens.
        layout: how many items there are, and where what is said of them lies.
    """

    file: InputFile
    dtype: np.dtype[Any]
    layout: IndexLayout

    @classmethod
    def read(cls, file: InputFile, bin_bytes: int) -> TokenIndex:
        """Read the begin of an index, and check that it goes with a `.bin` file of so many bytes.

        Raises:
            DamagedInputError: it is no index, is cut off, or is that of another file.
        """
        with file.open() as stream:
            layout, code = IndexLayout.parse(stream.read(HEADER_BYTES), file.size, file.path)
            tokens = sum(int(sizes.sum(dtype=np.int64)) for sizes in _read_sizes(file, stream, layout))
        return cls(file, dtype_of_code(code, tokens, bin_bytes, file.path), layout)

    @property
    def items(self) -> int:
        """How many items there are."""
        return self.layout.items

    def sizes(self) -> Iterator[NDArray[np.int32]]:
        """Tokens of each item, about a million items at a time."""
        with self.file.open() as stream:
            yield from _read_sizes(self.file, stream, self.layout)

    def documents(self) -> NDArray[np.int64] | None:
        """The first item of each document and the number of items; None in fairseq's files."""
        return None if self.layout.borders is None else self._part(self.layout.documents, self.layout.borders, "<i8")

    def modes(self) -> NDArray[np.int8] | None:
        """A number for each item; None in files that are not multimodal."""
        return self._part(self.layout.modes, self.items, "<i1") if self.layout.modal else None

    def runs(self, start: int, end: int, max_items: int, max_bytes: int) -> Iterator[tuple[int, NDArray[np.int32]]]:
        """Cut items into runs that are small enough to be read at once.

        Args:
            start: first item.
            end: one past the last.
            max_items: most items of a run.
            max_bytes: most bytes of a run; a larger item is a run of its own.

        Yields:
            (where the run begins in the `.bin` file, tokens of each of its items).
        """
        first, offset = 0, 0
        for part in self.sizes():
            borders = offset + self.dtype.itemsize * np.concatenate([[0], np.cumsum(part, dtype=np.int64)])
            at, last = max(start - first, 0), min(end - first, len(part))
            while at < last:
                fitting = int(np.searchsorted(borders, borders[at] + max_bytes, "right")) - 1
                stop = min(last, at + max_items, max(at + 1, fitting))
                yield int(borders[at]), part[at:stop]
                at = stop
            first, offset = first + len(part), int(borders[-1])
            if first >= end:
                return

    def _part(self, offset: int, count: int, kind: str) -> NDArray[Any]:
        with self.file.open() as stream:
            stream.seek(offset)
            return np.frombuffer(read_exactly(self.file, stream, count * np.dtype(kind).itemsize), kind)


def _read_sizes(file: InputFile, stream: IO[bytes], layout: IndexLayout) -> Iterator[NDArray[np.int32]]:
    stream.seek(layout.sizes)
    for first in range(0, layout.items, _SIZES_AT_ONCE):
        count = min(_SIZES_AT_ONCE, layout.items - first)
        sizes = np.frombuffer(read_exactly(file, stream, count * np.dtype(np.int32).itemsize), "<i4")
        if sizes.min() < 0:
            number = int(sizes.argmin())
            raise DamagedInputError(f"{file.path}: item {first + number} has the size {sizes[number]}")
        yield sizes.astype(np.int32, copy=False)


def read_exactly(file: InputFile, stream: IO[bytes], num_bytes: int) -> bytes:
    """Read so many bytes.

    Raises:
        DamagedInputError: there are fewer.
        ReadError: the file system fails.
    """
    parts: list[bytes] = []
    missing = num_bytes
    try:
        while missing and (part := stream.read(missing)):
            parts.append(part)
            missing -= len(part)
    except OSError as error:
        raise ReadError(f"{file.path}: cannot be read ({error})") from error
    if missing:
        raise DamagedInputError(
            f"{file.path}: {missing} bytes are missing; the file is shorter than when it was listed"
        )
    return b"".join(parts)
