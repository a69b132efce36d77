"""Running a plan.

`run_plan` runs a plan in parts. In each of them `run_part` asks the store what is there and has an `Engine` compute the
rest, group of steps by group, on the `inline_executor` or on a `ray_pool`; both give `shard_task`s to a `worker`, each
of which is a `shard_pass`, or two. A `shard_result` says what became of a shard, `report` what happened in all,
`progress` what is happening, which a `progress_display` shows with its `pace`.

A row's path: the shard's reader gives record batches, which are brought under one schema (`uniform_rows`); `trail`
numbers their rows, which makes them `chunk`s; each step's operator (`map_operators`, `filter_operators`,
`column_operators`) turns a chunk into a chunk; the last one is written to a `kept_file`. A shard is read once and
written once, however many steps there are, and only its receipt comes back, with what functions have `counted`.

A big compressed file is decompressed by `decode_task`s, one a part, whose lines a `part_task` makes a shard of while
the next part is decompressed; `decoding` keeps the books of that, and `task_queue` says who does what next. Files of an
output are written by `output_task`s, which are `file_task`s as those of exports are.

`error_policy` says what happens to bad rows. Where they are set aside, `bad_rows` finds those that a step fails on,
`poison` and `watch` those that kill the process, and `quarantine` keeps the records. What is said of a user's exception
is made by `failure_text`.
"""

from __future__ import annotations

from raydata_ext.engine.counted import Counted
from raydata_ext.engine.engine import Engine, ExecutorName
from raydata_ext.engine.error_policy import ErrorPolicy, OnError
from raydata_ext.engine.file_task import FileTask, ReadingTask, batches_of
from raydata_ext.engine.output_task import OutputFile, OutputTask
from raydata_ext.engine.paused_collection import paused_collection
from raydata_ext.engine.preview import preview
from raydata_ext.engine.progress import Named, RunProgress, Silent
from raydata_ext.engine.progress_display import progress_for
from raydata_ext.engine.run_plan import run_all
from raydata_ext.engine.shard_result import ShardResult
from raydata_ext.engine.worker import Program, Worker
from raydata_ext.plan import Workers

__all__ = [
    "Counted",
    "Engine",
    "ErrorPolicy",
    "ExecutorName",
    "FileTask",
    "Named",
    "OnError",
    "OutputFile",
    "OutputTask",
    "Program",
    "ReadingTask",
    "RunProgress",
    "ShardResult",
    "Silent",
    "Worker",
    "Workers",
    "batches_of",
    "paused_collection",
    "preview",
    "progress_for",
    "run_all",
]
