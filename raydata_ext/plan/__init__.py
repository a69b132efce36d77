"""What is to be done, as values; nothing here reads rows.

`steps` are the steps, `workers` what some of them are to run on, `chain` a list of steps with the key of each result
that is kept, `input_shard` what a plan asks of the shards it starts from (`sources.FileShard`, `stored_shard` for a
result, and `table_shard` for rows of a table, which is a `shared_shard` where many shards select from it), `plan` the
two together. A `workspace` is a cache directory; `resolution` is a plan held against it:
which results exist, which are missing. `file_parts` are what it knows of how big compressed files are cut; `history`
keeps what earlier results were made of, and `explanation` says with it why one is missing.

The key of a result is a hash of the shard's content, of how bytes become rows, and of the steps up to there. It holds
no path, time, worker or rank, so a result is found again wherever it would be computed again.
"""

from __future__ import annotations

from raydata_ext.plan.chain import Chain, Position, StepGroup
from raydata_ext.plan.explanation import Explanation, explain
from raydata_ext.plan.file_parts import FilePart, parts_key, read_parts, remember_parts
from raydata_ext.plan.input_shard import InputShard
from raydata_ext.plan.plan import Plan
from raydata_ext.plan.resolution import Resolution, ShardState, find_results, quarantine_key, resolve
from raydata_ext.plan.shared_shard import SharedShard, let_go_of_tables
from raydata_ext.plan.steps import (
    Cache,
    Cast,
    Filter,
    Map,
    RemoveColumns,
    RenameColumns,
    RowNumbers,
    SelectColumns,
    Step,
    UserFunction,
)
from raydata_ext.plan.stored_shard import StoredShard
from raydata_ext.plan.table_shard import TableShard
from raydata_ext.plan.workers import Workers
from raydata_ext.plan.workspace import CacheDir, Workspace

__all__ = [
    "Cache",
    "CacheDir",
    "Cast",
    "Chain",
    "Explanation",
    "FilePart",
    "Filter",
    "InputShard",
    "Map",
    "Plan",
    "Position",
    "RemoveColumns",
    "RenameColumns",
    "Resolution",
    "RowNumbers",
    "SelectColumns",
    "ShardState",
    "SharedShard",
    "Step",
    "StepGroup",
    "StoredShard",
    "TableShard",
    "UserFunction",
    "Workers",
    "Workspace",
    "explain",
    "find_results",
    "let_go_of_tables",
    "parts_key",
    "quarantine_key",
    "read_parts",
    "remember_parts",
    "resolve",
]
