"""The `.idx` file beside a memory-mapped `.bin`: how long each item is, and of what type.

    magic    9 bytes  MMIDIDX, two zero bytes
    version  u64      1
    code     u8       type of the tokens
    n        u64      items
    d        u64      document borders; in Megatron's files only
    sizes    i32[n]   tokens of each item
    pointers i64[n]   first byte of each item in the .bin file
    documents i64[d]  number of the first item of each document, then n; in Megatron's files only
    modes    i8[n]    in multimodal files of Megatron only

All little-endian, and not aligned. Items lie without gaps, so the pointers follow from the sizes; those in the file are
not used, since files exist in which they overflowed.

Source: fairseq `indexed_dataset.py`; Megatron-LM `core/datasets/indexed_dataset.py`. Both write version 1, so they are
told apart by the size of the file.
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from raydata_ext.errors import CorruptFileError
from raydata_ext.store.atomic_files import write_file_atomically
from raydata_ext.text.indexed.token_types import code, dtype_of_code

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

Layout = Literal["fairseq", "megatron"]

MAGIC = b"MMIDIDX\x00\x00"
_HEADER = struct.Struct("<9sQBQ")
_MEGATRON_HEADER = struct.Struct("<9sQBQQ")
_VERSION = 1


@dataclass(frozen=True, eq=False)
class MMapIndex:
    """What an index says.

    Attributes:
        dtype: type of the tokens.
        sizes: tokens of each item, int32 of shape (items,).
        document_indices: the first item of each document, and the number of items, int64 of shape (documents + 1,);
            None in fairseq's files.
        modes: a number for each item, int8 of shape (items,); None in files that are not multimodal.
    """

    dtype: np.dtype[Any]
    sizes: NDArray[np.int32]
    document_indices: NDArray[np.int64] | None = None
    modes: NDArray[np.int8] | None = None

    @property
    def layout(self) -> Layout:
        """Whose header it has."""
        return "fairseq" if self.document_indices is None else "megatron"


def read_mmap_index(path: str | os.PathLike[str], bin_bytes: int) -> MMapIndex:
    """Read an index.

    Args:
        path: the `.idx` file.
        bin_bytes: size of the `.bin` file.

    Raises:
        CorruptFileError: it is no index, is cut off, or does not belong to a `.bin` file of that size.
    """
    name = str(path)
    data = _mapped(path)
    if len(data) < _HEADER.size or data[: len(MAGIC)] != MAGIC:
        raise CorruptFileError(f"{name}: it does not begin with {MAGIC!r}, so it is no index of a mapped dataset")
    _, version, type_code, items = _HEADER.unpack_from(data)
    if version != _VERSION:
        raise CorruptFileError(f"{name}: version {version} of the format is not known, only {_VERSION}")
    start, documents, modal = _sections(data, items, name)
    sizes = np.frombuffer(data, "<i4", items, start).astype(np.int32)
    start += 12 * items
    borders = None if documents is None else np.frombuffer(data, "<i8", documents, start).astype(np.int64)
    modes = np.frombuffer(data, np.int8, items, start + 8 * (documents or 0)).copy() if modal else None
    if items and sizes.min() < 0:
        raise CorruptFileError(f"{name}: item {int(sizes.argmin())} has the size {sizes.min()}")
    return MMapIndex(dtype_of_code(type_code, int(sizes.sum(dtype=np.int64)), bin_bytes, name), sizes, borders, modes)


def write_mmap_index(path: str | os.PathLike[str], index: MMapIndex) -> None:
    """Write an index, which appears when it is complete."""
    items, sizes = len(index.sizes), index.sizes.astype("<i4")
    pointers = np.zeros(items, dtype="<i8")
    np.cumsum(sizes[:-1], dtype=np.int64, out=pointers[1:])
    pointers *= index.dtype.itemsize
    if index.document_indices is None:
        parts = [_HEADER.pack(MAGIC, _VERSION, code(index.dtype), items)]
    else:
        parts = [_MEGATRON_HEADER.pack(MAGIC, _VERSION, code(index.dtype), items, len(index.document_indices))]
    parts += [sizes.tobytes(), pointers.tobytes()]
    if index.document_indices is not None:
        parts.append(index.document_indices.astype("<i8").tobytes())
    if index.modes is not None:
        parts.append(index.modes.astype(np.int8).tobytes())
    write_file_atomically(path, b"".join(parts))


def _mapped(path: str | os.PathLike[str]) -> mmap.mmap | bytes:
    with Path(path).open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if Path(path).stat().st_size else b""


def _sections(data: mmap.mmap | bytes, items: int, name: str) -> tuple[int, int | None, bool]:
    """Where sizes begin, how many document borders there are (None in fairseq's files), and whether modes follow."""
    if len(data) == _HEADER.size + 12 * items:
        return _HEADER.size, None, False
    if len(data) >= _MEGATRON_HEADER.size:
        documents = int(_MEGATRON_HEADER.unpack_from(data)[-1])
        expected = _MEGATRON_HEADER.size + 12 * items + 8 * documents
        if len(data) in {expected, expected + items}:
            return _MEGATRON_HEADER.size, documents, len(data) > expected
    raise CorruptFileError(
        f"{name}: an index of {items} items has {_HEADER.size + 12 * items} bytes in fairseq's format, and more in"
        f" Megatron's; this one has {len(data)}. It is cut off or damaged"
    )
