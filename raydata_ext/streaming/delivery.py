"""One pass over a stream, as its user sees it: rows or batches in a format, and the place of the last one delivered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from raydata_ext.formatting import array_to_list, get_formatter
from raydata_ext.streaming.row_reader import RowReader

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from raydata_ext.formatting import Formatter
    from raydata_ext.streaming.nodes.base import Cursor, State


class Delivery:
    """Hands out what a cursor gives.

    Args:
        cursor: gives record batches.
        format_options: keyword arguments of `get_formatter`; `name` None is plain Python.

    Attributes:
        ended: whether all rows were delivered.
    """

    def __init__(self, cursor: Cursor, format_options: Mapping[str, Any]) -> None:
        self._rows = RowReader(cursor)
        self._format = dict(format_options)
        self.ended = False

    def state(self) -> State:
        """The position after the last row that was delivered."""
        return self._rows.state()

    def load(self, state: State) -> None:
        """Go to a saved position."""
        self._rows.load(state)

    def rows(self) -> Iterator[Any]:
        """Row after row; a row counts as delivered as soon as it is handed out."""
        is_plain = self._format["name"] in (None, "python") and self._format["columns"] is None
        formatter = get_formatter(**self._format)
        reader = self._rows
        while reader.available():
            batch = reader.peek()
            for row in _plain_rows(batch) if is_plain else _formatted_rows(batch, formatter):
                reader.start += 1
                yield row
        self.ended = True

    def batches(self, batch_size: int, *, drop_last_batch: bool) -> Iterator[Any]:
        """Batches of rows; only the last may be shorter."""
        formatter = get_formatter(**self._format)
        while (batch := self._rows.read(batch_size)) is not None:
            if batch.num_rows < batch_size and drop_last_batch:
                break
            data = pa.Table.from_batches([batch]) if self._format["name"] == "arrow" else batch
            yield formatter.batch(data)
        self.ended = True


def _plain_rows(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    names = batch.schema.names
    if not names:
        return [{} for _ in range(batch.num_rows)]
    columns = zip(*map(array_to_list, batch.columns), strict=True)
    return [dict(zip(names, values, strict=False)) for values in columns]  # a strict zip costs half as much again


def _formatted_rows(batch: pa.RecordBatch, formatter: Formatter) -> Iterator[Any]:
    for number in range(batch.num_rows):
        yield formatter.row(batch, number)
