"""Items that lie one after the other in a file of tokens, mapped: what all indexed formats are when they are open."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from raydata_ext.text.contract.fairseq_dataset import FairseqDataset
from raydata_ext.text.contract.sizes import position

if TYPE_CHECKING:
    from numpy.typing import NDArray


class TokenFileDataset(FairseqDataset):
    """Items of a file of tokens; item i is elements `offsets[i]` to `offsets[i + 1]`.

    Args:
        path: the path by which the dataset is opened again in another process, without suffix.
        tokens: all elements, shape (elements,).
        sizes: elements of each item, shape (items,).

    Attributes:
        path: as above.
        tokens: as above.
        offsets: int64 of shape (items + 1,).
    """

    def __init__(self, path: str, tokens: NDArray[Any], sizes: NDArray[np.integer[Any]]) -> None:
        self.path = path
        self.tokens = tokens
        self.offsets = np.zeros(len(sizes) + 1, np.int64)
        np.cumsum(sizes, dtype=np.int64, out=self.offsets[1:])
        self.sizes = sizes

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: SupportsIndex) -> NDArray[Any]:
        """The tokens of an item: int64 of shape (tokens,), a copy; floats keep their type."""
        number = position(index, self)
        return self._copied(self.tokens[self.offsets[number] : self.offsets[number + 1]])

    def _copied(self, tokens: NDArray[Any]) -> NDArray[Any]:
        return np.array(tokens, np.int64 if tokens.dtype.kind in "iu" else tokens.dtype)

    def __reduce__(self) -> tuple[Any, ...]:
        """Travels as its path, with the kind of batches that it makes."""
        return type(self), self._arguments(), {"_return_tensors": self._return_tensors}

    def _arguments(self) -> tuple[Any, ...]:
        """Return what opens the dataset again."""
        return (self.path,)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.path!r}, {len(self)} items, {len(self.tokens)} tokens)"


def map_tokens(path: str, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Map a file of tokens, read-only; nothing is read before items are asked for."""
    if Path(path).stat().st_size == 0:
        return np.empty(0, dtype)
    return np.memmap(path, dtype=dtype, mode="r")


def index_path(path: str) -> str:
    """The index of a dataset."""
    return f"{path}.idx"


def data_path(path: str) -> str:
    """The tokens of a dataset."""
    return f"{path}.bin"


def exists(path: str) -> bool:
    """Whether both files are there."""
    return Path(index_path(path)).is_file() and Path(data_path(path)).is_file()
