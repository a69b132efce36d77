from __future__ import annotations

import copy

import pyarrow as pa
import pytest

from raydata_ext.formatting.in_place import is_mutable, is_unchanged, snapshot

NESTED = {"a": [[1, 2], [3.5, float("nan")]], "b": [{"c": ["x"]}, None], "m": [("k", [1])]}


def test_values_left_alone_are_unchanged_also_with_nan():
    value = copy.deepcopy(NESTED)

    assert is_unchanged(value, snapshot(value))


@pytest.mark.parametrize(
    "change",
    [
        lambda value: value["a"].append([]),
        lambda value: value["a"][1].pop(),
        lambda value: value["b"][0]["c"].__setitem__(0, "y"),
        lambda value: value["b"][0].update(d=1),
        lambda value: value["b"].reverse(),
        lambda value: value.pop("a"),
        lambda value: value["a"][0].__setitem__(0, True),  # equals 1
        lambda value: value["a"][0].__setitem__(0, 1.0),  # equals 1
        lambda value: value["a"].__setitem__(1, None),
        lambda value: value["a"][0].reverse(),
        lambda value: value["a"][1].__setitem__(0, 4.5),
        lambda value: value["m"][0][1].append(2),
        lambda value: value.update(a=value.pop("a")),  # the order of keys
    ],
)
def test_a_change_at_any_depth_is_seen(change):
    value = copy.deepcopy(NESTED)
    before = snapshot(value)

    change(value)

    assert not is_unchanged(value, before)


def test_only_containers_can_be_changed_in_place():
    assert is_mutable(pa.list_(pa.int8()))
    assert is_mutable(pa.struct([("a", pa.int8())]))
    assert not is_mutable(pa.string())
    assert not is_mutable(pa.int64())
