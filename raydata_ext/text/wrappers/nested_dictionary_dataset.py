"""Batches with parts, each of which a dataset of its own makes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import override

from raydata_ext.text.contract import children
from raydata_ext.text.contract.sizes import as_sizes
from raydata_ext.text.wrappers.named_datasets import NamedDatasets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from raydata_ext.text.contract.sizes import IntArray


class NestedDictionaryDataset(NamedDatasets):
    """A tree of datasets, row by row. A batch is the same tree of the batches that they make.

    An item is a flat dict of the items of all, under their way from the root: `net_input.src_tokens`, or for the first
    of a list `inputs.[0]`.

    Args:
        defn: dicts and lists of datasets, to any depth; None is left out. All are equally long, save those of length 0,
            which go with any other.
        sizes: sizes of the rows: an array, or a list of arrays if a row has several lengths. None if there is no need.

    Raises:
        ValueError: there are no datasets, one is none, or lengths differ.
    """

    def __init__(self, defn: Mapping[str, Any], sizes: Any = None) -> None:
        super().__init__(_flatten(defn))
        self._tree = defn
        for path, dataset in self.defn.items():
            if not (hasattr(dataset, "__getitem__") and hasattr(dataset, "__len__")):
                raise ValueError(f"NestedDictionaryDataset: {path} is a {type(dataset).__name__}, not a dataset")
        lengths = {path: len(dataset) for path, dataset in self.defn.items()}
        if not lengths or len(set(lengths.values()) - {0}) > 1:
            raise ValueError(
                f"NestedDictionaryDataset: datasets have these lengths: {lengths}; give one at least, all as long"
            )
        self._length = max(lengths.values())
        if sizes is not None:
            self.sizes = _columns(sizes, self)

    @override
    def __len__(self) -> int:
        return self._length

    @override
    def collate_arrays(self, samples: Sequence[Mapping[str, Any]]) -> Any:
        """Merge items to a tree of batches; an empty dict without items."""
        if not samples:
            return {}
        return _collate(self._tree, samples, "")


def _flatten(node: Any, path: str = "") -> dict[str, Any]:
    """Return the datasets of a tree under their paths."""
    if isinstance(node, Mapping):
        parts = [(f"{path}.{key}" if path else key, child) for key, child in node.items()]
    elif isinstance(node, list):
        parts = [(f"{path}.[{number}]", child) for number, child in enumerate(node)]
    else:
        return {path: node}
    return {
        key: dataset for part, child in parts if child is not None for key, dataset in _flatten(child, part).items()
    }


def _collate(node: Any, samples: Sequence[Mapping[str, Any]], path: str) -> Any:
    if isinstance(node, Mapping):
        return {
            key: _collate(child, samples, f"{path}.{key}" if path else key)
            for key, child in node.items()
            if child is not None
        }
    if isinstance(node, list):
        return [
            _collate(child, samples, f"{path}.[{number}]") for number, child in enumerate(node) if child is not None
        ]
    return children.collated(node, [sample[path] for sample in samples])


def _columns(sizes: Any, owner: NestedDictionaryDataset) -> IntArray:
    """Return sizes as one array: of shape (rows,), or of a column for each array of a list."""
    if not isinstance(sizes, list | tuple) or all(np.ndim(part) == 0 for part in sizes):
        return as_sizes(sizes, owner)
    columns = [as_sizes(part, owner) for part in sizes]
    return columns[0] if len(columns) == 1 else np.stack(columns, axis=1)
