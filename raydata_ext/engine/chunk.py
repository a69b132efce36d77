"""Record batches on their way through a shard's steps, each row with the number it had where it was read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from raydata_ext.errors import SchemaError
from raydata_ext.formatting import batch_from_table
from raydata_ext.table.cast import cast_batch
from raydata_ext.table.unify import unify_schemas

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Origins = npt.NDArray[np.int64]
"""Numbers of rows among the rows read from a shard, ascending; one for each row of a chunk."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A record batch and where its rows come from.

    Attributes:
        batch: n rows.
        origins: int64 [n], what each row was made from. After a step that turns a batch into another number of rows it
            is the first row of the batch.
    """

    batch: pa.RecordBatch
    origins: Origins

    @property
    def num_rows(self) -> int:
        """Rows."""
        return len(self.origins)

    def slice(self, start: int, length: int) -> Chunk:
        """Rows [start, start + length), without copying."""
        return Chunk(self.batch.slice(start, length), self.origins[start : start + length])


def split(chunks: Iterable[Chunk], rows: int) -> Iterator[Chunk]:
    """Cut chunks of more than `rows` rows; nothing is joined or copied."""
    for chunk in chunks:
        if chunk.num_rows <= rows:
            yield chunk
            continue
        for start in range(0, chunk.num_rows, rows):
            yield chunk.slice(start, rows)


def rebatched(chunks: Iterable[Chunk], rows: int | None, place: Callable[[Origins], str]) -> Iterator[Chunk]:
    """Cut a stream of chunks anew into chunks of `rows` rows; only the last may be shorter.

    Chunks without rows pass as they are: they tell a schema.

    Args:
        chunks: in order.
        rows: rows of a chunk; None puts all into one.
        place: says where the rows of some origins come from.

    Raises:
        SchemaError: chunks that are to be joined have columns of types that do not go together.
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
            yield _joined([*waiting, chunk.slice(start, taken)], place)
            waiting, count, start = [], 0, start + taken
        if start < chunk.num_rows:
            waiting.append(chunk.slice(start, chunk.num_rows - start))
            count += chunk.num_rows - start
    if waiting:
        yield _joined(waiting, place)


def _joined(chunks: list[Chunk], place: Callable[[Origins], str]) -> Chunk:
    if len(chunks) == 1:
        return chunks[0]
    origins = np.concatenate([chunk.origins for chunk in chunks])
    try:
        schema = unify_schemas(chunk.batch.schema for chunk in chunks)
        batches = [cast_batch(chunk.batch, schema, add_missing=True) for chunk in chunks]
    except SchemaError as error:
        raise SchemaError(f"{place(origins)}, joined to one batch: {error}") from error
    # Not `pa.concat_batches`: text of more than 2 GB takes 64-bit offsets here, and an exception there.
    batch = batch_from_table(pa.Table.from_batches(batches, schema)).replace_schema_metadata(schema.metadata)
    return Chunk(batch, origins)
