"""`MMapIndexedDatasetBuilder`: writes what `MMapIndexedDataset` reads."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import override

from raydata_ext.sources.token_types import cast_tokens
from raydata_ext.text.contract.tensors import to_array
from raydata_ext.text.indexed.mmap_index import MMapIndex, read_mmap_index, write_mmap_index
from raydata_ext.text.indexed.token_file import data_path, index_path
from raydata_ext.text.indexed.token_file_builder import TokenFileBuilder

if TYPE_CHECKING:
    import os

    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from raydata_ext.sources.index_layout import Layout


class MMapIndexedDatasetBuilder(TokenFileBuilder):
    """Writes items to a `.bin` file and their sizes to an `.idx` file.

    Args:
        out_file: see `TokenFileBuilder`, as for the files' life.
        dtype: see there.
        layout: "fairseq", or "megatron" for an index with documents.

    Raises:
        ValueError: an unknown type or layout.
    """

    def __init__(
        self, out_file: str | os.PathLike[str], dtype: DTypeLike = np.int64, *, layout: Layout = "fairseq"
    ) -> None:
        if layout not in {"fairseq", "megatron"}:
            raise ValueError(f'layout is {layout!r}; it must be "fairseq" or "megatron"')
        super().__init__(out_file, dtype)
        self._sizes: list[NDArray[np.int32]] = []
        self._items = 0
        self._documents: list[int] | None = [0] if layout == "megatron" else None

    def add_item(self, tensor: Any) -> None:
        """Add one item.

        Args:
            tensor: array or tensor of tokens, of any shape; it is stored flat.

        Raises:
            ValueError: a token does not fit the type; the message gives item and token.
        """
        tokens = np.asarray(to_array(tensor)).reshape(-1)
        self.add_items(tokens, [len(tokens)])

    def add_items(self, tokens: NDArray[Any], sizes: ArrayLike) -> None:
        """Add several items at once.

        Args:
            tokens: those of all items, one after the other, shape (tokens,).
            sizes: tokens of each item, integers of shape (items,).

        Raises:
            ValueError: a token does not fit the type, or the sizes do not add up to the tokens.
        """
        counts = np.asarray(sizes)
        place = f"{self._path}: items {self._items} to {self._items + len(counts) - 1}"
        if counts.sum() != len(tokens):
            raise ValueError(f"{place}: the sizes add up to {counts.sum()}, but there are {len(tokens)} tokens")
        self._file.write(cast_tokens(tokens, self._dtype, place).tobytes())
        self._sizes.append(cast_tokens(counts, np.dtype(np.int32), f"{place}: size"))
        self._items += len(counts)

    def end_document(self) -> None:
        """Let a document end after the items so far; in Megatron's layout."""
        if self._documents is None:
            raise ValueError(f'{self._path}: the index has no documents; make the builder with layout="megatron"')
        self._documents.append(self._items)

    def merge_file_(self, another_file: str | os.PathLike[str]) -> None:
        """Add all items of another dataset.

        Args:
            another_file: its path, without `.bin` and `.idx`.

        Raises:
            ValueError: its tokens are of another type.
        """
        other = str(another_file)
        data = Path(data_path(other))
        index = read_mmap_index(index_path(other), data.stat().st_size)
        self._require_same_type(other, index.dtype)
        with data.open("rb") as source:
            shutil.copyfileobj(source, self._file)
        if self._documents is not None:
            borders = [len(index.sizes)] if index.document_indices is None else index.document_indices[1:].tolist()
            self._documents += [self._items + border for border in borders]
        self._sizes.append(index.sizes)
        self._items += len(index.sizes)

    @override
    def _write_index(self, path: Path) -> None:
        sizes = np.concatenate([np.empty(0, np.int32), *self._sizes])
        documents = None if self._documents is None else np.array(self._documents, np.int64)
        write_mmap_index(path, MMapIndex(self._dtype, sizes, documents))
