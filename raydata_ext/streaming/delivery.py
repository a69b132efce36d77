"""One pass over a stream, as its user sees it: rows or batches in a format, and the place of the last one delivered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from raydata_ext.errors import StateError
from raydata_ext.formatting import array_to_list, get_formatter
from raydata_ext.streaming.cursor_ahead import CursorAhead
from raydata_ext.streaming.nodes.gather import TableRows, open_rows
from raydata_ext.streaming.row_reader import RowReader
from raydata_ext.streaming.rows import BATCH_ROWS
from raydata_ext.streaming.torch_side import loader_process

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from raydata_ext.formatting import Formatter
    from raydata_ext.streaming.nodes.base import Node, State


class Delivery:
    """One pass over a stream, in this loader process.

    Args:
        node: the root of the stream, as it is in epoch 0 and undivided.
        epoch: the epoch.
        format_options: keyword arguments of `get_formatter`; `name` None is plain Python.
        ahead: whether rows may be copied on a thread. That is of use to who works on whole batches, with functions
            that let other threads run, and in a process that does not itself work ahead of another.

    Attributes:
        worker: which loader process this is, and of how many; None in any other process.
        ended: whether all rows were delivered.
    """

    def __init__(self, node: Node, epoch: int, format_options: Mapping[str, Any], *, ahead: bool) -> None:
        process = loader_process()
        self.epoch = epoch
        self.worker = None if process is None else [process.index, process.count]
        self.ended = False
        part = node.at_epoch(epoch) if epoch else node
        if process is not None:
            part = part.split(process.count, process.index).shift_seeds(process.index)
        rows = open_rows(part, None)
        if ahead and process is None and isinstance(rows, TableRows):
            rows = CursorAhead(rows)
        self._rows: RowReader | None = RowReader(rows)
        self._stand: State = None  # the position, where it is not that of the rows
        self._format = dict(format_options)

    def state(self) -> State:
        """The position after the last row that was delivered."""
        return self._rows.state() if self._rows is not None and self._stand is None else self._stand

    def load(self, state: State, worker: list[int] | None) -> None:
        """Go to a saved position.

        Args:
            state: the position.
            worker: the `worker` of the pass that it is of.

        Raises:
            StateError: it is of another loader process.
        """
        if worker != self.worker:
            raise StateError(
                f"the state was saved by {_named(worker)} and is loaded by {_named(self.worker)}; use as many loader"
                " processes as there were then, and load each one's own state"
            )
        assert self._rows is not None, "a pass is loaded before it is read"
        self._rows.load(state)

    def rows(self) -> Iterator[Any]:
        """Row after row; a row counts as delivered as soon as it is handed out."""
        is_plain = self._format["name"] in (None, "python") and self._format["columns"] is None
        formatter = get_formatter(**self._format)
        try:
            while (reader := self._rows) is not None and reader.available():
                batch = reader.peek().slice(0, BATCH_ROWS)  # so many rows are Python objects at a time
                for row in _plain_rows(batch) if is_plain else _formatted_rows(batch, formatter):
                    reader.start += 1
                    yield row
            self.ended = True
        finally:
            self._release()

    def batches(self, batch_size: int, *, drop_last_batch: bool) -> Iterator[Any]:
        """Batches of rows; only the last may be shorter."""
        formatter = get_formatter(**self._format)
        try:
            while (batch := self._next_batch(formatter, batch_size, drop_last_batch=drop_last_batch)) is not None:
                yield batch
            self.ended = True
        finally:
            self._release()

    def _next_batch(self, formatter: Formatter, batch_size: int, *, drop_last_batch: bool) -> Any | None:
        """A batch, or None at the end; rows that were read for one that failed are not delivered."""
        assert self._rows is not None, "a pass is read once"
        self._stand = self._rows.state()
        rows, batch = self._rows.read(batch_size), None
        if rows is not None and (rows.num_rows == batch_size or not drop_last_batch):
            batch = formatter.batch(pa.Table.from_batches([rows]) if self._format["name"] == "arrow" else rows)
        self._stand = None
        return batch

    def _release(self) -> None:
        """Let go of files, threads and callables, whether the rows ended or their user left; the position stays."""
        self._stand = self.state()
        self._rows = None


def _plain_rows(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    names = batch.schema.names
    if not names:
        return [{} for _ in range(batch.num_rows)]
    columns = zip(*map(array_to_list, batch.columns), strict=True)
    return [dict(zip(names, values, strict=False)) for values in columns]  # a strict zip costs half as much again


def _formatted_rows(batch: pa.RecordBatch, formatter: Formatter) -> Iterator[Any]:
    for number in range(batch.num_rows):
        yield formatter.row(batch, number)


def _named(worker: list[int] | None) -> str:
    return "the main process" if worker is None else f"loader process {worker[0]} of {worker[1]}"
