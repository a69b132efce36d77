"""The faces that users know.

`LazyDataset` is a plan with the words of a data frame; `Dataset` is its result, rows in mapped files that read like a
list. `Dataset.map` is a lazy plan of one step, collected: there is one engine under both. `loading` makes them from
paths, `output` writes them as directories.
"""

from __future__ import annotations

from raydata_ext.dataset.dataset import Dataset, load_from_disk
from raydata_ext.dataset.lazy_dataset import LazyDataset
from raydata_ext.dataset.loading import load_dataset, parse_bytes, scan_dataset
from raydata_ext.dataset.output import Output, write_output

__all__ = [
    "Dataset",
    "LazyDataset",
    "Output",
    "load_dataset",
    "load_from_disk",
    "parse_bytes",
    "scan_dataset",
    "write_output",
]
