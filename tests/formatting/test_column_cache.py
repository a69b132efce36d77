from __future__ import annotations

import pyarrow as pa
import pytest

from raydata_ext.formatting.column_cache import ColumnCache

BATCH = pa.record_batch({"n": [1, 2], "tags": [["p"], []]})


def test_a_column_is_converted_once_and_only_when_asked_for():
    columns = ColumnCache(BATCH, hand_out_lists=False)

    assert dict(columns) == {}
    assert columns["n"] is columns["n"]
    assert dict(columns) == {"n": [1, 2]}
    assert list(columns.names) == ["n", "tags"]


def test_a_column_that_the_batch_lacks_is_a_key_error():
    with pytest.raises(KeyError, match="other"):
        ColumnCache(BATCH, hand_out_lists=False)["other"]


@pytest.mark.parametrize(("hand_out_lists", "watched"), [(False, {"tags"}), (True, {"n", "tags"})])
def test_snapshots_are_kept_of_what_a_user_could_change_in_place(hand_out_lists, watched):
    columns = ColumnCache(BATCH, hand_out_lists=hand_out_lists)
    assert columns["n"]
    assert columns["tags"]

    assert columns.snapshots.keys() == watched
