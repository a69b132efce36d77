"""The operator that does a step."""

from __future__ import annotations

from collections.abc import Callable

from raydata_ext.engine.column_operators import CastOperator, RemoveOperator, RenameOperator, SelectOperator
from raydata_ext.engine.filter_operators import BatchFilterOperator, RowFilterOperator
from raydata_ext.engine.map_operators import BatchMapOperator, RowMapOperator
from raydata_ext.engine.step_operator import Operator
from raydata_ext.engine.trail import Trail
from raydata_ext.plan import Cast, Filter, Map, Position, RemoveColumns, RenameColumns, SelectColumns, Step


def make_operator(
    step: Step, number: int, build: Callable[[int], Callable[..., object]], trail: Trail, position: Position
) -> Operator:
    """The operator that does a step.

    Args:
        step: the step.
        number: its position in the chain, from 0.
        build: gives the callable of a step.
        trail: where the rows come from.
        position: where the shard stands.
    """
    label = f"step {number + 1} `{step.label}`"
    if isinstance(step, Map):
        kind = BatchMapOperator if step.batched else RowMapOperator
        return kind(label, step, build(number), trail, position)
    if isinstance(step, Filter):
        selects = BatchFilterOperator if step.batched else RowFilterOperator
        return selects(label, step, build(number), trail, position)
    for kind_of_step, operator in _COLUMN_OPERATORS:
        if isinstance(step, kind_of_step):
            return operator(label, step)
    raise TypeError(f"no operator for {type(step).__name__}")


_COLUMN_OPERATORS: tuple[tuple[type[Step], Callable[..., Operator]], ...] = (
    (SelectColumns, SelectOperator),
    (RemoveColumns, RemoveOperator),
    (RenameColumns, RenameOperator),
    (Cast, CastOperator),
)
