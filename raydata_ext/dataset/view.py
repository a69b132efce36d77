"""How rows are handed out: the columns that are shown, in what order of rows, and as what."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from raydata_ext.dataset.shards import size_of
from raydata_ext.formatting import array_to_list, get_formatter
from raydata_ext.formatting.python_format import PythonFormatter

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from raydata_ext.dataset.indexing import Positions
    from raydata_ext.dataset.indices import Indices
    from raydata_ext.store import FormatState
    from raydata_ext.table import Table

ROWS_TOGETHER = 1000
"""Rows that are converted at a time where one iterates over all."""

_BYTES_TOGETHER = 16 << 20
"""About the bytes of rows that are copied together for that, unless one row has more."""


class View:
    """Rows of a table, by position, in a format.

    Args:
        table: the rows.
        indices: which of them, and in which order; None is all of them as they are.
        format: the columns that are shown, and as what.

    Attributes:
        num_rows: how many rows there are.

    Raises:
        ValueError: there is no such format or column.
        TypeError: the format has no such option.
    """

    def __init__(self, table: Table, indices: Indices | None, format: FormatState) -> None:  # noqa: A002 - the word for it
        self._formatter = get_formatter(
            format.type,  # type: ignore[arg-type]  # checked there
            format.columns,
            format.output_all_columns,
            **format.kwargs,
        )
        self._table = table
        if format.columns is not None:
            others = [name for name in table.column_names if name not in format.columns]
            self._table = table.select([*format.columns, *(others if format.output_all_columns else ())])
        self._indices = indices
        self.num_rows = table.num_rows if indices is None else len(indices)
        self._gives_python = isinstance(self._formatter, PythonFormatter)

    def row(self, position: int) -> Any:
        """One row; the position is in range."""
        if self._indices is not None:
            position = self._indices.rows.item(position)
        if self._gives_python:
            return self._table.row(position)
        return self._formatter.row(self._table.fast_slice(position, 1), 0)

    def run(self, start: int, stop: int) -> Any:
        """Rows [start, stop), which are in range."""
        return self._formatter.batch(self.arrow_run(start, stop))

    def rows(self, positions: Positions) -> Any:
        """Rows at positions, which are in range, in their order."""
        return self._formatter.batch(self.arrow_rows(positions))

    def column(self, name: str) -> Any:
        """All values of one column of the table."""
        return self._formatter.column(self.arrow_run(0, self.num_rows).column(name))

    def arrow_run(self, start: int, stop: int) -> pa.Table:
        """Rows [start, stop), which are in range; zero-copy where there is no indices mapping."""
        if self._indices is None:
            return self._table.fast_slice(start, stop - start)
        return self._gathered(self._indices.rows[start:stop])

    def arrow_rows(self, positions: Positions) -> pa.Table:
        """Rows at positions, which are in range, copied together."""
        return self._gathered(positions if self._indices is None else self._indices.rows[positions])

    def pieces(self) -> Iterator[pa.RecordBatch]:
        """All rows in order, a few at a time; where there is no indices mapping, with one file open at a time."""
        if self._indices is not None:
            row_bytes = max(1, size_of(self._table) // max(1, self._table.num_rows))
            size = max(1, min(ROWS_TOGETHER, _BYTES_TOGETHER // row_bytes))
            for start in range(0, self.num_rows, size):
                yield from self.arrow_run(start, min(start + size, self.num_rows)).to_batches()
            return
        for batch in self._table.iter_batches():
            for start in range(0, batch.num_rows, ROWS_TOGETHER):
                yield batch.slice(start, ROWS_TOGETHER)

    def __iter__(self) -> Iterator[Any]:
        for piece in self.pieces():
            if not self._gives_python:
                yield from (self._formatter.row(piece, row) for row in range(piece.num_rows))
            elif piece.num_columns:
                names = piece.schema.names
                columns = [array_to_list(column) for column in piece.columns]
                yield from (dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True))
            else:
                yield from ({} for _ in range(piece.num_rows))

    def row_list(self, positions: Positions) -> list[Any]:
        """Rows at positions, one by one, in a list: what the loader of torch asks for."""
        table = self.arrow_rows(positions)
        if self._gives_python:
            rows: list[Any] = table.to_pylist()
            return rows
        return list(itertools.chain.from_iterable(map(self._formatter.rows, table.to_batches())))

    def _gathered(self, rows: Positions) -> pa.Table:
        return self._table.fast_gather(rows) if len(rows) else self._table.fast_slice(0, 0)
