"""Copy rows that lie in many record batches to one contiguous batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from raydata_ext.table.combine import join_arrays
from raydata_ext.table.layouts import MAX_OFFSET, OffsetOverflowError
from raydata_ext.table.rows_without_columns import rows_without_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from raydata_ext.table.batch_index import BatchIndex
from raydata_ext.table.layouts import Layout


class Located(NamedTuple):
    """Where the rows of a result are, part by part.

    Args:
        parts: for each part that holds some of the rows: the part, the number of the batch of each of these rows, and
            the place of each in its batch; int64, both of shape (rows in the part,).
        ranks: where each row of all parts, one after another, stands in the result; int64, shape (n,). None where they
            stand in order.
    """

    parts: list[tuple[BatchIndex, NDArray[np.int64], NDArray[np.int64]]]
    ranks: NDArray[np.int64] | None

    @property
    def num_rows(self) -> int:
        """Number of rows in the result."""
        return sum(len(places) for _, _, places in self.parts)

    def in_order(self, values: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
        """Put values of rows, given part by part, in the order of the result."""
        if self.ranks is None:
            return values[0] if len(values) == 1 else np.concatenate(values)
        joined = np.concatenate(values)
        ordered = np.empty_like(joined)
        ordered[self.ranks] = joined
        return ordered

    def between(self, start: int, stop: int) -> Located:
        """Return the rows from start up to stop of the result."""
        ranks = np.arange(self.num_rows) if self.ranks is None else self.ranks
        wanted = (ranks >= start) & (ranks < stop)
        parts = []
        first = 0
        for part, batches, places in self.parts:
            mask = wanted[first : first + len(places)]
            first += len(places)
            parts.append((part, batches[mask], places[mask]))
        return Located(parts, ranks[wanted] - start)


def gather_table(
    schema: pa.Schema, layouts: Sequence[Layout | None], located: Located, max_offset: int = MAX_OFFSET
) -> pa.Table:
    """Copy rows to a table of one contiguous batch.

    Args:
        schema: the schema of the rows.
        layouts: the layout of each column; None for a type that is joined row by row instead.
        located: where the rows are.
        max_offset: most bytes of strings or items of lists in an array with 32-bit offsets. Where there are more, the
            table has several batches, and the same types.
    """
    try:
        return _gather_batch(schema, layouts, located, max_offset)
    except OffsetOverflowError:
        rows = located.num_rows
        if rows == 1:  # nothing to split: the row is in such an array already
            return _gather_batch(schema, layouts, located, MAX_OFFSET)
        halves = (located.between(0, rows // 2), located.between(rows // 2, rows))
        return pa.concat_tables([gather_table(schema, layouts, half, max_offset) for half in halves])


def _gather_batch(schema: pa.Schema, layouts: Sequence[Layout | None], located: Located, max_offset: int) -> pa.Table:
    places = located.in_order([places for _, _, places in located.parts])
    addresses = located.in_order([part.addresses(batches, layouts) for part, batches, _ in located.parts])
    if not layouts:  # a table of no columns still has rows
        return rows_without_columns(len(places), schema.metadata)
    columns = []
    first = 0
    for number, layout in enumerate(layouts):
        if layout is None:
            columns.append(_join_rows(number, located, max_offset))
        else:
            columns.append(layout.gather(addresses[:, first : first + layout.size], places, max_offset))
            first += layout.size
    return pa.Table.from_arrays(columns, schema=schema)


def _join_rows(number: int, located: Located, max_offset: int) -> pa.ChunkedArray:
    """Copy one column row by row: for types whose rows cannot be found by address alone."""
    rows = [
        part.batches[batch].column(number).slice(place, 1)
        for part, batches, places in located.parts
        for batch, place in zip(batches.tolist(), places.tolist(), strict=True)
    ]
    if located.ranks is not None:
        in_order = [rows[0]] * len(rows)
        for rank, row in zip(located.ranks.tolist(), rows, strict=True):
            in_order[rank] = row
        rows = in_order
    return pa.chunked_array(join_arrays(rows, max_offset=max_offset))
