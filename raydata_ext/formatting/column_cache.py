"""The columns of a record batch as Python lists, each converted when it is first asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raydata_ext.formatting.in_place import is_mutable, snapshot
from raydata_ext.formatting.to_python import array_to_list

if TYPE_CHECKING:
    import pyarrow as pa


class ColumnCache(dict[str, list[Any]]):
    """Name of a column -> its Python values; a plain dictionary look-up after the first access.

    It holds just the columns that were touched, so it also says what was *not* converted and may pass on as Arrow.

    Args:
        batch: The record batch.
        hand_out_lists: The lists themselves go to a user, who may change them in place, and not only their elements.

    Attributes:
        names: Column names of the batch, in its order.
        snapshots: For touched columns in which something could be changed in place: what they held at first.
    """

    __slots__ = ("_hand_out_lists", "_positions", "batch", "snapshots")

    def __init__(self, batch: pa.RecordBatch, *, hand_out_lists: bool) -> None:
        super().__init__()
        self.batch = batch
        self.snapshots: dict[str, list[Any]] = {}
        self._positions = {name: position for position, name in enumerate(batch.schema.names)}
        self._hand_out_lists = hand_out_lists

    @property
    def names(self) -> dict[str, int]:
        """Column name -> position, in the order of the batch."""
        return self._positions

    def __missing__(self, name: str) -> list[Any]:
        array = self.batch.column(self._positions[name])
        values = array_to_list(array)
        if is_mutable(array.type):
            self.snapshots[name] = snapshot(values)
        elif self._hand_out_lists:
            self.snapshots[name] = values.copy()
        self[name] = values
        return values
