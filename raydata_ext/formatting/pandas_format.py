"""Rows and batches as pandas data frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from raydata_ext.formatting.formatter import Formatter, check_row
from raydata_ext.formatting.to_python import array_to_list

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd


class PandasFormatter(Formatter):
    """A row is a `DataFrame` of one row, a batch a `DataFrame`, a column a `Series`.

    Integers and bools that have nulls take pandas' nullable types (`Int64`, `boolean`, ...) and never become floats;
    inside of lists and structs they stay Python's, with None. Times with a zone are Python's in there, too.

    Args:
        columns: As in `Formatter`.
        output_all_columns: As in `Formatter`; the other columns are columns of the same frame.

    Raises:
        ImportError: pandas is not installed.
    """

    def __init__(self, columns: Sequence[str] | None = None, *, output_all_columns: bool = False) -> None:
        super().__init__(columns, output_all_columns=output_all_columns)
        try:
            import pandas as pd  # noqa: PLC0415  # optional
        except ImportError as error:
            raise ImportError('format "pandas" needs pandas: pip install pandas') from error
        self._pandas: Any = pd
        self._nullable = _nullable_types(pd)

    def row(self, batch: pa.RecordBatch | pa.Table, index: int) -> pd.DataFrame:
        """One row as a frame; see `Formatter.row`."""
        check_row(batch, index)
        return self.batch(batch.slice(index, 1))

    def batch(self, data: pa.RecordBatch | pa.Table) -> pd.DataFrame:
        """All rows as a frame; see `Formatter.batch`."""
        names = [*self._formatted_names(data.schema), *self._other_names(data.schema)]
        columns = {name: self.column(data.column(name)) for name in names}
        return self._pandas.DataFrame(columns, index=self._pandas.RangeIndex(data.num_rows), copy=False)

    def column(self, array: pa.Array | pa.ChunkedArray) -> pd.Series[Any]:
        """A column as a series without name."""
        inner = list(_types_inside(array.type))
        series = None if any(map(_has_nanoseconds, inner)) else self._made_by_arrow(array, inner)
        return self._of_python_values(array) if series is None else series

    def _made_by_arrow(self, array: pa.Array | pa.ChunkedArray, inner: Sequence[pa.DataType]) -> pd.Series[Any] | None:
        """None for lists of some types, of which pyarrow cannot make a series."""
        types_mapper = self._nullable.get if array.null_count and array.type in self._nullable else None
        try:
            return array.to_pandas(
                types_mapper=types_mapper,
                integer_object_nulls=bool(inner),
                timestamp_as_object=any(pa.types.is_timestamp(one) and one.tz for one in inner[1:]),
            )
        except pa.ArrowNotImplementedError:
            return None

    def _of_python_values(self, array: pa.Array | pa.ChunkedArray) -> pd.Series[Any]:
        values = self._pandas.Series(index=self._pandas.RangeIndex(len(array)), dtype=object)
        values[:] = array_to_list(array)
        return values

    def __getstate__(self) -> dict[str, Any]:
        return {"columns": self.columns, "output_all_columns": self.output_all_columns}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]  # modules do not pickle


def _types_inside(kind: pa.DataType) -> Iterator[pa.DataType]:
    """A nested type and all types in it; nothing for others."""
    if pa.types.is_nested(kind):
        yield kind
        for number in range(kind.num_fields):
            yield kind.field(number).type
            yield from _types_inside(kind.field(number).type)


def _has_nanoseconds(kind: pa.DataType) -> bool:
    """Whether this is a struct with times of nanoseconds, of which pyarrow makes integers for pandas."""
    return bool(pa.types.is_struct(kind)) and any(pa.types.is_timestamp(f.type) and f.type.unit == "ns" for f in kind)


def _nullable_types(pd: Any) -> dict[pa.DataType, Any]:
    return {
        pa.int8(): pd.Int8Dtype(),
        pa.int16(): pd.Int16Dtype(),
        pa.int32(): pd.Int32Dtype(),
        pa.int64(): pd.Int64Dtype(),
        pa.uint8(): pd.UInt8Dtype(),
        pa.uint16(): pd.UInt16Dtype(),
        pa.uint32(): pd.UInt32Dtype(),
        pa.uint64(): pd.UInt64Dtype(),
        pa.bool_(): pd.BooleanDtype(),
    }
