"""A step of a plan at work on a stream: map, filter and the steps on columns, as the engine does them."""

from __future__ import annotations

import os
import weakref
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, cast

import pyarrow as pa
from typing_extensions import override

from raydata_ext.engine import Program, Worker
from raydata_ext.engine.operators import make_operator
from raydata_ext.engine.trail import Trail
from raydata_ext.errors import PlanError
from raydata_ext.plan import Cast, Chain, Filter, Map, Position, RemoveColumns, RenameColumns, SelectColumns, Step
from raydata_ext.streaming.nodes.base import Bases, Cursor, Node, Wrapper
from raydata_ext.streaming.nodes.gather import open_rows
from raydata_ext.streaming.row_reader import RowReader
from raydata_ext.streaming.rows import BATCH_ROWS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from raydata_ext.engine.step_operator import Operator
    from raydata_ext.store import Store


@dataclass(frozen=True, eq=False)
class Transform(Wrapper):
    """Rows as a step makes them.

    Attributes:
        step: what is done; a step that sees the number of a shard is given 0.
    """

    step: Step

    @property
    def is_row_by_row(self) -> bool:
        """Whether each row becomes one row, whatever its place: so rows may as well be chosen and ordered before."""
        step = self.step
        return step.keeps_row_count and not step.needs_positions

    @property
    @override
    def num_rows(self) -> int | None:
        return self.child.num_rows if self.step.keeps_row_count else None

    @property
    @override
    def schema(self) -> pa.Schema | None:
        if isinstance(self.step, Cast | Map):
            return self.step.schema
        return _schema_after(self.step, self.child.schema)

    @property
    @override
    def settings(self) -> Mapping[str, Any]:
        """The step by name and by what decides on the places of rows; its code may be mended between two runs."""
        settings: dict[str, Any] = {"step": self.step.label}
        if isinstance(self.step, Map | Filter) and self.step.batched:
            settings["batch_size"] = self.step.batch_size
        return settings

    @override
    def typed(self) -> Node:
        return self if isinstance(self.step, Cast | Map) else super().typed()

    @override
    def open(self, bases: Bases | None) -> TransformCursor:
        return TransformCursor(self.step, RowReader(open_rows(self.child, None)))


class TransformCursor(Cursor):
    """A pass that does a step on all rows.

    Args:
        step: the step.
        rows: of the child.
    """

    def __init__(self, step: Step, rows: RowReader) -> None:
        self._step = step
        self._input = rows
        self._index = 0
        self._callables = _Callables.of(step)
        self._operator, self._trail = self._made()

    @override
    def next(self) -> pa.RecordBatch | None:
        rows = self._rows()
        if rows is None:
            return None
        self._index += rows.num_rows
        [result] = self._operator.follow(self._trail.follow([(self._place, rows)]))
        return result.batch

    @override
    def state(self) -> dict[str, Any]:
        return {"index": self._index, "input": self._input.state()}

    @override
    def load(self, state: dict[str, Any]) -> None:
        self._index = state["index"]
        self._input.load(state["input"])
        self._operator, self._trail = self._made()

    def _rows(self) -> pa.RecordBatch | None:
        """The rows that the step is to be given next: a whole batch for its function, else what is at hand."""
        if isinstance(self._step, Map | Filter) and self._step.batched:
            return self._input.read(self._step.batch_size)
        found = self._input.available()
        return self._input.take(min(found, BATCH_ROWS)) if found else None

    def _made(self) -> tuple[Operator, Trail]:
        """An operator that counts rows from the present position on."""
        trail = Trail()
        self._place = f"stream from row {self._index} on" if self._index else "stream"
        return make_operator(0, self._callables.worker, trail, Position(0, self._index)), trail


class _Callables:
    """What a step calls, built once in a process for all passes that are under way at a time, and torn down after them.

    So the groups of a shuffle and the rounds of a repetition share one model.

    Args:
        step: the step.
    """

    _shared: ClassVar[weakref.WeakValueDictionary[tuple[int, Step], _Callables]] = weakref.WeakValueDictionary()

    def __init__(self, step: Step) -> None:
        # A stream keeps no results, so its worker needs no store.
        self.worker = Worker(Program(Chain.of((step,)), cast("Store", None)))
        weakref.finalize(self, self.worker.close)

    @classmethod
    def of(cls, step: Step) -> _Callables:
        """Those of a step; a process that was forked builds its own."""
        key = os.getpid(), step
        found = cls._shared.get(key)
        if found is None:
            found = cls._shared[key] = cls(step)
        return found


def below_row_steps(
    node: Node, make: Callable[[Node], Node], *, only_if: Callable[[Node], bool] = lambda _: True
) -> Node:
    """Put a node that chooses or orders rows below the steps that treat each row for itself.

    The rows are the same, and the steps are not done on rows that are left out; what lies below may have references.

    Args:
        node: what the new node is to be put on.
        make: makes the new node of the one below it.
        only_if: leave it on top where this is not so of what lies below the steps.
    """
    steps: list[Transform] = []
    lowest = node
    while isinstance(lowest, Transform) and lowest.is_row_by_row:
        steps.append(lowest)
        lowest = lowest.child
    if not only_if(lowest):
        return make(node)
    made = make(lowest)
    for step in reversed(steps):
        made = replace(step, child=made)
    return made


def _schema_after(step: Step, schema: pa.Schema | None) -> pa.Schema | None:
    if schema is None or isinstance(step, Filter):
        return schema
    if isinstance(step, SelectColumns):
        _require_columns(step, step.columns, schema)
        return pa.schema([schema.field(name) for name in step.columns])
    if isinstance(step, RemoveColumns):
        _require_columns(step, step.columns, schema)
        return pa.schema([field for field in schema if field.name not in step.columns])
    if isinstance(step, RenameColumns):
        names = dict(step.names)
        _require_columns(step, names, schema)
        return pa.schema([field.with_name(names.get(field.name, field.name)) for field in schema])
    return None


def _require_columns(step: Step, columns: Iterable[str], schema: pa.Schema) -> None:
    for column in columns:
        if column not in schema.names:
            raise PlanError(f"{step.label}: there is no column {column!r}; these rows have {schema.names}")
