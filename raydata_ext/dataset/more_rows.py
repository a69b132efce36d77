"""More rows than there are: the same again, or one of the user's. Files are mapped as before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from raydata_ext.dataset.indices import Indices
from raydata_ext.dataset.ordering import Ordering
from raydata_ext.fingerprint import hash_value
from raydata_ext.formatting import batch_from_columns
from raydata_ext.table import InMemoryTable, concat_tables

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typing_extensions import Self


class MoreRows(Ordering):
    """The rows and more of them."""

    def repeat(self, num_times: int) -> Self:
        """All rows so many times, one after the other.

        Raises:
            ValueError: the number is negative.
        """
        if num_times < 0:
            raise ValueError(f"num_times is {num_times}; it must not be negative")
        if num_times == 0:
            return self.take(0)
        lineage = self.parts.lineage.then("repeat", num_times)
        if self.parts.indices is None:
            return self._with(lineage=lineage, table=concat_tables([self.parts.table] * num_times))
        rows = np.tile(self.parts.indices.rows, num_times)
        return self._with(lineage=lineage, indices=Indices.of(rows, self.parts.workspace.store))

    def add_item(self, item: Mapping[str, Any]) -> Self:
        """One more row, at the end, kept in memory. For many, make a data set of them and concatenate.

        Args:
            item: values by column; a column that it lacks is null, and one that it has alone is null before.

        Raises:
            SchemaError: a value does not go with those of its column.
        """
        columns = {name: [value] for name, value in item.items()}
        row = pa.Table.from_batches([batch_from_columns(columns, hints=self.schema, num_rows=1)])
        lineage = self.parts.lineage.then("add_item", hash_value(row))
        table = concat_tables([self.parts.table, InMemoryTable(row)])
        indices = self.parts.indices
        if indices is not None:
            indices = Indices.of(np.append(indices.rows, table.num_rows - 1), self.parts.workspace.store)
        return self._with(lineage=lineage, table=table, indices=indices)
