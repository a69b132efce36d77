"""Filter at work: a decision a row, as a bool, a mask, or `(False, "reason")`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from raydata_ext.engine.chunk import Chunk
from raydata_ext.engine.trail import Trail
from raydata_ext.engine.user_call import FunctionOperator, ends
from raydata_ext.formatting import LazyBatch, RowCursor, get_formatter
from raydata_ext.plan import Filter, Position

_BOOLS = (bool, np.bool_)


class _FilterOperator(FunctionOperator):
    """What both ways of filtering share: nothing is asked of no rows, and rows go by a mask."""

    def apply_empty(self, chunk: Chunk) -> Chunk:
        return chunk

    def _kept(self, chunk: Chunk, keep: npt.NDArray[np.bool_]) -> Chunk:
        if keep.all():
            return chunk
        return Chunk(chunk.batch.filter(pa.array(keep)), chunk.origins[keep])

    def _decision(self, origins: Sequence[int], answer: Any) -> bool:
        """One answer as a bool; a reason is counted."""
        if isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[1], str):  # noqa: PLR2004 - (bool, reason)
            answer, reason = answer
        else:
            reason = ""
        if not isinstance(answer, _BOOLS) and getattr(answer, "ndim", None) != 0:
            raise self.wrong_result(origins, answer, 'expected is a bool, or (False, "reason")')
        if not answer:
            self.dropped[reason] += 1
        return bool(answer)


class RowFilterOperator(_FilterOperator):
    """Calls the function once a row."""

    def apply(self, chunk: Chunk) -> Chunk:
        self.check_input(chunk.batch)
        cursor = RowCursor(chunk.batch)
        columns = None if self._input_columns is None else [cursor.values(name) for name in self._input_columns]
        keep = np.empty(chunk.num_rows, dtype=np.bool_)
        for number, origin in enumerate(chunk.origins.tolist()):
            values = (cursor.row(number),) if columns is None else tuple(column[number] for column in columns)
            keep[number] = self._decision((origin,), self.call_row(origin, *values))
        return self._kept(chunk, keep)


class BatchFilterOperator(_FilterOperator):
    """Calls the function once a batch; it returns a bool for each row."""

    def __init__(
        self, label: str, step: Filter, function: Callable[..., Any], trail: Trail, position: Position
    ) -> None:
        super().__init__(label, step, function, trail, position)
        self.batch_rows = step.batch_size
        self._formatter = None if step.batch_format == "python" else get_formatter(step.batch_format)

    def apply(self, chunk: Chunk) -> Chunk:
        self.check_input(chunk.batch)
        batch = LazyBatch(chunk.batch) if self._formatter is None else self._formatter.batch(chunk.batch)
        values = (batch,) if self._input_columns is None else tuple(batch[name] for name in self._input_columns)
        return self._kept(chunk, self._mask(chunk, self.call_batch(chunk, *values)))

    def _mask(self, chunk: Chunk, answers: Any) -> npt.NDArray[np.bool_]:
        if isinstance(answers, pa.Array | pa.ChunkedArray):
            answers = answers.to_numpy(zero_copy_only=False)
        if not hasattr(answers, "__len__") or isinstance(answers, str | bytes | dict):
            raise self.wrong_result(ends(chunk), answers, "a batched filter returns a list or array of bools")
        if len(answers) != chunk.num_rows:
            expected = f"with {len(answers)} answers for {chunk.num_rows} rows; a batched filter returns a bool for each row"
            raise self.wrong_result(ends(chunk), answers, expected)
        if isinstance(answers, np.ndarray) and answers.dtype == np.bool_ and answers.ndim == 1:
            if count := chunk.num_rows - int(np.count_nonzero(answers)):
                self.dropped[""] += count
            return answers
        decisions = [
            self._decision((origin,), answer)
            for origin, answer in zip(chunk.origins.tolist(), answers, strict=True)
        ]
        return np.array(decisions, dtype=np.bool_)
