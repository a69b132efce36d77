"""The operator that does a step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raydata_ext.engine.column_operators import (
    CastOperator,
    NumberOperator,
    RemoveOperator,
    RenameOperator,
    SelectOperator,
)
from raydata_ext.engine.filter_operators import BatchFilterOperator, RowFilterOperator
from raydata_ext.engine.map_operators import BatchMapOperator, RowMapOperator
from raydata_ext.plan import (
    Cast,
    Filter,
    Map,
    Position,
    RemoveColumns,
    RenameColumns,
    RowNumbers,
    SelectColumns,
    Step,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from raydata_ext.engine.step_operator import Operator
    from raydata_ext.engine.trail import Trail
    from raydata_ext.engine.worker import Worker


def make_operator(number: int, worker: Worker, trail: Trail, position: Position) -> Operator:
    """The operator that does a step of a worker's chain.

    Args:
        number: the step's position in the chain, from 0.
        worker: holds the chain and its callables.
        trail: where the rows come from.
        position: where the shard stands.
    """
    step = worker.program.chain.steps[number]
    label = worker.program.chain.label(number)
    if isinstance(step, Map):
        map_kind = BatchMapOperator if step.batched else RowMapOperator
        return map_kind(label, step, number, worker, trail, position)
    if isinstance(step, Filter):
        filter_kind = BatchFilterOperator if step.batched else RowFilterOperator
        return filter_kind(label, step, number, worker, trail, position)
    for step_kind, make in _COLUMN_OPERATORS:
        if isinstance(step, step_kind):
            return make(label, step, trail)
    raise TypeError(f"no operator for {type(step).__name__}")


_COLUMN_OPERATORS: tuple[tuple[type[Step], Callable[..., Operator]], ...] = (
    (SelectColumns, SelectOperator),
    (RemoveColumns, RemoveOperator),
    (RenameColumns, RenameOperator),
    (Cast, CastOperator),
    (RowNumbers, NumberOperator),
)
