"""A batch as a trainer receives it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from raydata_ext.formatting import get_formatter

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from raydata_ext.feed.rank_batches import RankBatch


class FeedBatch(Mapping[str, Any]):
    """Columns by name, in the format of the stream, and where the rows stand in the order of the epoch.

    Attributes:
        columns: name to values.
        positions: global position of each row in the epoch; int64, shape (rows,).
        mask: True for each row that is to be used, False for one that only fills up the last step; bool, shape (rows,).
            None where all are.
        epoch: number of the epoch.
        step: number of the step in the epoch.
    """

    __slots__ = ("columns", "epoch", "mask", "positions", "step")

    def __init__(
        self,
        columns: Mapping[str, Any],
        positions: NDArray[np.int64],
        mask: NDArray[np.bool_] | None,
        epoch: int,
        step: int,
    ) -> None:
        self.columns = columns
        self.positions = positions
        self.mask = mask
        self.epoch = epoch
        self.step = step

    @property
    def num_rows(self) -> int:
        """Rows."""
        return len(self.positions)

    def __getitem__(self, name: str) -> Any:
        return self.columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __repr__(self) -> str:
        return f"FeedBatch(epoch {self.epoch}, step {self.step}, {self.num_rows} rows, columns {list(self.columns)})"


class BatchFormatter:
    """Puts batches into the format of a stream.

    Args:
        options: keyword arguments of `get_formatter`.
        schema: of the rows, where it is known: a step without rows for a rank still has the columns.
    """

    def __init__(self, options: Mapping[str, Any], schema: pa.Schema | None) -> None:
        self._formatter = get_formatter(**options)
        self._schema = schema

    def format(self, batch: RankBatch, epoch: int) -> FeedBatch:
        """The batch in the format."""
        rows = batch.rows
        if rows is None and self._schema is not None:
            rows = pa.RecordBatch.from_pylist([], schema=self._schema)
        data = {} if rows is None else self._formatter.batch(rows)
        columns = data if isinstance(data, dict) else {name: data[name] for name in _names(data)}
        mask = None if batch.is_padding is None else ~batch.is_padding
        return FeedBatch(columns, batch.positions, mask, epoch, batch.step)


def _names(data: Any) -> list[str]:
    """Column names of Arrow data, or of a DataFrame."""
    return list(data.schema.names if hasattr(data, "schema") else data.columns)
