"""The first rows of a plan, straight through its steps: nothing is stored, nothing beyond them is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from raydata_ext.engine.chunk import Chunk, split
from raydata_ext.engine.operators import make_operator
from raydata_ext.engine.trail import Trail
from raydata_ext.plan import Plan, Position
from raydata_ext.table.cast import cast_batch
from raydata_ext.table.unify import unify_schemas

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from raydata_ext.engine.worker import Worker


def preview(plan: Plan, worker: Worker, rows: int) -> pa.Table:
    """Compute the first rows of a plan in this process.

    Args:
        plan: what is to be done; its shards pass the steps as one stream, so steps that see row numbers see the right
            ones. A batched step sees batches that run over the borders of shards, which a real run cuts there.
        worker: holds the callables.
        rows: how many rows are wanted, at least 1.

    Returns:
        At most so many rows.
    """
    trail = Trail()
    pieces = (piece for shard in plan.shards for piece in shard.read())
    chunks: Iterable[Chunk] = split(trail.follow(pieces), rows)
    for number in range(len(worker.program.chain.steps)):
        chunks = make_operator(number, worker, trail, Position(0, None)).follow(chunks)
    batches = list(_first(chunks, rows))
    filled = [batch for batch in batches if batch.num_rows] or batches[-1:]
    if not filled:
        return pa.table({})
    schema = unify_schemas(batch.schema for batch in filled)
    return pa.Table.from_batches([cast_batch(batch, schema, add_missing=True) for batch in filled], schema)


def _first(chunks: Iterable[Chunk], rows: int) -> Iterator[pa.RecordBatch]:
    for chunk in chunks:
        yield chunk.batch.slice(0, rows)
        rows -= min(rows, chunk.num_rows)
        if rows == 0:
            return
