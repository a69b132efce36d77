"""Record batches on their way through a shard's steps, each row with the number it had where it was read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from raydata_ext.table.cast import cast_batch
from raydata_ext.table.unify import unify_schemas


@dataclass(frozen=True, slots=True)
class Chunk:
    """A record batch and where its rows come from.

    Attributes:
        batch: n rows.
        origins: int64 [n], the number of each row among the rows read from the shard. After a step that turns a batch into
            another number of rows it is the first row of the batch that a row was made from.
    """

    batch: pa.RecordBatch
    origins: npt.NDArray[np.int64]

    @property
    def num_rows(self) -> int:
        """Rows."""
        return len(self.origins)

    def slice(self, start: int, length: int) -> Chunk:
        """Rows [start, start + length), without copying."""
        return Chunk(self.batch.slice(start, length), self.origins[start : start + length])


def rebatched(chunks: Iterable[Chunk], rows: int | None, *, drop_last: bool = False) -> Iterator[Chunk]:
    """Cut a stream of chunks anew into chunks of `rows` rows; the last may be shorter. Empty chunks pass as they are.

    Args:
        chunks: in order.
        rows: rows of a chunk; None puts all into one.
        drop_last: leave out a last chunk that is shorter than `rows`.
    """
    waiting: list[Chunk] = []
    count = 0
    for chunk in chunks:
        if chunk.num_rows == 0:
            yield chunk
            continue
        start = 0
        while rows is not None and count + chunk.num_rows - start >= rows:
            taken = rows - count
            yield _joined([*waiting, chunk.slice(start, taken)])
            waiting, count, start = [], 0, start + taken
        if start < chunk.num_rows:
            waiting.append(chunk.slice(start, chunk.num_rows - start))
            count += chunk.num_rows - start
    if waiting and not (drop_last and rows is not None):
        yield _joined(waiting)


def _joined(chunks: list[Chunk]) -> Chunk:
    if len(chunks) == 1:
        return chunks[0]
    schema = unify_schemas(chunk.batch.schema for chunk in chunks)
    batches = [cast_batch(chunk.batch, schema, add_missing=True) for chunk in chunks]
    return Chunk(pa.concat_batches(batches), np.concatenate([chunk.origins for chunk in chunks]))
