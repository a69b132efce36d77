"""Arrow tables on disk that behave like memory.

The way of a row: it is written with others to an Arrow IPC file, the file is mapped, an index finds the row in it, and
it is handed out as it lies there, copied to a batch with others, or as a dict.

Files
    `ipc_writer` writes record batches to a file that appears only when it is complete; `batch_frames` cuts them to
    size. `evolving_writer` does so while the schema still grows. `ipc_reader` maps a file, and refuses one that is not
    whole. `verify` checks a file to the last byte.
Schemas
    `cast` casts to another schema, to any depth. `unify` finds the schema that holds the rows of several, with
    `shown_types` where a column that is of another type somewhere shows no value there. `metadata` and `features`
    translate to and from the description of columns that Hugging Face `datasets` keeps in files.
Tables
    `table` is what all tables can do. `in_memory` and `memory_mapped` are tables in memory and in a mapped file;
    `concatenation` joins tables below one another and, with `row_blocks`, side by side.
Operations
    `operations` is the list of ways to make a table out of another, `arguments` what users may pass to them; `replay`
    keeps those that lead from a file to a table; `combine` joins chunks. `rows_without_columns` is the one odd case.
Rows
    `row_index` finds rows by number over all files, `batch_index` in one of them, and `ascending_search` is how.
    `gather` copies rows to one batch, with `layouts`, which says how each type (a `layout`) lies in memory, and
    `address_space`, which reads it there; `take` copies rows of one batch.
"""

from __future__ import annotations

from raydata_ext.table.cast import cast_array, cast_batch, cast_table
from raydata_ext.table.combine import combine_chunks
from raydata_ext.table.concatenation import ConcatenationTable, concat_tables, list_table_cache_files
from raydata_ext.table.evolving_writer import EvolvingShardWriter
from raydata_ext.table.in_memory import InMemoryTable
from raydata_ext.table.ipc_reader import iter_ipc_batches, open_ipc_file, read_ipc_schema
from raydata_ext.table.ipc_writer import FileSummary, ShardWriter, parse_temporary_name, temporary_name
from raydata_ext.table.memory_mapped import MemoryMappedTable
from raydata_ext.table.metadata import (
    features_from_schema,
    read_fingerprint,
    schema_from_features,
    with_huggingface_metadata,
)
from raydata_ext.table.row_index import RowIndex
from raydata_ext.table.table import Table, TableBlock
from raydata_ext.table.take import take_rows
from raydata_ext.table.unify import unify_schemas, unify_types
from raydata_ext.table.verify import checksum_file, verify_ipc_file

__all__ = [
    "ConcatenationTable",
    "EvolvingShardWriter",
    "FileSummary",
    "InMemoryTable",
    "MemoryMappedTable",
    "RowIndex",
    "ShardWriter",
    "Table",
    "TableBlock",
    "cast_array",
    "cast_batch",
    "cast_table",
    "checksum_file",
    "combine_chunks",
    "concat_tables",
    "features_from_schema",
    "iter_ipc_batches",
    "list_table_cache_files",
    "open_ipc_file",
    "parse_temporary_name",
    "read_fingerprint",
    "read_ipc_schema",
    "schema_from_features",
    "take_rows",
    "temporary_name",
    "unify_schemas",
    "unify_types",
    "verify_ipc_file",
    "with_huggingface_metadata",
]
