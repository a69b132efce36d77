"""Distributed preprocessing of corpora into memory-mapped Arrow shards, and an exactly resumable feed, on Ray.

    import raydata_ext as rdx

    tokens = rdx.scan_dataset("corpus/**/*.jsonl").filter(long_enough).map(Tokenize, batched=True).collect()
    tokens[0]
    stream = tokens.to_iterable_dataset().shuffle(seed=1, buffer_size=10_000)

The packages are floors of a house, each importing only floors below it: `table`, `fingerprint`, `remote`; `formatting`,
`sources`, `store`; `plan`; `engine`; `streaming`; `dataset`; `feed`, `text`; `job`, `cli`.
"""

from __future__ import annotations

from raydata_ext import errors, table, text
from raydata_ext.dataset import (
    Dataset,
    DatasetDict,
    LazyDataset,
    concatenate_datasets,
    from_ray_dataset,
    interleave_datasets,
    load_dataset,
    load_from_disk,
    scan_dataset,
    split_dataset_by_node,
)
from raydata_ext.engine import Counted, Workers
from raydata_ext.feed import StreamingCoordinator, TrainerFeed
from raydata_ext.plan import Workspace
from raydata_ext.streaming import IterableDataset

__version__ = "0.1.0"

__all__ = [
    "Counted",
    "Dataset",
    "DatasetDict",
    "IterableDataset",
    "LazyDataset",
    "StreamingCoordinator",
    "TrainerFeed",
    "Workers",
    "Workspace",
    "__version__",
    "concatenate_datasets",
    "errors",
    "from_ray_dataset",
    "interleave_datasets",
    "load_dataset",
    "load_from_disk",
    "scan_dataset",
    "split_dataset_by_node",
    "table",
    "text",
]
