"""Distributed preprocessing of corpora into memory-mapped Arrow shards, on Ray.

    import raydata_ext as rdx

    tokens = rdx.scan_dataset("corpus/**/*.jsonl").filter(long_enough).map(Tokenize, batched=True).collect()
    tokens[0]

The packages are floors of a house, each importing only floors below it: `table`, `fingerprint`; `formatting`,
`sources`, `store`; `plan`; `engine`; `dataset`; `job`, `cli`.
"""

from __future__ import annotations

from raydata_ext import errors, table
from raydata_ext.dataset import (
    Dataset,
    LazyDataset,
    concatenate_datasets,
    from_ray_dataset,
    interleave_datasets,
    load_dataset,
    load_from_disk,
    scan_dataset,
)
from raydata_ext.engine import Workers

__version__ = "0.1.0"

__all__ = [
    "Dataset",
    "LazyDataset",
    "Workers",
    "__version__",
    "concatenate_datasets",
    "errors",
    "from_ray_dataset",
    "interleave_datasets",
    "load_dataset",
    "load_from_disk",
    "scan_dataset",
    "table",
]
