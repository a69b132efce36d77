"""Each step has its operator."""

from __future__ import annotations

import pyarrow as pa
import pytest

from raydata_ext.engine import Program, Worker
from raydata_ext.engine.operators import make_operator
from raydata_ext.engine.trail import Trail
from raydata_ext.plan import (
    Cast,
    Chain,
    Filter,
    Map,
    Position,
    RemoveColumns,
    RenameColumns,
    SelectColumns,
    Step,
    UserFunction,
)
from raydata_ext.store import Store

FUNCTION = UserFunction(len)
STEPS = {
    "RowMapOperator": Map(FUNCTION),
    "BatchMapOperator": Map(FUNCTION, batched=True),
    "RowFilterOperator": Filter(FUNCTION),
    "BatchFilterOperator": Filter(FUNCTION, batched=True),
    "SelectOperator": SelectColumns(("a",)),
    "RemoveOperator": RemoveColumns(("a",)),
    "RenameOperator": RenameColumns((("a", "b"),)),
    "CastOperator": Cast(pa.schema([])),
}


@pytest.mark.parametrize("name", STEPS)
def test_a_step_gets_its_operator_and_is_named_by_its_place_in_the_chain(name, tmp_path):
    worker = Worker(Program(Chain((SelectColumns(("a",)), STEPS[name]), (2,)), Store.open(tmp_path)))
    operator = make_operator(1, worker, Trail(), Position(0, 0))
    assert type(operator).__name__ == name
    assert operator.label == f"step 2 `{STEPS[name].label}`"


def test_an_unknown_step_is_an_error(tmp_path):
    class Dance(Step):
        label = "dance"
        fingerprint = None

    worker = Worker(Program(Chain((Dance(),), (1,)), Store.open(tmp_path)))
    with pytest.raises(TypeError, match="no operator for Dance"):
        make_operator(0, worker, Trail(), Position(0, 0))
