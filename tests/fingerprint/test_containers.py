"""Containers and values of the standard library."""

from __future__ import annotations

import array
import datetime as dt
import decimal
import fractions
import logging
import re
import types
import typing
import uuid
import zoneinfo
from collections import Counter, OrderedDict, defaultdict, deque
from pathlib import Path, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raydata_ext.fingerprint import hash_value

UTC = dt.timezone.utc
NAIVE = dt.datetime(2020, 1, 1, tzinfo=UTC).replace(tzinfo=None)
DIFFERENT = [
    [],
    (),
    {},
    set(),
    frozenset(),
    deque(),
    deque(maxlen=3),
    [1, 2],
    [2, 1],
    (1, 2),
    [1, [2]],
    [[1], 2],
    {1, 2},
    frozenset({1, 2}),
    {"a": 1},
    {"a": "1"},
    {1: "a"},
    {(1, 2): "a"},
    OrderedDict(a=1),
    Counter(a=1),
    defaultdict(int, a=1),
    defaultdict(list, a=1),
    types.MappingProxyType({"a": 1}),
    types.SimpleNamespace(a=1),
    types.SimpleNamespace(a=2),
    range(3),
    range(4),
    slice(3),
    slice(0, 3),
    bytearray(b"a"),
    memoryview(b"a"),
    b"a",
    "a",
    array.array("i", [1]),
    array.array("q", [1]),
    dt.date(2020, 1, 1),
    NAIVE,
    dt.datetime(2020, 1, 1, tzinfo=UTC),
    dt.datetime(2020, 1, 1, tzinfo=zoneinfo.ZoneInfo("UTC")),
    NAIVE.replace(fold=1),
    dt.time(1),
    dt.timedelta(1),
    dt.timedelta(0, 1),
    UTC,
    dt.timezone(dt.timedelta(hours=1)),
    decimal.Decimal("1.0"),
    decimal.Decimal("1.00"),
    decimal.Decimal("NaN"),
    fractions.Fraction(1, 3),
    uuid.UUID(int=1),
    re.compile("a"),
    re.compile("a", re.IGNORECASE),
    re.compile(b"a"),
    Path("a/b"),
    Path("a/c"),
    logging.getLogger("a"),
    logging.getLogger("b"),
    list[int],
    list[str],
    int | str,
    typing.Literal[1],
    typing.Any,
    None,
    ...,
    NotImplemented,
    True,
    1,
    1.0,
]


def test_different_values_have_different_fingerprints():
    digests = [hash_value(value) for value in DIFFERENT]
    assert len(set(digests)) == len(DIFFERENT)
    assert digests == [hash_value(value) for value in DIFFERENT]


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(), st.binary()),
    lambda inner: st.one_of(
        st.lists(inner), st.tuples(inner, inner), st.dictionaries(st.text(), inner), st.frozensets(st.integers())
    ),
    max_leaves=8,
)


def typed(value):
    """A representation that tells types apart."""
    if isinstance(value, dict):
        return ("dict", tuple((key, typed(item)) for key, item in value.items()))
    if isinstance(value, frozenset):
        return ("frozenset", tuple(sorted(value)))
    if isinstance(value, (list, tuple)):
        return (type(value).__name__, tuple(map(typed, value)))
    return (type(value).__name__, repr(value))


@given(VALUES, VALUES)
def test_fingerprints_are_equal_exactly_for_equal_content(first, second):
    assert (hash_value(first) == hash_value(second)) == (typed(first) == typed(second))


@given(st.lists(st.one_of(st.integers(), st.text(), st.tuples(st.integers(), st.text()))))
def test_the_order_in_which_a_set_was_filled_has_no_part(items):
    turned = items[::-1]
    assert hash_value(set(items)) == hash_value(set(turned))
    assert hash_value(frozenset(items)) == hash_value(frozenset(turned))


@pytest.mark.parametrize("count", [3, 100])
def test_large_and_small_containers_tell_one_changed_item(count):
    for kind in (list, tuple, set, frozenset, deque):
        assert hash_value(kind(range(count))) == hash_value(kind(range(count)))
        assert hash_value(kind(range(count))) != hash_value(kind([*range(count - 1), -1]))
    mapping = dict.fromkeys(range(count), "x")
    assert hash_value(mapping) != hash_value({**mapping, 1: "y"})
    assert hash_value(defaultdict(int, mapping)) != hash_value(defaultdict(str, mapping))


def test_the_order_of_a_dict_counts_because_iteration_shows_it():
    assert hash_value({"a": 1, "b": 2}) != hash_value({"b": 2, "a": 1})


def test_whether_equal_values_are_one_object_or_several_has_no_part():
    shared = [1, 2]
    assert hash_value([shared, shared]) == hash_value([[1, 2], [1, 2]])
    assert hash_value({"a": shared, "b": (shared,)}) == hash_value({"a": [1, 2], "b": ([1, 2],)})


def test_cycles_and_deep_nesting_end():
    first, second = [1], [1]
    first.append(first)
    second.append(second)
    assert hash_value(first) == hash_value(second) != hash_value([1, [1]])
    mapping = {}
    mapping["self"] = [mapping]
    assert len(hash_value(mapping)) == 32
    deep = None
    for index in range(20_000):
        deep = [deep, index]
    assert len(hash_value(deep)) == 32


def test_subclasses_of_containers_count_with_their_class():
    class Words(list):
        pass

    class Table(dict):
        pass

    class Names(set):
        pass

    class Kind(str):
        __slots__ = ()

    pairs = [(Words([1]), Words([2]), [1]), (Table(a=1), Table(a=2), {"a": 1}), (Names("a"), Names("b"), {"a"})]
    for value, other, plain in [*pairs, (Kind("a"), Kind("b"), "a")]:
        assert hash_value(value) == hash_value(type(value)(value))
        assert len({hash_value(value), hash_value(other), hash_value(plain)}) == 3
    assert hash_value(Names(["a", "b", "c"])) == hash_value(Names(["c", "b", "a"]))


def test_a_path_counts_as_its_text():
    assert hash_value(Path("a") / "b") == hash_value(Path("a/b"))
    assert hash_value(PureWindowsPath("a\\b")) == hash_value(Path("a/b"))


def test_non_contiguous_views_of_bytes_are_hashed():
    assert hash_value(memoryview(b"abcdef")[::2]) == hash_value(memoryview(b"ace"))
