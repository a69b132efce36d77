"""A corpus in several directories, of which each epoch uses one."""

from __future__ import annotations

import random
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from raydata_ext.text.contract.base_wrapper_dataset import BaseWrapperDataset
from raydata_ext.text.indexed.loading import load_indexed_dataset

if TYPE_CHECKING:
    import os

    from raydata_ext.text.dictionary import Dictionary


class ShardedDataset(BaseWrapperDataset):
    """One of `path/shard0/split`, `path/shard1/split`, and so on, drawn by seed and epoch.

    The training split is sharded if there is a `shard0`. Any other is `path/split`, or `path/split/split`.

    Args:
        dictionary: encodes raw text.
        dataset_impl: the format, see `load_indexed_dataset`; None is what the files are.
        path: the directory.
        split: name of the files, without suffix.
        epoch: the epoch.
        name: name of the corpus; None is that of the directory.
        combine: see `load_indexed_dataset`.
        seed: of the draw.

    Raises:
        FileNotFoundError: there is no such dataset.
    """

    def __init__(
        self,
        dictionary: Dictionary,
        dataset_impl: str | None,
        path: str | os.PathLike[str],
        split: str,
        epoch: int,
        name: str | None = None,
        combine: bool = False,
        seed: int = 0,
    ) -> None:
        directory = Path(path)
        self.name = directory.name if name is None else name
        num_shards = next(number for number in count() if not (directory / f"shard{number}").exists())
        if num_shards and split == "train":
            # Python's generator, since fairseq draws with it.
            shard = random.Random(seed ^ epoch).randint(0, num_shards - 1)  # noqa: S311 - no secrets
            split_path = directory / f"shard{shard}" / split
        else:
            split_path = directory / split
            split_path = split_path / split if split_path.is_dir() else split_path
        dataset = load_indexed_dataset(split_path, dictionary, dataset_impl, combine=combine)
        if dataset is None:
            raise FileNotFoundError(f"there is no dataset {split!r} at {split_path}")
        super().__init__(dataset)
