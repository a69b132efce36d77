"""The `.idx` file beside a `.bin` file of tokens: the type of the tokens, and how many each item has.

    magic     9 bytes  MMIDIDX, two zero bytes
    version   u64      1
    code      u8       type of the tokens
    items     u64
    borders   u64      in Megatron's files only
    sizes     i32[items]    tokens of each item
    pointers  i64[items]    first byte of each item in the .bin file
    borders   i64[borders]  in Megatron's files only: the first item of each document, then the number of items
    modes     i8[items]     in multimodal files of Megatron only

All is little-endian. Items lie without gaps, so the pointers follow from the sizes; those in the file are not used,
since files exist in which they overflowed. Both write version 1, so they are told apart by the size of the file.

Source: fairseq `indexed_dataset.py`; Megatron-LM `core/datasets/indexed_dataset.py`.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from raydata_ext.errors import DamagedInputError, ReadError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from raydata_ext.sources.input_file import InputFile

_MAGIC = b"MMIDIDX\x00\x00"
_HEADER = struct.Struct("<9sQBQ")
_MEGATRON_HEADER = struct.Struct("<9sQBQQ")
_TYPES = ("uint8", "int8", "int16", "int32", "int64", "float64", "float64", "uint16", "uint32", "uint64")
"""By code, from 1. Code 7 is double in fairseq and single precision in Megatron; the size of the `.bin` file tells."""

_FLOAT32_CODE = 7
_SIZES_AT_ONCE = 1 << 20


@dataclass(frozen=True, slots=True)
class TokenIndex:
    """What the begin of an index says; its sizes are read as they are needed.

    Attributes:
        file: the `.idx` file.
        items: how many there are.
        dtype: type of the tokens.
        header_bytes: where the sizes begin.
    """

    file: InputFile
    items: int
    dtype: np.dtype[Any]
    header_bytes: int

    @classmethod
    def read(cls, file: InputFile, bin_bytes: int) -> TokenIndex:
        """Read the begin of an index, and check that it goes with a `.bin` file of so many bytes.

        Raises:
            DamagedInputError: it is no index, is cut off, or is that of another file.
        """
        with file.open() as stream:
            head = stream.read(_MEGATRON_HEADER.size)
            if len(head) < _HEADER.size or not head.startswith(_MAGIC):
                raise DamagedInputError(f"{file.path}: it does not begin with {_MAGIC!r}, so it is no index of tokens")
            _, version, code, items = _HEADER.unpack_from(head)
            if version != 1 or not 1 <= code <= len(_TYPES):
                raise DamagedInputError(f"{file.path}: version {version} and type code {code} are not known")
            start = _header_bytes(file, head, items)
            tokens = sum(int(sizes.sum(dtype=np.int64)) for sizes in _read_sizes(file, stream, start, items))
        dtype = np.dtype(_TYPES[code - 1]).newbyteorder("<")
        if code == _FLOAT32_CODE and tokens * np.dtype(np.float32).itemsize == bin_bytes:
            dtype = np.dtype("<f4")
        if tokens * dtype.itemsize != bin_bytes:
            raise DamagedInputError(
                f"{file.path}: it speaks of {tokens} tokens of {dtype}, {tokens * dtype.itemsize} bytes, but the .bin"
                f" file beside it has {bin_bytes}; one of them is cut off, or belongs to another"
            )
        return cls(file, items, dtype, start)

    def sizes(self) -> Iterator[NDArray[np.int32]]:
        """Tokens of each item, about a million items at a time."""
        with self.file.open() as stream:
            yield from _read_sizes(self.file, stream, self.header_bytes, self.items)

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


def _header_bytes(file: InputFile, head: bytes, items: int) -> int:
    per_item = np.dtype(np.int32).itemsize + np.dtype(np.int64).itemsize
    if file.size == _HEADER.size + per_item * items:
        return _HEADER.size
    if len(head) == _MEGATRON_HEADER.size:
        borders = _MEGATRON_HEADER.unpack(head)[-1]
        expected = _MEGATRON_HEADER.size + per_item * items + np.dtype(np.int64).itemsize * borders
        if file.size in {expected, expected + items}:
            return _MEGATRON_HEADER.size
    raise DamagedInputError(
        f"{file.path}: an index of {items} items has {_HEADER.size + per_item * items} bytes in fairseq's format, and"
        f" more in Megatron's; this one has {file.size}: it is cut off or damaged"
    )


def _read_sizes(file: InputFile, stream: IO[bytes], start: int, items: int) -> Iterator[NDArray[np.int32]]:
    stream.seek(start)
    for first in range(0, items, _SIZES_AT_ONCE):
        count = min(_SIZES_AT_ONCE, items - first)
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
