"""Rows and batches as a function of the user makes them, each time they are looked at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from raydata_ext.formatting.formatter import Formatter, check_row
from raydata_ext.formatting.to_python import array_to_list

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa


class TransformFormatter(Formatter):
    """A batch is what the function returns for a dictionary of lists, a row what it returns for lists of one.

    Args:
        columns: See `Formatter`; the function is given these.
        output_all_columns: See `Formatter`.
        transform: Returns a mapping of column to values, one for each row.
    """

    def __init__(
        self,
        columns: Sequence[str] | None = None,
        *,
        output_all_columns: bool = False,
        transform: Callable[[dict[str, list[Any]]], Mapping[str, Any]],
    ) -> None:
        super().__init__(columns, output_all_columns=output_all_columns)
        self.transform = transform

    def row(self, batch: pa.RecordBatch | pa.Table, index: int) -> dict[str, Any]:
        """One row; see `Formatter.row`."""
        check_row(batch, index)
        return self.rows(batch.slice(index, 1))[0]

    def rows(self, data: pa.RecordBatch | pa.Table) -> list[dict[str, Any]]:
        """All rows, made together; see `Formatter.rows`."""
        made = self.batch(data)
        return [{name: values[index] for name, values in made.items()} for index in range(data.num_rows)]

    def batch(self, data: pa.RecordBatch | pa.Table) -> dict[str, Any]:
        """All rows as a dictionary; see `Formatter.batch`.

        Raises:
            TypeError: The function returns no mapping.
            ValueError: It returns another number of values than there are rows.
        """
        made = self.transform({name: array_to_list(data.column(name)) for name in self._formatted_names(data.schema)})
        if not isinstance(made, Mapping):
            raise TypeError(f"the transform returned {type(made).__name__}, and no mapping of column to values")
        for name, values in made.items():
            if len(values) != data.num_rows:
                raise ValueError(f"the transform returned {len(values)} values of {name!r} for {data.num_rows} rows")
        others = {name: array_to_list(data.column(name)) for name in self._other_names(data.schema)}
        return {**others, **made}

    def column(self, array: pa.Array | pa.ChunkedArray) -> list[Any]:
        """A column alone, as it is: the function is one of rows."""
        return array_to_list(array)
