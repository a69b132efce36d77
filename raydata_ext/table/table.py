"""What every table can do, wherever its rows are.

A table is an index over rows, and the window of these rows that it shows. So a slice is two numbers, `len` is their
difference, and all slices share one index. All operations are defined once, here; a class of tables says only how it
applies one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, SupportsIndex

import pyarrow as pa
import pyarrow.compute as pc

from raydata_ext.table.arguments import column_position, new_column, new_names, row_mask, rows_where
from raydata_ext.table.operations import (
    AddColumn,
    Cast,
    CombineChunks,
    Filter,
    Flatten,
    Operation,
    RenameColumns,
    ReplaceSchemaMetadata,
    Select,
    SetColumn,
)
from raydata_ext.table.row_index import RowIndex, RowsToCopy, clip_window

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Self


class Table(ABC):
    """An immutable table around a `pyarrow.Table`, with fast access to its rows.

    Made by its subclasses only. Methods that are named like methods of `pyarrow.Table` mean the same.
    """

    _index: RowIndex
    _start: int
    _stop: int
    _table: pa.Table | None

    def _show(self, index: RowIndex, start: int, stop: int, table: pa.Table | None = None) -> None:
        """Set what is shown: the rows of the index from start up to stop, and these as a table if they are at hand."""
        self._index = index
        self._start = start
        self._stop = stop
        self._table = table

    @abstractmethod
    def apply(self, operation: Operation) -> Table:
        """Return the table that an operation makes of this one."""

    def _materialise(self) -> pa.Table:
        """Return the rows shown as a `pyarrow.Table`."""
        return self._index.fast_slice(self._start, self.num_rows)

    @property
    def table(self) -> pa.Table:
        """The rows as a `pyarrow.Table`. Where they are memory-mapped, they stay on disk."""
        if self._table is None:
            self._table = self._materialise()
        return self._table

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns, and metadata."""
        return self._index.schema

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return self._stop - self._start

    @property
    def num_columns(self) -> int:
        """Number of columns."""
        return len(self.schema)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self.num_rows, self.num_columns

    @property
    def column_names(self) -> list[str]:
        """Names of the columns, in order."""
        return list(self.schema.names)

    @property
    def nbytes(self) -> int:
        """Bytes that the rows take, in memory or in the mapped files; opens the files that are not open yet."""
        return self._index.nbytes(self._start, self._stop)

    def __len__(self) -> int:
        return self.num_rows

    def __repr__(self) -> str:
        columns = ", ".join(f"{field.name}: {field.type}" for field in self.schema)
        return f"{type(self).__name__}({self.num_rows} rows of {columns or 'no columns'})"

    def __eq__(self, other: object) -> bool:
        return self.equals(other) if isinstance(other, Table | pa.Table) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # tables are compared by their rows, which are too many to hash

    def __copy__(self) -> Self:
        return self._copy()

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        return self._copy()  # tables are immutable: what they hold can be shared

    def _copy(self, **changes: object) -> Self:
        copied = object.__new__(type(self))
        copied.__dict__.update(self.__dict__, **changes)
        return copied

    def __getitem__(self, i: int | str) -> pa.ChunkedArray:
        return self.column(i)

    def equals(self, other: Table | pa.Table, check_metadata: bool = False) -> bool:
        """Tell whether another table has the same columns and rows, however they are cut into chunks.

        Args:
            other: a table of this package or of pyarrow.
            check_metadata: whether metadata of schema and fields must be equal too.
        """
        if (len(other), other.num_columns) != self.shape or not self.schema.equals(other.schema, check_metadata):
            return False
        table = other.table if isinstance(other, Table) else other
        return bool(self.table.equals(table, check_metadata))

    # -- reading ------------------------------------------------------------------------------------------------------

    def row(self, i: int) -> dict[str, Any]:
        """Return one row as a dict of Python values.

        Raises:
            IndexError: there is no such row; negative numbers are not counted from the end.
        """
        if not 0 <= i < self._stop - self._start:
            raise IndexError(f"row {i} is out of range for a table of {self.num_rows} rows")
        return self._index.row(self._start + i)

    def fast_slice(self, offset: int = 0, length: int | None = None) -> pa.Table:
        """Return a run of rows, zero-copy, in time that depends on the record batches it touches alone.

        Args:
            offset: first row, not negative.
            length: how many rows; what passes the end is left out. None is up to the end.

        Raises:
            IndexError: the offset is negative.
        """
        start, stop = clip_window(offset, length, self.num_rows)
        return self._index.fast_slice(self._start + start, stop - start)

    def fast_gather(self, indices: Iterable[SupportsIndex] | NDArray[np.integer[Any]]) -> pa.Table:
        """Return rows in the order of the indices, duplicates included, copied to one contiguous batch.

        Where strings or lists of the result pass what 32-bit offsets can count, it has several batches instead.

        Args:
            indices: numbers of rows, at least one: an integer array of shape (n,), a range, or any iterable of ints.

        Raises:
            IndexError: there is no such row; negative numbers are not counted from the end.
            ValueError: there are no indices.
        """
        return self._index.fast_gather(indices, start=self._start, stop=self._stop)

    def find_rows(self, rows: NDArray[np.int64]) -> RowsToCopy:
        """Return rows, any run of which can be copied as `fast_gather` does, and of which it is known how large it is.

        Args:
            rows: numbers of rows, at least one; shape (n,).

        Raises:
            IndexError: there is no such row.
        """
        return self._index.find_rows(rows, start=self._start, stop=self._stop)

    def iter_batches(self) -> Iterator[pa.RecordBatch]:
        """Yield all rows in the record batches that they are in, zero-copy, with one file open at a time."""
        return self._index.iter_batches(self._start, self._stop)

    def to_batches(self, max_chunksize: int | None = None) -> list[pa.RecordBatch]:
        """Return all rows in record batches of at most `max_chunksize` rows, zero-copy."""
        return list(self.to_reader(max_chunksize))

    def to_reader(self, max_chunksize: int | None = None) -> pa.RecordBatchReader:
        """Return a reader of all rows in record batches of at most `max_chunksize` rows, zero-copy."""
        batches = self.iter_batches()
        if max_chunksize is not None:
            batches = _limit_rows(batches, max_chunksize)
        return pa.RecordBatchReader.from_batches(self.schema, batches)

    def column(self, i: int | str) -> pa.ChunkedArray:
        """Return a column by position or name."""
        return self.table.column(i)

    @property
    def columns(self) -> list[pa.ChunkedArray]:
        """All columns in order."""
        return list(self.table.columns)

    def itercolumns(self) -> Iterator[pa.ChunkedArray]:
        """Yield all columns in order."""
        return iter(self.columns)

    def field(self, i: int | str) -> pa.Field:
        """Return the field of the schema at a position or of a name."""
        return self.schema.field(i)

    def validate(self, *, full: bool = False) -> None:
        """Check that the table is sound; `full` looks at each value.

        Raises:
            pyarrow.ArrowInvalid: it is not.
        """
        self.table.validate(full=full)

    def to_pydict(self) -> dict[str, list[Any]]:
        """Return all columns as lists of Python values."""
        columns: dict[str, list[Any]] = self.table.to_pydict()
        return columns

    def to_pylist(self) -> list[dict[str, Any]]:
        """Return all rows as dicts of Python values."""
        rows: list[dict[str, Any]] = self.table.to_pylist()
        return rows

    def to_pandas(self, **options: Any) -> Any:
        """Return the table as a `pandas.DataFrame`; options as in `pyarrow.Table.to_pandas`."""
        return self.table.to_pandas(**options)

    def to_string(self, **options: Any) -> str:
        """Return a text that shows the schema and some rows; options as in `pyarrow.Table.to_string`."""
        return str(self.table.to_string(**options))

    # -- operations ---------------------------------------------------------------------------------------------------

    def slice(self, offset: int = 0, length: int | None = None) -> Self:
        """Return a run of rows, zero-copy and without touching any.

        Args:
            offset: first row, not negative.
            length: how many rows; what passes the end is left out. None is up to the end.

        Raises:
            IndexError: the offset is negative.
        """
        start, stop = clip_window(offset, length, self.num_rows)
        return self._copy(_start=self._start + start, _stop=self._start + stop, _table=None)

    def filter(self, mask: Any, null_selection_behavior: str = "drop") -> Table:
        """Return the rows where the mask is true.

        Args:
            mask: booleans, one for each row, as an Arrow array, a NumPy array or a list; or a `pyarrow.compute`
                expression over the columns, which is evaluated at once.
            null_selection_behavior: "drop" leaves out rows where the mask is null; "emit_null" makes them null.

        Raises:
            ValueError: the mask has another length.
        """
        if isinstance(mask, pc.Expression):
            mask = rows_where(self.table, mask)
        return self.apply(Filter(row_mask(mask, self.num_rows), null_selection_behavior))

    def flatten(self) -> Table:
        """Return a table in which each struct column is one column for each of its fields, one level deep."""
        return self.apply(Flatten())

    def combine_chunks(self) -> Table:
        """Return a table whose chunks are joined to one, or to several where 32-bit offsets could not reach all."""
        return self.apply(CombineChunks())

    def cast(self, target_schema: pa.Schema, *, add_missing: bool = False) -> Table:
        """Return the table with another schema.

        Args:
            target_schema: the schema to have. It must name every column of the table.
            add_missing: whether columns that the table lacks become null columns.

        Raises:
            SchemaError: a column is missing or not in the schema, or cannot be cast; names the column path and both
                types. Where the file is not open yet, what cannot be cast is found when it is.
        """
        return self.apply(Cast(target_schema, add_missing))

    def replace_schema_metadata(self, metadata: Mapping[bytes | str, bytes | str] | None = None) -> Table:
        """Return the table with other metadata of its schema, or with none."""
        return self.apply(ReplaceSchemaMetadata.of(metadata))

    def add_column(self, i: int, field_: str | pa.Field, column: Any) -> Table:
        """Return the table with one more column, before column `i`.

        Args:
            i: position of the new column, from 0 to the number of columns.
            field_: its name (the type is that of the data) or its field.
            column: its values, one for each row: an Arrow array or chunked array, or a list of either or of values.

        Raises:
            IndexError: there is no such position.
            ValueError: the column has another length.
        """
        if not 0 <= i <= self.num_columns:
            raise IndexError(f"column {i} cannot be added to a table of {self.num_columns} columns")
        return self.apply(AddColumn(i, *new_column(field_, column, self.num_rows)))

    def append_column(self, field_: str | pa.Field, column: Any) -> Table:
        """Return the table with one more column at the end; see `add_column`."""
        return self.add_column(self.num_columns, field_, column)

    def set_column(self, i: int, field_: str | pa.Field, column: Any) -> Table:
        """Return the table with another column in the place of column `i`; see `add_column`."""
        return self.apply(SetColumn(column_position(self.schema, i), *new_column(field_, column, self.num_rows)))

    def remove_column(self, i: int) -> Table:
        """Return the table without column `i`."""
        removed = column_position(self.schema, i)
        return self.apply(Select(tuple(j for j in range(self.num_columns) if j != removed)))

    def rename_columns(self, names: Sequence[str] | Mapping[str, str]) -> Table:
        """Return the table with other names of columns.

        Args:
            names: the new names of all columns; or a mapping from old names to new ones.

        Raises:
            KeyError: an old name is not that of exactly one column.
            ValueError: there are not as many names as columns.
        """
        return self.apply(RenameColumns(new_names(self.schema, names)))

    def select(self, columns: Iterable[str | int]) -> Table:
        """Return the table with some of its columns.

        Args:
            columns: names or positions, in the order to have.

        Raises:
            KeyError: a name is not that of exactly one column.
            IndexError: there is no column at a position.
        """
        return self.apply(Select(tuple(column_position(self.schema, column) for column in columns)))

    def drop(self, columns: str | Iterable[str]) -> Table:
        """Return the table without some of its columns.

        Args:
            columns: a name or names.

        Raises:
            KeyError: a name is not that of a column.
        """
        names = {columns} if isinstance(columns, str) else set(columns)
        for name in names.difference(self.schema.names):
            raise KeyError(f"no column {name!r}; the columns are {self.column_names}")
        return self.apply(Select(tuple(i for i, name in enumerate(self.schema.names) if name not in names)))

    drop_columns = drop


class TableBlock(Table):
    """A table that a `ConcatenationTable` can be made of: its rows are in memory, or in one mapped file."""

    @abstractmethod
    def apply(self, operation: Operation) -> TableBlock:
        """Return the table that an operation makes of this one."""

    @abstractmethod
    def read(self) -> pa.Table:
        """Return the rows shown, and hold on to nothing that was not held before."""


def _limit_rows(batches: Iterator[pa.RecordBatch], max_rows: int) -> Iterator[pa.RecordBatch]:
    if max_rows < 1:
        raise ValueError(f"max_chunksize must be at least 1, not {max_rows}")
    for batch in batches:
        for start in range(0, batch.num_rows, max_rows):
            yield batch.slice(start, max_rows)
