"""Calling a user's function: its arguments, and what is said when it raises."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from raydata_ext.engine.event_loop import Outcome
from raydata_ext.engine.step_operator import Operator
from raydata_ext.engine.trail import Trail, users_traceback
from raydata_ext.errors import StepError
from raydata_ext.plan import Filter, Map

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from raydata_ext.engine.chunk import Chunk, Origins
    from raydata_ext.engine.worker import Worker
    from raydata_ext.plan import Position

ROWS_AT_A_TIME = 1000
"""Rows that a row-wise step takes at a time: so many are Python objects at once, however large chunks are."""


class FunctionOperator(Operator):
    """What the operators of map and filter share.

    Args:
        label: the step as messages name it.
        step: the step.
        number: its position in the chain.
        worker: holds the callable.
        trail: where the rows come from.
        position: where the shard stands.
    """

    def __init__(
        self, label: str, step: Map | Filter, number: int, worker: Worker, trail: Trail, position: Position
    ) -> None:
        super().__init__(label, trail)
        self.input_columns = step.input_columns
        self._function = worker.callable(number)
        self._worker = worker
        self._with_indices = step.with_indices
        self._next_index = position.first_row or 0
        self._rank = position.index if isinstance(step, Map) and step.with_rank else None

    def call_rows(self, chunk: Chunk, columns: Sequence[Iterable[Any]]) -> list[Any]:
        """Call the function on each row.

        Args:
            chunk: the rows.
            columns: for each positional argument, its values for all rows.

        Returns:
            What it returned for each row.

        Raises:
            StepError: it raised.
        """
        rows = chunk.num_rows
        arguments = [*columns]
        if self._with_indices:
            arguments.append(self._take_indices(rows))
        if self._rank is not None:
            arguments.append([self._rank] * rows)
        calls = zip(*arguments, strict=True) if arguments else [()] * rows
        return self._call_each(calls, chunk.origins, 1)

    def call_batch(self, chunk: Chunk, values: Sequence[Any]) -> Any:
        """Call the function on one batch.

        Args:
            chunk: the rows.
            values: the positional arguments.

        Raises:
            StepError: it raised.
        """
        arguments = [*values]
        if self._with_indices:
            arguments.append(list(self._take_indices(chunk.num_rows)))
        if self._rank is not None:
            arguments.append(self._rank)
        return self._call_each([arguments], chunk.origins, chunk.num_rows)[0]

    def wrong_result(self, origins: Origins, result: object, expected: str) -> StepError:
        """What to raise where the function returned something that cannot be used."""
        kind = type(result).__name__
        return StepError(f"{self.label}: {self.trail.place(origins)}: the function returned {kind}; {expected}")

    def _call_each(self, calls: Iterable[Sequence[Any]], origins: Origins, rows_each: int) -> list[Any]:
        results = self._results(self._function, calls, origins, rows_each)
        if results and inspect.iscoroutine(results[0]):
            outcomes = self._worker.await_all(results)
            return self._results(Outcome.get, [(outcome,) for outcome in outcomes], origins, rows_each)
        return results

    def _results(
        self, function: Callable[..., Any], calls: Iterable[Sequence[Any]], origins: Origins, rows_each: int
    ) -> list[Any]:
        results: list[Any] = []
        try:
            for arguments in calls:
                results.append(function(*arguments))  # noqa: PERF401 - how many there are says which call raised
        except Exception as error:
            failed = origins[len(results) * rows_each :][:rows_each]
            place, kind = self.trail.place(failed), type(error).__name__
            raise StepError(f"{self.label}: {place}: {kind}: {error}\n{users_traceback(error)}") from error
        return results

    def _take_indices(self, count: int) -> range:
        first = self._next_index
        self._next_index += count
        return range(first, first + count)
