"""The first rows of a plan, straight through its steps: nothing is stored, nothing beyond them is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from raydata_ext.engine.chunk import Chunk, rebatched
from raydata_ext.engine.operators import make_operator
from raydata_ext.engine.step_operator import ANY_SIZE
from raydata_ext.engine.trail import Trail
from raydata_ext.engine.worker import Worker
from raydata_ext.plan import Plan, Position


def preview(plan: Plan, worker: Worker, rows: int) -> pa.Table:
    """Compute the first rows of a plan in this process.

    Args:
        plan: what is to be done; its shards pass the steps as one stream, so steps that see row numbers see the right ones. A
            batched step sees batches that run over the borders of shards, which a real run cuts there.
        worker: holds the callables.
        rows: how many rows are wanted.

    Returns:
        At most so many rows.
    """
    trail, chain = Trail(), worker.program.chain
    chunks: Iterable[Chunk] = trail.follow(piece for shard in plan.shards for piece in shard.read())
    for number, step in enumerate(chain.steps):
        operator = make_operator(step, number, worker.callable, trail, Position(0, 0))
        if operator.batch_rows != ANY_SIZE:
            chunks = rebatched(chunks, operator.batch_rows, drop_last=operator.drop_last)
        chunks = map(operator, chunks)
    batches = list(_first(chunks, rows))
    if not batches:
        return pa.table({})
    filled = [batch for batch in batches if batch.num_rows] or batches[-1:]
    return pa.concat_tables([pa.table(batch) for batch in filled], promote_options="permissive")


def _first(chunks: Iterable[Chunk], rows: int) -> Iterator[pa.RecordBatch]:
    for chunk in chunks:
        yield chunk.batch.slice(0, rows)
        rows -= min(rows, chunk.num_rows)
        if rows == 0:
            return
