"""Record batches on their way through a shard's steps, each row with the number it had where it was read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from raydata_ext.errors import SchemaError
from raydata_ext.formatting import batch_from_table
from raydata_ext.table.cast import cast_batch
from raydata_ext.table.shown_types import shown_type, unify_shown
from raydata_ext.table.take import take_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

Origins = npt.NDArray[np.int64]
"""Numbers of rows among the rows read from a shard, ascending; one for each row of a chunk."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A record batch and where its rows come from.

    Attributes:
        batch: n rows.
        origins: int64 [n], what each row was made from. After a step that turns a batch into another number of rows it
            is the first row of the batch.
        numbers: int64 [n], position of each row among those that the step is given; only where the step is watched.
    """

    batch: pa.RecordBatch
    origins: Origins
    numbers: Origins | None = None

    @property
    def num_rows(self) -> int:
        """Rows."""
        return len(self.origins)

    def slice(self, start: int, length: int) -> Chunk:
        """Rows [start, start + length), without copying."""
        numbers = None if self.numbers is None else self.numbers[start : start + length]
        return Chunk(self.batch.slice(start, length), self.origins[start : start + length], numbers)

    def without(self, positions: Collection[int]) -> Chunk:
        """The other rows."""
        keep = np.ones(self.num_rows, dtype=np.bool_)
        keep[list(positions)] = False
        numbers = None if self.numbers is None else self.numbers[keep]
        return Chunk(take_rows(self.batch, np.flatnonzero(keep)), self.origins[keep], numbers)


class ChunkStream:
    """A stream of chunks, in front of which chunks can be put back.

    What cuts a stream puts back what it does not hand out yet, so that rows that are put back by whoever was given a
    chunk come before all that follows.

    Args:
        chunks: in order.
    """

    def __init__(self, chunks: Iterable[Chunk]) -> None:
        self._front: list[Chunk] = []
        self._rest = iter(chunks)

    @classmethod
    def of(cls, chunks: Iterable[Chunk]) -> ChunkStream:
        """The stream itself where it is one."""
        return chunks if isinstance(chunks, cls) else cls(chunks)

    def put_back(self, chunk: Chunk) -> None:
        """Make this the next chunk."""
        self._front.append(chunk)

    def __iter__(self) -> ChunkStream:
        return self

    def __next__(self) -> Chunk:
        return self._front.pop() if self._front else next(self._rest)


def split(chunks: Iterable[Chunk], rows: int) -> Iterator[Chunk]:
    """Cut chunks of more than `rows` rows; nothing is joined or copied."""
    stream = ChunkStream.of(chunks)
    for chunk in stream:
        if chunk.num_rows <= rows:
            yield chunk
        else:
            stream.put_back(chunk.slice(rows, chunk.num_rows - rows))
            yield chunk.slice(0, rows)


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
    stream = ChunkStream.of(chunks)
    waiting: list[Chunk] = []
    count = 0
    while True:
        chunk = next(stream, None)
        if chunk is None:
            if not waiting:
                return
        elif chunk.num_rows == 0:
            yield chunk
            continue
        else:
            missing = chunk.num_rows if rows is None else rows - count
            if chunk.num_rows > missing:
                stream.put_back(chunk.slice(missing, chunk.num_rows - missing))
                chunk = chunk.slice(0, missing)
            waiting.append(chunk)
            count += chunk.num_rows
            if count != rows:
                continue
        full, waiting, count = waiting, [], 0
        yield _joined(full, place)


def _joined(chunks: list[Chunk], place: Callable[[Origins], str]) -> Chunk:
    if len(chunks) == 1:
        return chunks[0]
    origins = np.concatenate([chunk.origins for chunk in chunks])
    try:
        schema = unify_shown([(chunk.batch.schema, partial(_shown_in, chunk.batch)) for chunk in chunks])
        batches = [cast_batch(chunk.batch, schema, add_missing=True) for chunk in chunks]
    except SchemaError as error:
        raise SchemaError(f"{place(origins)}, joined to one batch: {error}") from error
    # Not `pa.concat_batches`: text of more than 2 GB takes 64-bit offsets here, and an exception there.
    batch = batch_from_table(pa.Table.from_batches(batches, schema)).replace_schema_metadata(schema.metadata)
    parts = [chunk.numbers for chunk in chunks if chunk.numbers is not None]
    return Chunk(batch, origins, np.concatenate(parts) if parts else None)


def _shown_in(batch: pa.RecordBatch, name: str) -> pa.DataType:
    """The type that the values of a column show."""
    return shown_type(batch.column(name))
