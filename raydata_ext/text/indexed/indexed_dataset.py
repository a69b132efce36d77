"""The older format of fairseq, which came from Lua torch: `IndexedDataset` and its builder.

The `.idx` file:

    magic        8 bytes   TNTIDX, two zero bytes
    version      u64       1
    code         u64       type of the tokens
    element      u64       bytes of a token
    n            u64       items
    s            u64       dimensions of all items
    dim_offsets  i64[n+1]  where the dimensions of each item begin
    data_offsets i64[n+1]  where the tokens of each item begin
    sizes        i64[s]    the dimensions

Tokens are stored counted from 1, as Lua counts.

Source: fairseq `indexed_dataset.py`.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import override

from raydata_ext.errors import DamagedInputError
from raydata_ext.sources.token_types import DTYPES, cast_tokens, code
from raydata_ext.store.atomic_files import write_file_atomically
from raydata_ext.text.contract.tensors import to_array
from raydata_ext.text.indexed.token_file import TokenFileDataset, data_path, exists, index_path, map_tokens
from raydata_ext.text.indexed.token_file_builder import TokenFileBuilder

if TYPE_CHECKING:
    import os

    from numpy.typing import DTypeLike, NDArray

MAGIC = b"TNTIDX\x00\x00"
_HEADER = struct.Struct("<8s5Q")
_VERSION = 1


class IndexedDataset(TokenFileDataset):
    """A dataset in the older format. The file is mapped, so there is nothing to prefetch.

    Args:
        path: of the files, without `.bin` and `.idx`.
        fix_lua_indexing: whether tokens are given counted from 0.

    Raises:
        FileNotFoundError: a file is missing.
        DamagedInputError: the files are damaged, or do not belong together.
    """

    def __init__(self, path: str | os.PathLike[str], fix_lua_indexing: bool = False) -> None:
        name = str(path)
        dtype, sizes = _read_index(index_path(name))
        elements, num_bytes = int(sizes.sum()), Path(data_path(name)).stat().st_size
        if num_bytes != elements * dtype.itemsize:
            raise DamagedInputError(
                f"{index_path(name)} has {elements} elements of {dtype}, which are {elements * dtype.itemsize} bytes;"
                f" {data_path(name)} has {num_bytes}. Write both anew"
            )
        super().__init__(name, map_tokens(data_path(name), dtype), sizes)
        self.fix_lua_indexing = fix_lua_indexing

    @override
    def _copied(self, tokens: NDArray[Any]) -> NDArray[Any]:
        item = super()._copied(tokens)
        return item - 1 if self.fix_lua_indexing else item

    @override
    def _arguments(self) -> tuple[Any, ...]:
        return self.path, self.fix_lua_indexing

    @staticmethod
    def exists(path: str | os.PathLike[str]) -> bool:
        """Whether both files are there."""
        return exists(str(path))


IndexedCachedDataset = IndexedDataset
"""fairseq's other reader, which had to be told what to read into memory; here the pages of the map are that memory."""


class IndexedDatasetBuilder(TokenFileBuilder):
    """Writes the older format.

    Args:
        out_file: see `TokenFileBuilder`, as for the files' life.
        dtype: see there.
    """

    def __init__(self, out_file: str | os.PathLike[str], dtype: DTypeLike = np.int32) -> None:
        super().__init__(out_file, dtype)
        self._shapes: list[tuple[int, ...]] = []

    def add_item(self, tensor: Any) -> None:
        """Add one item, an array or tensor of tokens counted from 0.

        Raises:
            ValueError: a token, plus one, does not fit the type.
        """
        tokens = np.asarray(to_array(tensor))
        place = f"{self._path}: item {len(self._shapes)}, counted from 1"
        wide = tokens.astype(np.int64) if tokens.dtype.kind in "iu" else tokens
        self._file.write(cast_tokens(wide + 1, self._dtype, place).tobytes())
        self._shapes.append(tokens.shape)

    def merge_file_(self, another_file: str | os.PathLike[str]) -> None:
        """Add all items of another dataset, given by its path without suffix.

        Raises:
            ValueError: its tokens are of another type.
        """
        other = IndexedDataset(another_file)
        self._require_same_type(other.path, other.tokens.dtype)
        self._file.write(other.tokens.data)
        self._shapes += [(int(size),) for size in np.diff(other.offsets)]

    @override
    def _write_index(self, path: Path) -> None:
        dimensions = [len(shape) for shape in self._shapes]
        elements = [int(np.prod(shape)) for shape in self._shapes]
        sizes = [size for shape in self._shapes for size in shape]
        header = _HEADER.pack(MAGIC, _VERSION, code(self._dtype), self._dtype.itemsize, len(self._shapes), len(sizes))
        longs = [np.cumsum([0, *dimensions]), np.cumsum([0, *elements]), np.array(sizes)]
        write_file_atomically(path, header + b"".join(part.astype("<i8").tobytes() for part in longs))


def _read_index(path: str) -> tuple[np.dtype[Any], NDArray[np.int64]]:
    """The type of the tokens and how many each item has."""
    data = Path(path).read_bytes()
    if len(data) < _HEADER.size or not data.startswith(MAGIC):
        raise DamagedInputError(f"{path}: it does not begin with {MAGIC!r}, so it is no index of this format")
    _, version, type_code, element, items, dimensions = _HEADER.unpack_from(data)
    expected = _HEADER.size + 8 * (2 * (items + 1) + dimensions)
    if version != _VERSION or len(data) != expected:
        raise DamagedInputError(
            f"{path}: version {version} of {len(data)} bytes; an index of {items} items has version {_VERSION} and"
            f" {expected} bytes. It is cut off or damaged"
        )
    if type_code not in DTYPES:
        raise DamagedInputError(f"{path}: unknown type code {type_code}; the codes are {sorted(DTYPES)}")
    dtype = DTYPES[type_code]
    dtype = np.dtype(np.float32) if dtype.kind == "f" and element == np.dtype(np.float32).itemsize else dtype
    offsets = np.frombuffer(data, "<i8", items + 1, _HEADER.size + 8 * (items + 1)).astype(np.int64)
    if element != dtype.itemsize or offsets[0] != 0 or np.any(offsets[1:] < offsets[:-1]):
        raise DamagedInputError(
            f"{path}: {dtype} in {element} bytes, or places of items that do not ascend from 0. It is damaged"
        )
    return dtype, offsets[1:] - offsets[:-1]
