"""What every operator counts."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from raydata_ext.engine.chunk import Chunk
from raydata_ext.engine.step_operator import Operator
from raydata_ext.engine.trail import Trail
from raydata_ext.errors import PlanError, SchemaError


class FirstRow(Operator):
    """Keeps the first row of each chunk."""

    def apply(self, chunk):
        self.require_columns(chunk, ["n"])
        if chunk.batch.column("n")[0].as_py() == 13:
            raise SchemaError("column `n`: 13 does not fit")
        self.dropped["later"] += chunk.num_rows - 1
        return chunk.slice(0, 1)

    def apply_empty(self, chunk):
        return chunk


@pytest.fixture
def trail():
    return Trail()


def followed(trail, *columns):
    operator = FirstRow("step 1 `first`", trail)
    batches = [("file", pa.record_batch(column)) for column in columns]
    return operator, list(operator.follow(trail.follow(batches)))


def test_rows_in_are_rows_out_and_dropped(trail):
    operator, chunks = followed(trail, {"n": [1, 2, 3]}, {"n": pa.array([], pa.int64())}, {"n": [4, 5]})
    assert [chunk.batch.column("n").to_pylist() for chunk in chunks] == [[1], [], [4]]
    assert (operator.rows_in, operator.rows_out, operator.dropped) == (5, 2, {"later": 3})
    assert operator.seconds > 0


def test_time_and_errors_of_earlier_steps_are_not_its_own(trail):
    def failing():
        yield Chunk(pa.record_batch({"n": [1]}), np.array([0]))
        raise SchemaError("upstream")

    operator = FirstRow("step 2 `first`", trail)
    trail.rows_read = 0
    with pytest.raises(SchemaError, match=r"^upstream$"):
        list(operator.follow(failing()))


def test_an_error_of_types_names_step_and_rows(trail):
    with pytest.raises(SchemaError, match=r"^step 1 `first`: file: rows 2 to 3: column `n`: 13 does not fit"):
        followed(trail, {"n": [1, 2]}, {"n": [13, 14]})


def test_a_missing_column_names_step_rows_and_columns(trail):
    with pytest.raises(
        PlanError, match=r"^step 1 `first`: file: row 0: there is no column 'n'; these rows have \['m'\]"
    ):
        followed(trail, {"m": [1]})
