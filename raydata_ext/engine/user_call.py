"""Calling a user's function: its arguments, and what is said when it raises."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from raydata_ext.engine.event_loop import Outcome
from raydata_ext.engine.failure_text import described, is_failure
from raydata_ext.engine.step_operator import Operator
from raydata_ext.errors import StepError
from raydata_ext.plan import Filter, Map

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from raydata_ext.engine.chunk import Chunk, Origins
    from raydata_ext.engine.trail import Trail
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
        self._first_row = position.first_row
        self._rows_before = 0  # rows that were given indices, where they are counted
        self._rank = position.index if isinstance(step, Map) and step.with_rank else None

    def call_rows(self, chunk: Chunk, columns: Sequence[Iterable[Any]]) -> list[Any]:
        """Call the function on each row.

        Args:
            chunk: the rows.
            columns: for each positional argument, its values for all rows.

        Returns:
            What it returned for each row; where bad rows are set aside, those that it raised for are in `_failed`.

        Raises:
            StepError: it raised.
        """
        rows = chunk.num_rows
        arguments = [*columns]
        if self._with_indices:
            arguments.append(self._indices(chunk))
        if self._rank is not None:
            arguments.append([self._rank] * rows)
        calls = zip(*arguments, strict=True) if arguments else [()] * rows
        return self._call_each(calls, chunk, 1, spare=self.quarantine is not None)

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
            arguments.append(self._indices(chunk))
        if self._rank is not None:
            arguments.append(self._rank)
        return self._call_each([arguments], chunk, chunk.num_rows, spare=False)[0]

    def wrong_result(self, origins: Origins, result: object, expected: str) -> StepError:
        """What to raise where the function returned something that cannot be used."""
        kind = type(result).__name__
        return StepError(f"{self.label}: {self.trail.place(origins)}: the function returned {kind}; {expected}")

    def _call_each(self, calls: Iterable[Sequence[Any]], chunk: Chunk, rows_each: int, *, spare: bool) -> list[Any]:
        if self.watch is not None:
            with self.watch:
                watched = self.watch.marked(calls, chunk, rows_each)
                return self._results(self._call_and_wait, watched, chunk.origins, rows_each, spare)
        results = self._results(self._function, calls, chunk.origins, rows_each, spare)
        called = [number for number in range(len(results)) if number not in self._failed] if self._failed else [0]
        if results and called and inspect.iscoroutine(results[called[0]]):
            numbers = called if self._failed else range(len(results))
            outcomes = dict(zip(numbers, self._worker.await_all([results[number] for number in numbers]), strict=True))
            values = [(outcomes.get(number, _NO_OUTCOME),) for number in range(len(results))]
            return self._results(Outcome.get, values, chunk.origins, rows_each, spare)
        return results

    def _call_and_wait(self, *arguments: Any) -> Any:
        """Call the function and wait for its result, so that nothing else runs meanwhile."""
        result = self._function(*arguments)
        return self._worker.await_all([result])[0].get() if inspect.iscoroutine(result) else result

    def _results(
        self,
        function: Callable[..., Any],
        calls: Iterable[Sequence[Any]],
        origins: Origins,
        rows_each: int,
        spare: bool,
    ) -> list[Any]:
        results: list[Any] = []
        waiting = iter(calls)
        while True:
            try:
                for arguments in waiting:
                    results.append(function(*arguments))  # noqa: PERF401 - how many there are says which call raised
            except BaseException as error:
                if not is_failure(error):
                    raise
                failed = origins[len(results) * rows_each :][:rows_each]
                failure = StepError(f"{self.label}: {self.trail.place(failed)}: {described(error)}")
                if not spare:
                    raise failure from error
                failure.__cause__ = error
                self._failed[len(results)] = failure
                results.append(None)
            else:
                return results

    def _spared(self, chunk: Chunk) -> list[int]:
        """Positions of the rows that the function did not raise for."""
        return [number for number in range(chunk.num_rows) if number not in self._failed]

    def _indices(self, chunk: Chunk) -> list[int]:
        """Global numbers of rows: their own where it is known how many there are before, else they are counted."""
        if self._first_row is not None:
            return (chunk.origins + self._first_row).tolist()  # type: ignore[no-any-return]  # numpy's stubs say Any
        self._rows_before += chunk.num_rows
        return list(range(self._rows_before - chunk.num_rows, self._rows_before))


_NO_OUTCOME = Outcome()
"""Stands where there was no call to wait for."""
