"""Reading rows: by number, by column, one after the other, and in batches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, SupportsIndex, overload

import pyarrow as pa

from raydata_ext.dataset.base import DatasetBase
from raydata_ext.dataset.column import Column
from raydata_ext.dataset.indexing import is_one, position_of, positions_of
from raydata_ext.dataset.representation import describe, describe_in_html
from raydata_ext.dataset.view import View
from raydata_ext.formatting import get_formatter
from raydata_ext.store import FormatState

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np
    from numpy.typing import NDArray


_PLAIN_COLUMNS = (None, "python", "custom")
"""Formats in which a column alone is one of plain Python."""


class Reading(DatasetBase):
    """The rows of a data set as values; the format says of what kind, and without one they are plain Python."""

    @overload
    def __getitem__(self, key: SupportsIndex) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, key: slice | Iterable[SupportsIndex] | NDArray[np.integer[Any]]) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, key: str) -> Any: ...
    def __getitem__(self, key: Any) -> Any:
        """A row (int), rows (slice, list, range or array of ints), or a column (str).

        Args:
            key: numbers of rows, negative ones counted from the end, or the name of a column.

        Returns:
            Without a format, or with one whose batches are mappings: for a row a dict of values; for rows a dict of
            column to values; for a column its values, which without a format are a `Column`: a sequence that reads what
            is looked at.

        Raises:
            IndexError: there is no such row.
            KeyError: there is no such column.
            TypeError: the key is something else.
        """
        if is_one(key):
            return self._view.row(position_of(key, self.num_rows))
        if isinstance(key, str):
            return self._column(key)
        if isinstance(key, slice):
            start, stop, step = key.indices(self.num_rows)
            if step == 1:
                return self._view.run(start, max(start, stop))
            key = range(start, stop, step)
        return self._view.rows(positions_of(key, self.num_rows))

    def __getitems__(self, keys: Iterable[SupportsIndex]) -> list[Any]:
        """Rows one by one in a list, gathered together: how `torch.utils.data.DataLoader` reads."""
        return self._view.row_list(positions_of(keys, self.num_rows))

    def __iter__(self) -> Iterator[Any]:
        """All rows in order, converted some at a time."""
        return iter(self._view)

    def iter(self, batch_size: int, drop_last_batch: bool = False) -> Iterator[Any]:  # positional as in Hugging Face
        """All rows in batches, as `dataset[start:stop]` gives them.

        Args:
            batch_size: rows of a batch.
            drop_last_batch: leave out the last batch where it is shorter.

        Raises:
            ValueError: the size is not at least 1.
        """
        if batch_size < 1:
            raise ValueError(f"batch_size is {batch_size}; it must be at least 1")
        stop = self.num_rows - (self.num_rows % batch_size if drop_last_batch else 0)
        return (self._view.run(start, min(start + batch_size, stop)) for start in range(0, stop, batch_size))

    def to_dict(self) -> dict[str, list[Any]]:
        """All rows in memory, as column name to list of Python values."""
        columns: dict[str, list[Any]] = get_formatter(None).batch(self.to_arrow())
        return columns

    def to_list(self) -> list[dict[str, Any]]:
        """All rows in memory, as dicts of Python values."""
        return list(self.parts.plain_view)

    def to_pandas(self, batch_size: int | None = None, batched: bool = False, **options: Any) -> Any:
        """All rows as a `pandas.DataFrame`, or batch by batch.

        Args:
            batch_size: rows of a batch; None is 1,000. It means nothing without `batched`.
            batched: give an iterator of frames.
            options: those of `pyarrow.Table.to_pandas`.
        """
        if not batched:
            return self.to_arrow().to_pandas(**options)
        size, view = 1000 if batch_size is None else batch_size, self.parts.plain_view
        starts = range(0, self.num_rows, size)
        return (view.arrow_run(start, min(start + size, self.num_rows)).to_pandas(**options) for start in starts)

    def to_polars(self) -> Any:
        """All rows as a `polars.DataFrame`."""
        from polars import DataFrame  # noqa: PLC0415 - optional

        return DataFrame(self)

    def to_reader(self) -> pa.RecordBatchReader:
        """All rows as a reader of Arrow record batches: views of the mapped files where there is no indices mapping."""
        view = self.parts.plain_view
        batches = self.parts.table.iter_batches() if self.parts.indices is None else view.pieces()
        return pa.RecordBatchReader.from_batches(self.schema, batches)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows by Arrow's C interface: pandas, polars, duckdb and pyarrow read them from the files, uncopied.

        So `polars.DataFrame(dataset)`, `duckdb.from_arrow(dataset.to_reader())` and `pyarrow.table(dataset)` work.
        """
        return self.to_reader().__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return describe(self.num_rows, self.schema, self.parts.format)

    def _repr_html_(self) -> str:
        head = self.parts.plain_view.arrow_run(0, min(self.num_rows, 5)).to_pylist()
        return describe_in_html(self.num_rows, self.schema, self.parts.format, self.cache_files, head)

    def _column(self, name: str) -> Any:
        if name not in self.column_names:
            raise KeyError(f"no column {name!r}; the columns are {self.column_names}")
        view = self._column_view(name)
        if self.parts.format.type in _PLAIN_COLUMNS:
            return Column(view, name)
        return view.column(name)

    def _column_view(self, name: str) -> View:
        """Rows of one column, in the format where it is of the columns that have one, and plain where it is not."""
        format_ = self.parts.format
        shown = format_.columns is None or name in format_.columns
        if shown and format_.type not in _PLAIN_COLUMNS:
            kind = FormatState(format_.type, (name,), format_.kwargs)
        else:
            kind = FormatState(columns=(name,))
        return View(self.parts.table, self.parts.indices, kind)
