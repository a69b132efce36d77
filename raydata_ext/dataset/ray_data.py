"""Ray Data both ways. Rows go from file to worker and from worker to file; the driver sees paths and receipts.

This module imports `ray.data`, which takes as long as all else together, so it is imported where it is needed.
"""

from __future__ import annotations

import functools
import os
import secrets
import socket
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import ray.data
from ray.data.block import BlockAccessor, BlockMetadata
from ray.data.datasource import Datasink, Datasource, ReadTask
from typing_extensions import override

from raydata_ext.dataset.base import Parts
from raydata_ext.dataset.dataset import Dataset
from raydata_ext.dataset.lineage import Lineage
from raydata_ext.dataset.shards import KnownFile, joined
from raydata_ext.errors import SchemaError
from raydata_ext.fingerprint import combine
from raydata_ext.formatting import array_from_values
from raydata_ext.plan import Workspace
from raydata_ext.store import Receipt, Store
from raydata_ext.table import EvolvingShardWriter, InMemoryTable, with_huggingface_metadata

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from raydata_ext.plan import CacheDir, InputShard

_BLOCK_BYTES = 32 << 20
_FILE_BYTES = 128 << 20


def read_shards(shards: Sequence[InputShard], schema: pa.Schema) -> Any:
    """A `ray.data.Dataset` of the rows of shards, in their order.

    Args:
        shards: each is read by one task, where it runs.
        schema: of all of them.
    """
    return ray.data.read_datasource(ShardDatasource(shards, schema), override_num_blocks=len(shards))


def write_blocks(ray_dataset: Any, cache_dir: CacheDir) -> Dataset:
    """Run a `ray.data.Dataset` and keep its rows, in their order, in the cache; see `from_ray_dataset`."""
    workspace = Workspace.of(cache_dir)
    sink = ShardDatasink(workspace.store)
    options = ray_dataset.context.execution_options
    before, options.preserve_order = options.preserve_order, True
    try:
        ray_dataset.write_datasink(sink)
    finally:
        options.preserve_order = before
    receipts = [receipt for receipt in sink.receipts if receipt.rows]
    if not receipts:
        return _without_rows(ray_dataset, workspace)
    tables = [workspace.store.table(receipt) for receipt in receipts]
    known = [KnownFile(receipt.checksum, home=receipt.host) for receipt in receipts]
    files = {table.path: file for table, file in zip(tables, known, strict=True)}
    lineage = Lineage(combine("dataset", *(receipt.content_key for receipt in receipts)))
    return Dataset(Parts(joined(tables), lineage, workspace, files))


class ShardDatasource(Datasource):
    """Shards as a source of Ray Data: one read task a shard, which maps its file.

    Args:
        shards: the rows.
        schema: of all of them.
    """

    def __init__(self, shards: Sequence[InputShard], schema: pa.Schema) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # Ray has no types here
        self._shards = shards
        self._schema = schema

    @override
    def estimate_inmemory_data_size(self) -> int:
        return sum(shard.num_bytes for shard in self._shards)

    @override
    def get_read_tasks(
        self, parallelism: int, per_task_row_limit: int | None = None, data_context: Any = None
    ) -> list[ReadTask]:
        return [
            ReadTask(
                functools.partial(_blocks, shard, self._schema),
                BlockMetadata(
                    num_rows=shard.num_rows,
                    size_bytes=shard.num_bytes,
                    input_files=tuple(shard.sources),
                    exec_stats=None,
                ),
                schema=self._schema,
                per_task_row_limit=per_task_row_limit,
            )
            for shard in self._shards
        ]


class ShardDatasink(Datasink[tuple[int, Receipt]]):
    """Writes what each task is given as a cached result, whose key is the hash of its content.

    Args:
        store: where results go.

    Attributes:
        receipts: of the results in the order of the rows, when all are written.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.receipts: list[Receipt] = []

    @override
    def write(self, blocks: Iterable[Any], ctx: Any) -> tuple[int, Receipt]:
        started = time.perf_counter()
        staged = self._store.writing_path(secrets.token_hex(16))  # the key is known when all is written
        empty = pa.schema([])
        with EvolvingShardWriter(staged, metadata=with_huggingface_metadata) as writer:
            for block in blocks:
                table = _without_tensors(block)
                for batch in table.to_batches():
                    writer.write(batch)
                empty = table.schema
            summary = writer.finish(schema_if_empty=empty)
        receipt = Receipt(
            key=combine("block", summary.checksum),
            rows=summary.rows,
            num_bytes=summary.num_bytes,
            checksum=summary.checksum,
            schema=summary.schema,
            rows_in=summary.rows,
            seconds=time.perf_counter() - started,
            worker=f"{socket.gethostname()}:{os.getpid()}",
        )
        Path(staged).replace(self._store.writing_path(receipt.key))
        return ctx.task_idx, self._store.publish(receipt)

    @override
    def on_write_complete(self, write_result: Any) -> None:
        self.receipts = [receipt for _, receipt in sorted(write_result.write_returns, key=lambda done: done[0])]

    @property
    def min_rows_per_write(self) -> None:
        """As many as there are in `min_bytes_per_write`."""
        return

    @property
    def min_bytes_per_write(self) -> int:
        """Small blocks go together into one file."""
        return _FILE_BYTES


def _blocks(shard: InputShard, schema: pa.Schema) -> Iterator[pa.Table]:
    """The rows of a shard as tables of some size: views of the mapped file."""
    batches: list[pa.RecordBatch] = []
    size = 0
    for _, batch in shard.read():
        batches.append(batch)
        size += batch.nbytes
        if size >= _BLOCK_BYTES:
            yield pa.Table.from_batches(batches)
            batches, size = [], 0
    if batches or not shard.num_rows:
        yield pa.Table.from_batches(batches, None if batches else schema)


def _without_tensors(block: Any) -> pa.Table:
    """A block as an Arrow table, tensors as lists.

    Raises:
        SchemaError: a column holds Python objects.
    """
    accessor = BlockAccessor.for_block(block)
    table = accessor.to_arrow()
    for position, field in enumerate(table.schema):
        if not type(field.type).__module__.startswith("ray."):
            continue
        if "PythonObject" in type(field.type).__name__:
            raise SchemaError(
                f"column {field.name!r} holds Python objects, which would be stored as pickles; convert it"
            )
        values = accessor.to_numpy([field.name])[field.name]
        table = table.set_column(position, field.name, array_from_values(values, name=field.name))
    return table


def _without_rows(ray_dataset: Any, workspace: Workspace) -> Dataset:
    schema = getattr(ray_dataset.schema(), "base_schema", None)
    table = (schema if isinstance(schema, pa.Schema) else pa.schema([])).empty_table()
    return Dataset(Parts(InMemoryTable(table), Lineage(combine("dataset")), workspace))
