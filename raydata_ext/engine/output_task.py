"""Writing one file of a job's output from cached shards."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from raydata_ext.engine.file_task import FileTask
from raydata_ext.store import ShardFile
from raydata_ext.table.ipc_writer import ShardWriter

if TYPE_CHECKING:
    from raydata_ext.engine.worker import Worker


@dataclass(frozen=True)
class OutputFile:
    """What a worker reports of an output file.

    Attributes:
        file: name, size, rows and checksum.
        tokens: what `count_tokens` counts.
        seconds: time it took.
    """

    file: ShardFile
    tokens: int
    seconds: float


@dataclass(frozen=True, eq=False)
class OutputTask(FileTask[OutputFile]):
    """One output file; it is synced to the disk before it appears in its directory."""

    def run(self, worker: Worker) -> OutputFile:  # noqa: ARG002 - every task is given its worker
        """Write the file; the old one of that name, if any, stays until the new one is complete."""
        started = time.perf_counter()
        tokens = 0
        with self.directory.written(self.name) as path, ShardWriter(path, self.schema, sync=True) as writer:
            for batch in self.batches():
                writer.write(batch)
                tokens += count_tokens(batch)
            summary = writer.finish()
        file = ShardFile(self.name, summary.num_bytes, summary.rows, summary.checksum)
        return OutputFile(file, tokens, time.perf_counter() - started)


def count_tokens(batch: pa.RecordBatch) -> int:
    """Elements of the column `input_ids`, or else of all columns that are lists of integers."""
    lists = [field.name for field in batch.schema if _is_integer_list(field.type)]
    names = ["input_ids"] if "input_ids" in lists else lists
    return sum(pc.sum(pc.list_value_length(batch.column(name))).as_py() or 0 for name in names)


def _is_integer_list(kind: pa.DataType) -> bool:
    return bool((pa.types.is_list(kind) or pa.types.is_large_list(kind)) and pa.types.is_integer(kind.value_type))
