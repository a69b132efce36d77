from __future__ import annotations

import pyarrow as pa
import pytest

from raydata_ext.formatting import LazyBatch

BATCH = pa.record_batch({"a": [1, 2, 3], "text": ["x", None, "z"], "tags": [["p"], [], None]})


def test_columns_are_python_lists():
    assert dict(LazyBatch(BATCH)) == BATCH.to_pydict()
    assert LazyBatch(BATCH).num_rows == 3


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda batch: batch["a"].__setitem__(0, True), {"a": [True, 2, 3]}),
        (lambda batch: batch["text"].reverse(), {"text": ["z", None, "x"]}),
        (lambda batch: batch["a"].append(4), {"a": [1, 2, 3, 4]}),
        (lambda batch: batch["tags"][1].append("q"), {"tags": [["p"], ["q"], None]}),
        (lambda batch: batch["a"].sort(), {}),
        (lambda batch: batch.update(a=[0, 0, 0]), {"a": [0, 0, 0]}),
    ],
)
def test_lists_changed_in_place_are_changes_and_others_pass_on_untouched(change, expected):
    batch = LazyBatch(BATCH)

    change(batch)

    assert batch.changes() == expected


def test_an_empty_batch_has_its_columns_as_empty_lists():
    assert dict(LazyBatch(BATCH.slice(0, 0))) == {"a": [], "text": [], "tags": []}
