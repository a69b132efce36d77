"""Where results live: cache entries and their receipts, dataset directories, garbage collection."""

from __future__ import annotations

from raydata_ext.remote import Retries
from raydata_ext.store.dataset_directory import (
    DatasetDirectory,
    data_file_name,
    prepare_dataset_directory,
    read_dataset_directory,
    verify_dataset_directory,
    write_dataset_directory,
)
from raydata_ext.store.directory_files import open_directory
from raydata_ext.store.directory_tables import ShardTable, open_tables
from raydata_ext.store.garbage_collection import Garbage, GarbageReport, collect_garbage
from raydata_ext.store.huggingface_files import FormatState
from raydata_ext.store.manifest import Manifest, ShardFile
from raydata_ext.store.node_cache import NodeCache
from raydata_ext.store.place_check import fetched_file, is_file, verify_place
from raydata_ext.store.receipt import Receipt
from raydata_ext.store.store import Store
from raydata_ext.store.verification import BadEntry, VerificationReport, verify

__all__ = [
    "BadEntry",
    "DatasetDirectory",
    "FormatState",
    "Garbage",
    "GarbageReport",
    "Manifest",
    "NodeCache",
    "Receipt",
    "Retries",
    "ShardFile",
    "ShardTable",
    "Store",
    "VerificationReport",
    "collect_garbage",
    "data_file_name",
    "fetched_file",
    "is_file",
    "open_directory",
    "open_tables",
    "prepare_dataset_directory",
    "read_dataset_directory",
    "verify",
    "verify_dataset_directory",
    "verify_place",
    "write_dataset_directory",
]
