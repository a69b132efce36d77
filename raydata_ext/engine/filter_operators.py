"""Filter at work: a decision a row, as a bool, a mask, or `(False, "reason")`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from raydata_ext.engine.chunk import Chunk, rebatched, split
from raydata_ext.engine.given_batch import given_batch
from raydata_ext.engine.user_call import ROWS_AT_A_TIME, FunctionOperator
from raydata_ext.formatting import RowCursor
from raydata_ext.table import take_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from raydata_ext.engine.trail import Trail
    from raydata_ext.engine.worker import Worker
    from raydata_ext.plan import Filter, Position

_EXPECTED = 'a filter answers with a bool, or (False, "reason"), for each row'


class _FilterOperator(FunctionOperator):
    """What both ways of filtering share: nothing is asked of no rows, and rows go by a mask."""

    def apply_empty(self, chunk: Chunk) -> Chunk:
        """The function is not called; see `Operator.apply_empty`."""
        return chunk

    def _kept(self, chunk: Chunk, keep: npt.NDArray[np.bool_]) -> Chunk:
        if keep.all():
            return chunk
        return Chunk(take_rows(chunk.batch, np.flatnonzero(keep)), chunk.origins[keep])

    def _mask(self, chunk: Chunk, answers: Iterable[Any]) -> npt.NDArray[np.bool_]:
        """The answers as a mask; what is left out is counted, by reason."""
        reasons: Counter[str] = Counter()
        decisions = [
            answer if answer.__class__ is bool else self._decision(chunk, number, answer, reasons)
            for number, answer in enumerate(answers)
        ]
        keep = np.array(decisions, dtype=np.bool_)
        if unexplained := chunk.num_rows - int(np.count_nonzero(keep)) - reasons.total():
            reasons[""] = unexplained
        self.dropped.update(reasons)
        return keep

    def _decision(self, chunk: Chunk, number: int, answer: Any, reasons: Counter[str]) -> bool:
        """An answer that is no plain bool as one; its reason is counted."""
        reason = ""
        if isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[1], str):  # noqa: PLR2004 - (bool, str)
            answer, reason = answer
        if not _is_bool(answer):
            raise self.wrong_result(chunk.origins[number : number + 1], answer, _EXPECTED)
        if reason and not answer:
            reasons[reason] += 1
        return bool(answer)


class RowFilterOperator(_FilterOperator):
    """Calls the function once a row."""

    def cut(self, chunks: Iterable[Chunk]) -> Iterable[Chunk]:
        """Few rows at a time; see `Operator.cut`."""
        return split(chunks, ROWS_AT_A_TIME)

    def apply(self, chunk: Chunk) -> Chunk:
        """Ask for each row; see `Operator.apply`."""
        self.require_columns(chunk, self.input_columns or ())
        cursor = RowCursor(chunk.batch)
        columns = [cursor] if self.input_columns is None else [cursor.values(name) for name in self.input_columns]
        answers = self.call_rows(chunk, columns)
        if self._failed:
            spared = self._spared(chunk)
            chunk, answers = chunk.without(self._failed), [answers[number] for number in spared]
        return self._kept(chunk, self._mask(chunk, answers))


class BatchFilterOperator(_FilterOperator):
    """Calls the function once a batch; it returns an answer for each row."""

    def __init__(self, label: str, step: Filter, number: int, worker: Worker, trail: Trail, position: Position) -> None:
        super().__init__(label, step, number, worker, trail, position)
        self._batch_rows = step.batch_size
        self._format = step.batch_format

    def cut(self, chunks: Iterable[Chunk]) -> Iterable[Chunk]:
        """Batches of the step's size; see `Operator.cut`."""
        return rebatched(chunks, self._batch_rows, self.trail.place)

    def apply(self, chunk: Chunk) -> Chunk:
        """Ask for the batch; see `Operator.apply`."""
        self.require_columns(chunk, self.input_columns or ())
        given = given_batch(chunk.batch, self._format, self.input_columns)
        values = [given] if self.input_columns is None else [given[name] for name in self.input_columns]
        return self._kept(chunk, self._mask(chunk, self._answers(chunk, self.call_batch(chunk, values))))

    def _answers(self, chunk: Chunk, returned: Any) -> Sequence[Any]:
        """What the function returned, as one answer a row."""
        if hasattr(returned, "to_pylist"):
            answers = returned.to_pylist()  # Arrow
        elif hasattr(returned, "tolist"):
            answers = returned.tolist()  # numpy, torch, pandas
        else:
            answers = returned
        if not isinstance(answers, list | tuple):
            raise self.wrong_result(chunk.origins, returned, f"{_EXPECTED}, in a list, array or Arrow array")
        if len(answers) != chunk.num_rows:
            expected = f"these are {len(answers)} answers for {chunk.num_rows} rows; {_EXPECTED}"
            raise self.wrong_result(chunk.origins, returned, expected)
        return answers


def _is_bool(answer: Any) -> bool:
    """Whether this is a bool, also one of numpy, torch or Arrow."""
    if isinstance(answer, bool | np.bool_):
        return True
    if isinstance(answer, pa.BooleanScalar):
        return bool(answer.is_valid)
    return getattr(answer, "ndim", None) == 0 and str(getattr(answer, "dtype", "")) in {"bool", "torch.bool"}
