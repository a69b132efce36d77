"""Where results live: cache entries and their receipts, dataset directories, garbage collection."""

from __future__ import annotations

from raydata_ext.store.dataset_directory import (
    DatasetDirectory,
    data_file_name,
    holds_dataset,
    prepare_dataset_directory,
    read_dataset_directory,
    verify_dataset_directory,
    write_dataset_directory,
)
from raydata_ext.store.huggingface_files import FormatState
from raydata_ext.store.manifest import Manifest, ShardFile
from raydata_ext.store.receipt import Receipt
from raydata_ext.store.store import Store

__all__ = [
    "DatasetDirectory",
    "FormatState",
    "Manifest",
    "Receipt",
    "ShardFile",
    "Store",
    "data_file_name",
    "holds_dataset",
    "prepare_dataset_directory",
    "read_dataset_directory",
    "verify_dataset_directory",
    "write_dataset_directory",
]
