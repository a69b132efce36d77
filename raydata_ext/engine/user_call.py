"""Calling a user's function: its arguments, and what is said when it raises."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from raydata_ext.engine.chunk import Chunk
from raydata_ext.engine.step_operator import Operator, check_columns
from raydata_ext.engine.trail import Trail
from raydata_ext.errors import StepError
from raydata_ext.plan import Filter, Map, Position


class FunctionOperator(Operator):
    """What the operators of map and filter share.

    Args:
        label: the step as messages name it.
        step: the step.
        function: what is called.
        trail: where the rows come from.
        position: where the shard stands.
    """

    def __init__(
        self, label: str, step: Map | Filter, function: Callable[..., Any], trail: Trail, position: Position
    ) -> None:
        super().__init__(label)
        self._function = function
        self._trail = trail
        self._input_columns = step.input_columns
        self._next_index = (position.first_row or 0) if step.with_indices else None
        self._last: tuple[int, ...] = (position.index,) if isinstance(step, Map) and step.with_rank else ()

    def call_row(self, origin: int, *values: Any) -> Any:
        """Call the function on one row, given as a mapping or as the values of the input columns."""
        index = self._take_indices(1)
        try:
            return self._function(*values, *index, *self._last)
        except Exception as error:
            raise self._trail.failure(self.label, (origin,), error) from error

    def call_batch(self, chunk: Chunk, *values: Any) -> Any:
        """Call the function on one batch, given as one value or as the input columns."""
        first = self._take_indices(chunk.num_rows)
        indices = [list(range(first[0], first[0] + chunk.num_rows))] if first else []
        try:
            return self._function(*values, *indices, *self._last)
        except Exception as error:
            raise self._trail.failure(self.label, ends(chunk), error) from error

    def check_input(self, batch: pa.RecordBatch) -> None:
        """Raise where an input column is missing."""
        if self._input_columns is not None:
            check_columns(self.label, batch, self._input_columns)

    def wrong_result(self, origins: Sequence[int], result: object, expected: str) -> StepError:
        """What to raise where the function returned something that cannot be used."""
        kind = type(result).__name__
        return StepError(f"{self.label}: {self._trail.place(origins)}: the function returned {kind}; {expected}")

    def misfit(self, chunk: Chunk, error: Exception) -> StepError:
        """What to raise where returned values do not make columns."""
        return StepError(f"{self.label}: {self._trail.place(ends(chunk))}: {error}")

    def _take_indices(self, count: int) -> tuple[int, ...]:
        if self._next_index is None:
            return ()
        first = self._next_index
        self._next_index += count
        return (first,)


def ends(chunk: Chunk) -> tuple[int, int]:
    """The origins of the first and the last row."""
    return int(chunk.origins[0]), int(chunk.origins[-1])
