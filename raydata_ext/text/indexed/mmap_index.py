"""The `.idx` file beside a memory-mapped `.bin`, in memory: how long each item is, and of what type.

How it is laid out is told by `sources.index_layout`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from raydata_ext.sources.index_layout import IndexLayout, Layout
from raydata_ext.sources.input_file import InputFile
from raydata_ext.sources.token_index import TokenIndex
from raydata_ext.store.atomic_files import write_file_atomically

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray


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
        FileNotFoundError: there is none.
        DamagedInputError: it is no index, is cut off, or does not belong to a `.bin` file of that size.
    """
    file = InputFile(str(path), Path(path).name, Path(path).stat().st_size, version="")
    index = TokenIndex.read(file, bin_bytes)
    sizes = np.concatenate([np.empty(0, np.int32), *index.sizes()])
    return MMapIndex(index.dtype, sizes, index.documents(), index.modes())


def write_mmap_index(path: str | os.PathLike[str], index: MMapIndex) -> None:
    """Write an index, which appears when it is complete."""
    borders = None if index.document_indices is None else len(index.document_indices)
    sizes = index.sizes.astype("<i4")
    pointers = np.zeros(len(sizes), dtype="<i8")
    np.cumsum(sizes[:-1], dtype=np.int64, out=pointers[1:])
    pointers *= index.dtype.itemsize
    parts = [IndexLayout(len(sizes), borders).header(index.dtype), sizes.tobytes(), pointers.tobytes()]
    if index.document_indices is not None:
        parts.append(index.document_indices.astype("<i8").tobytes())
    if index.modes is not None:
        parts.append(index.modes.astype(np.int8).tobytes())
    write_file_atomically(path, b"".join(parts))
