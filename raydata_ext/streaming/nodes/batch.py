"""Several rows as one row of lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from typing_extensions import override

from raydata_ext.formatting.record_batch import empty_columns
from raydata_ext.streaming.nodes.base import Bases, StatelessCursor, Wrapper
from raydata_ext.streaming.nodes.gather import open_rows
from raydata_ext.streaming.row_reader import RowReader
from raydata_ext.streaming.rows import BATCH_ROWS

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, eq=False)
class Batch(Wrapper):
    """Rows put together: each column of a batch is the list of its values.

    Attributes:
        batch_size: rows of a batch.
        drop_last_batch: leave out a last batch that is shorter.
    """

    batch_size: int
    drop_last_batch: bool

    @property
    @override
    def num_rows(self) -> int | None:
        total = self.child.num_rows
        if total is None:
            return None
        return total // self.batch_size if self.drop_last_batch else -(-total // self.batch_size)

    @property
    @override
    def schema(self) -> pa.Schema | None:
        schema = self.child.schema
        return None if schema is None else pa.schema([field.with_type(pa.large_list(field.type)) for field in schema])

    @property
    @override
    def settings(self) -> Mapping[str, Any]:
        return {"batch_size": self.batch_size, "drop_last_batch": self.drop_last_batch}

    @override
    def open(self, bases: Bases | None) -> BatchCursor:
        return BatchCursor(self, RowReader(open_rows(self.child, None)))


class BatchCursor(StatelessCursor):
    """A pass that puts rows together.

    Args:
        node: how.
        rows: of the child.
    """

    def __init__(self, node: Batch, rows: RowReader) -> None:
        super().__init__(rows)
        self._node = node

    @override
    def next(self) -> pa.RecordBatch | None:
        size = self._node.batch_size
        rows = self._input.read(max(1, BATCH_ROWS // size) * size)
        if rows is None:
            return None
        full = rows.num_rows // size * size
        end = full if self._node.drop_last_batch else rows.num_rows
        offsets = np.append(np.arange(0, end, size), end)
        if not rows.num_columns:
            return empty_columns(len(offsets) - 1)
        return pa.RecordBatch.from_arrays(
            [pa.LargeListArray.from_arrays(pa.array(offsets), column) for column in rows.columns],
            names=rows.schema.names,
        )
