"""What a batched function is given: a mapping of lists or arrays, an Arrow table or a data frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from raydata_ext.formatting import Formatter, LazyBatch, get_formatter
from raydata_ext.formatting.column_cache import ColumnCache
from raydata_ext.formatting.plain_values import is_series, is_tensor, tensor_to_numpy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from raydata_ext.plan.steps import BatchFormat


def given_batch(batch: pa.RecordBatch, batch_format: BatchFormat, names: Sequence[str] | None) -> Any:
    """What a batched function is given.

    Args:
        batch: the rows.
        batch_format: the format; `"python"`, `"numpy"` and `"torch"` are converted column by column, as they are asked
            for, `"pandas"` at once, and `"arrow"` is a `pa.Table`.
        names: the only columns that will be asked for; None where it may be any.

    Returns:
        A mapping, table or data frame.
    """
    if batch_format == "python":
        return LazyBatch(batch)
    if batch_format == "arrow":
        return pa.Table.from_batches([batch])
    if batch_format == "pandas":
        return get_formatter("pandas").batch(batch if names is None else batch.select(list(names)))
    return _FormattedBatch(_FormattedColumns(batch, get_formatter(batch_format)))


def unchanged_as_given(batch: pa.RecordBatch, columns: Mapping[str, Any]) -> dict[str, Any]:
    """Columns of data frames, with the Arrow arrays that were given in place of series that hold what these do.

    Args:
        batch: the rows that were given.
        columns: series, or other kinds of columns, by name.
    """
    formatter = get_formatter("pandas")

    def same(name: str, values: Any) -> bool:
        if not is_series(values) or len(values) != batch.num_rows or name not in batch.schema.names:
            return False
        return _same_series(values, formatter.column(batch.column(name)))

    return {name: batch.column(name) if same(name, values) else values for name, values in columns.items()}


class _FormattedBatch(LazyBatch):
    """What `LazyBatch` is for lists: a mapping of column name to the values of all rows, as an array.

    Args:
        columns: the columns of the record batch, in the format.
    """

    __slots__ = ()
    _columns: _FormattedColumns

    def __init__(self, columns: _FormattedColumns) -> None:
        super().__init__(columns.batch, columns=columns)

    def _changed_in_place(self, name: str) -> bool:
        return not _same(self._columns[name], self._columns.converted(name))

    def _without_changes(self) -> _FormattedBatch:
        return _FormattedBatch(self._columns)


class _FormattedColumns(ColumnCache):
    """The columns of a record batch in a format, each converted when it is first asked for.

    Args:
        batch: the record batch.
        formatter: makes a column of the format.
    """

    __slots__ = ("_formatter",)

    def __init__(self, batch: pa.RecordBatch, formatter: Formatter) -> None:
        super().__init__(batch, hand_out_lists=True)
        self._formatter = formatter

    def converted(self, name: str) -> Any:
        """A column, converted anew."""
        return self._formatter.column(self.batch.column(self.names[name]))

    def __missing__(self, name: str) -> Any:
        values = self[name] = self.converted(name)
        if not _is_read_only(values):
            self.snapshots[name] = values  # says that it may be changed in place; `converted` says what it was
        return values


def _is_read_only(values: Any) -> bool:
    """Whether this is an array of numbers that lie in Arrow memory; of a masked one the mask can be written."""
    return type(values) is np.ndarray and values.dtype != object and not values.flags.writeable


def _same(value: Any, other: Any) -> bool:
    if is_tensor(value) and is_tensor(other):
        return value.dtype == other.dtype and _same(tensor_to_numpy(value), tensor_to_numpy(other))
    if type(value) is not type(other):
        return False
    if isinstance(value, np.ndarray):
        return value.dtype == other.dtype and value.shape == other.shape and _same_arrays(value, other)
    if isinstance(value, list | tuple):
        return len(value) == len(other) and all(map(_same, value, other))
    if isinstance(value, dict):
        return list(value) == list(other) and all(map(_same, value.values(), other.values()))
    return bool(value == other or value != value)  # noqa: PLR0124 - a NaN is the only value unequal to itself


def _same_series(value: Any, other: Any) -> bool:
    if type(value) is not type(other) or value.dtype != other.dtype:
        return False
    if value.dtype == object:
        return _same_arrays(value.to_numpy(), other.to_numpy())
    return bool(value.reset_index(drop=True).equals(other))


def _same_arrays(value: Any, other: Any) -> bool:
    if isinstance(value, np.ma.MaskedArray):
        masks = np.ma.getmaskarray(value), np.ma.getmaskarray(other)
        return bool(np.array_equal(*masks) and np.array_equal(value.filled(0), other.filled(0)))
    if value.dtype == object:
        return all(map(_same, value.ravel().tolist(), other.ravel().tolist()))
    return bool(np.array_equal(value, other, equal_nan=value.dtype.kind in "fmM"))
