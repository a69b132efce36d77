"""Giving one column another type, where the other columns need not be known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from raydata_ext.errors import PlanError
from raydata_ext.table import cast_array

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class CastColumn:
    """A function for batches that casts a column.

    Attributes:
        column: its name.
        type: the type to have.
    """

    column: str
    type: pa.DataType

    def __call__(self, batch: pa.Table) -> dict[str, pa.ChunkedArray]:
        """The column under its new type.

        Raises:
            PlanError: there is no such column.
            SchemaError: values cannot be cast.
        """
        if self.column not in batch.schema.names:
            raise PlanError(f"there is no column {self.column!r}; these rows have {batch.schema.names}")
        return {self.column: cast_array(batch[self.column], self.type, self.column)}
