"""`MMapIndexedDataset`: tokens in a `.bin` file, mapped, with an `.idx` file beside it."""

from __future__ import annotations

import operator
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

from typing_extensions import override

from raydata_ext.text.contract.sizes import position
from raydata_ext.text.indexed.mmap_index import read_mmap_index
from raydata_ext.text.indexed.token_file import TokenFileDataset, data_path, exists, index_path, map_tokens

if TYPE_CHECKING:
    import os

    import numpy as np
    from numpy.typing import NDArray


class MMapIndexedDataset(TokenFileDataset):
    """A dataset that fairseq or Megatron wrote, or `MMapIndexedDatasetBuilder`.

    Args:
        path: of the files, without `.bin` and `.idx`.

    Attributes:
        sizes: tokens of each item, int32 of shape (items,).
        document_indices: the first item of each document and the number of items, int64; None in fairseq's files.
        sequence_modes: a number for each item, int8; None in files that are not multimodal.
        layout: "fairseq" or "megatron".

    Raises:
        FileNotFoundError: a file is missing.
        DamagedInputError: the files are damaged, or do not belong together.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        name = str(path)
        index = read_mmap_index(index_path(name), Path(data_path(name)).stat().st_size)
        super().__init__(name, map_tokens(data_path(name), index.dtype), index.sizes)
        self.document_indices = index.document_indices
        self.sequence_modes = index.modes
        self.layout = index.layout

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the tokens in the file."""
        return self.tokens.dtype

    @overload
    def __getitem__(self, index: SupportsIndex) -> NDArray[Any]: ...
    @overload
    def __getitem__(self, index: slice) -> list[NDArray[Any]]: ...
    @override
    def __getitem__(self, index: SupportsIndex | slice) -> Any:
        """The tokens of an item, int64 of shape (tokens,), or of a slice of items."""
        if isinstance(index, slice):
            return self.__getitems__(range(*index.indices(len(self))))
        return super().__getitem__(index)

    def get(self, index: SupportsIndex, offset: int = 0, length: int | None = None) -> NDArray[Any]:
        """A part of an item.

        Args:
            index: the item.
            offset: its first token that is wanted.
            length: how many tokens; None is all that follow.

        Returns:
            int64 of shape (length,).

        Raises:
            IndexError: there are no such tokens.
        """
        number = position(index, self)
        size = int(self.offsets[number + 1] - self.offsets[number])
        count = size - offset if length is None else operator.index(length)
        if not (0 <= offset <= size and 0 <= count <= size - offset):
            raise IndexError(f"{self.path}: item {number} has {size} tokens, not {length} from {offset} on")
        start = int(self.offsets[number]) + offset
        return self._copied(self.tokens[start : start + count])

    @staticmethod
    def exists(path: str | os.PathLike[str]) -> bool:
        """Whether both files are there."""
        return exists(str(path))
