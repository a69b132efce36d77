"""Gathered rows are the rows asked for, of any type, cut and sliced in any way, and in one contiguous batch."""

from __future__ import annotations

import datetime as dt
import decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.errors import CorruptFileError
from raydata_ext.table import InMemoryTable, RowIndex

FIELDS = [
    pa.int8(), pa.uint16(), pa.int32(), pa.float64(), pa.float16(), pa.bool_(), pa.null(),
    pa.string(), pa.large_string(), pa.binary(), pa.large_binary(), pa.binary(5), pa.binary(8),
    pa.decimal128(20, 3), pa.decimal256(50, 3), pa.date32(), pa.date64(), pa.time64("us"), pa.timestamp("ns", "UTC"),
    pa.duration("ms"), pa.month_day_nano_interval(),
    pa.list_(pa.int16()), pa.list_(pa.string()), pa.large_list(pa.bool_()), pa.list_(pa.list_(pa.float32())),
    pa.list_(pa.int32(), 3), pa.list_(pa.string(), 2), pa.list_(pa.null()),
    pa.struct([("a", pa.int64()), ("b", pa.struct([("c", pa.list_(pa.string()))]))]), pa.struct([]),
    pa.list_(pa.struct([("x", pa.string()), ("y", pa.decimal128(5, 1))])),
    pa.map_(pa.string(), pa.list_(pa.int8())),
    pa.dictionary(pa.int8(), pa.string()), pa.list_(pa.dictionary(pa.int32(), pa.string())),
    pa.string_view(), pa.binary_view(), pa.list_view(pa.int64()),
    pa.bool8(), pa.uuid(), pa.json_(pa.string()), pa.fixed_shape_tensor(pa.float32(), [2, 2]),
]  # fmt: skip


def value(data_type: pa.DataType, random: np.random.Generator):  # noqa: C901, PLR0911, PLR0912  # a case for each type
    """Return a random Python value of a type, or None."""
    if random.random() < 0.2 or pa.types.is_null(data_type):
        return None
    t = pa.types
    small = int(random.integers(0, 100))
    if isinstance(data_type, pa.BaseExtensionType):
        if isinstance(data_type, pa.UuidType):
            return random.bytes(16)
        return value(data_type.storage_type, random)
    if t.is_boolean(data_type):
        return bool(small % 2)
    if t.is_string(data_type) or t.is_large_string(data_type) or t.is_string_view(data_type):
        return "ä€x"[: small % 4] * (small % 9)
    if t.is_fixed_size_binary(data_type):
        return random.bytes(data_type.byte_width)
    if t.is_binary(data_type) or t.is_large_binary(data_type) or t.is_binary_view(data_type):
        return random.bytes(small % 20)
    if t.is_decimal(data_type):
        return decimal.Decimal(small) / 10
    if t.is_dictionary(data_type):
        return f"word {small % 5}"
    if t.is_fixed_size_list(data_type):
        return [value(data_type.value_type, random) for _ in range(data_type.list_size)]
    if t.is_struct(data_type):
        return {field.name: value(field.type, random) for field in data_type}
    if t.is_map(data_type):
        return [(f"k{i}", value(data_type.item_type, random)) for i in range(small % 3)]
    if t.is_nested(data_type):
        return [value(data_type.value_type, random) for _ in range(small % 4)]
    if t.is_date(data_type):
        return dt.date(2000, 1, 1) + dt.timedelta(days=small)
    if t.is_time(data_type):
        return dt.time(small % 24)
    if t.is_timestamp(data_type):
        return dt.datetime(2000, 1, 1, tzinfo=dt.timezone.utc) + dt.timedelta(hours=small)
    if t.is_duration(data_type):
        return dt.timedelta(seconds=small)
    if t.is_interval(data_type):
        return pa.MonthDayNano([1, small, 3])
    return float(small) if t.is_floating(data_type) else small


def array(data_type: pa.DataType, length: int, random: np.random.Generator) -> pa.Array:
    """Return a random array, as a slice of a longer one; with or without nulls."""
    before, after = (int(n) for n in random.integers(0, 12, 2))
    values = [value(data_type, random) for _ in range(before + length + after)]
    if random.random() < 0.3 and not pa.types.is_null(data_type):
        known = next((v for v in values if v is not None), None)
        values = [known if v is None else v for v in values]
    storage = data_type.storage_type if isinstance(data_type, pa.BaseExtensionType) else data_type
    made = pa.array(values, storage)
    if storage is not data_type:
        made = pa.ExtensionArray.from_storage(data_type, made)
    return made.slice(before, length)


@pytest.mark.parametrize("data_type", FIELDS, ids=str)
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**32), lengths=st.lists(st.integers(0, 20), min_size=1, max_size=5).filter(sum))
def test_rows_of_any_type_are_gathered_from_any_slices(data_type, seed, lengths):
    random = np.random.default_rng(seed)
    column = pa.chunked_array([array(data_type, length, random) for length in lengths], type=data_type)
    table = pa.table({"c": column})
    expected = table.to_pylist()
    rows = random.integers(0, table.num_rows, 30)
    parts = np.cumsum([0, *lengths])
    several = RowIndex(table.schema, lengths, lambda i: table.slice(parts[i], lengths[i]))
    for index in (RowIndex.of_table(table), several):
        gathered = index.fast_gather(rows)
        gathered.validate(full=True)
        assert gathered.schema == table.schema
        assert gathered.to_pylist() == [expected[row] for row in rows]
        assert gathered.column("c").num_chunks == 1
        found = index.find_rows(rows)
        runs = [found.copy(start, start + 7) for start in range(0, 28, 7)]
        for run in runs:
            run.validate(full=True)
        assert pa.concat_tables(runs).to_pylist() == [expected[row] for row in rows[:28]]
        assert found.stop_within(5, 1 << 30) == 30


def test_indices_may_be_a_list_a_range_or_any_integers_and_keep_order_and_duplicates():
    table = InMemoryTable.from_pydict({"n": list(range(10))})
    for indices in ([7, 2, 7], (7, 2, 7), np.array([7, 2, 7], np.uint8), iter([7, np.int64(2), 7])):
        assert table.fast_gather(indices).to_pydict() == {"n": [7, 2, 7]}
    assert table.fast_gather(range(8, 0, -3)).to_pydict() == {"n": [8, 5, 2]}


@pytest.mark.parametrize("indices", [[-1], [0, 10], np.array([3, -4]), [2**40]])
def test_an_index_out_of_range_or_negative_is_an_index_error_that_names_it(indices):
    table = InMemoryTable.from_pydict({"n": list(range(10))})
    with pytest.raises(IndexError, match=r"row (-1|10|-4|1099511627776) is out of range for a table of 10 rows"):
        table.fast_gather(indices)


def test_no_indices_is_a_value_error_and_other_things_a_type_error():
    table = InMemoryTable.from_pydict({"n": list(range(10))})
    with pytest.raises(ValueError, match="at least one index"):
        table.fast_gather([])
    for indices in ([0.5], [[1]], np.array([True])):
        with pytest.raises(TypeError, match="integers in one dimension"):
            table.fast_gather(indices)


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["x" * 40] * 30),
        pa.array([b"x" * 40] * 30),
        pa.array([list(range(40))] * 30, pa.list_(pa.int8())),
        pa.array([[["x" * 10] * 2] * 2] * 30, pa.list_(pa.list_(pa.string()))),
        pa.array([{"s": "x" * 40}] * 30),
        pa.array([[("k", "x" * 39)]] * 30, pa.map_(pa.string(), pa.string())),
        pa.array([["x" * 40]] * 30, pa.list_view(pa.string())),
    ],
    ids=lambda column: str(column.type),
)
def test_what_32_bit_offsets_cannot_count_comes_in_several_chunks_of_the_same_type(column):
    table = pa.table({"c": column, "n": range(30)})
    rows = np.random.default_rng(0).permutation(30)
    gathered = RowIndex.of_table(table).fast_gather(rows, max_offset=100)
    gathered.validate(full=True)
    assert gathered.equals(table.take(pa.array(rows)))
    assert gathered.schema == table.schema
    assert gathered.column("c").num_chunks >= 12
    assert max(len(chunk) for chunk in gathered.column("c").chunks) == 2
    single = RowIndex.of_table(table).fast_gather([3], max_offset=10)
    assert single.equals(table.slice(3, 1))


def test_what_64_bit_offsets_count_stays_in_one_chunk():
    table = pa.table({"c": pa.array(["x" * 40] * 30, pa.large_string())})
    assert RowIndex.of_table(table).fast_gather(range(30), max_offset=100).column("c").num_chunks == 1


def test_offsets_that_point_outside_of_their_data_are_an_error_and_not_a_crash():
    for data_type, values in ((pa.string(), pa.py_buffer(b"abcdef")), (pa.list_(pa.int8()), None)):
        children = [pa.array([1, 2, 3, 4, 5, 6], pa.int8())] if values is None else None
        for wrong in ([0, 2**31 - 1, 6], [0, 7, 6], [0, -5, 6]):
            buffers = [None, pa.py_buffer(np.array(wrong, np.int32))] + ([values] if values else [])
            damaged = pa.Array.from_buffers(data_type, 2, buffers, children=children)
            with pytest.raises(CorruptFileError, match="point outside of their data"):
                RowIndex.of_table(pa.table({"c": damaged})).fast_gather([0, 1])


def test_values_at_odd_addresses_are_read_right():
    buffer = pa.py_buffer(b"x" + np.arange(10, dtype=np.int64).tobytes()).slice(1)
    assert buffer.address % 8
    column = pa.Array.from_buffers(pa.int64(), 10, [None, buffer])
    assert RowIndex.of_table(pa.table({"n": column})).fast_gather([7, 0, 3]).to_pydict() == {"n": [7, 0, 3]}


def test_values_hidden_under_nulls_are_left_behind():
    offsets = pa.py_buffer(np.array([0, 3, 1003, 1006], np.int32))
    validity = pa.py_buffer(bytes([0b101]))
    column = pa.Array.from_buffers(pa.string(), 3, [validity, offsets, pa.py_buffer(b"a" * 1006)])
    gathered = RowIndex.of_table(pa.table({"s": column})).fast_gather([0, 1, 2])
    assert gathered.to_pydict() == {"s": ["aaa", None, "aaa"]}
    assert gathered.nbytes < 40


@pytest.mark.parametrize(
    ("column", "row_bytes"),
    [
        (pa.array(["x" * 1000] * 20), 1000),
        (pa.array([["x" * 100] * 10] * 20), 1040),
        (pa.array([list(range(250))] * 20, pa.large_list(pa.int32())), 1000),
        (pa.array([[[1] * 125] * 2] * 20, pa.list_(pa.list_(pa.int32()))), 1008),
        (pa.array([[1] * 250] * 20, pa.list_(pa.int32(), 250)), 1000),
        (pa.array([{"a": 1, "b": ["x" * 988]}] * 20), 1000),
        (pa.array([[("k" * 100, "v" * 392)] * 2] * 20, pa.map_(pa.string(), pa.string())), 1000),
        (pa.array([[True] * 8000] * 20), 1000),
        (pa.array([["x" * 1000]] * 20, pa.list_view(pa.string())), 1012),
        (pa.array([b"x" * 1000] * 20, pa.binary(1000)), 1000),
    ],
    ids=lambda value: str(getattr(value, "type", "")),
)
def test_how_far_rows_can_be_copied_within_some_bytes_is_known_before_they_are(column, row_bytes):
    table = InMemoryTable(pa.table({"c": column}))
    found = table.find_rows(np.arange(20)[::-1])
    assert found.stop_within(0, 5 * row_bytes) == 5
    assert found.stop_within(5, 5 * row_bytes - 1) == 9
    assert found.stop_within(5, 5 * row_bytes + 40) == 10
    assert found.stop_within(19, 1) == 20
    assert found.stop_within(0, 1) == 1


def test_the_sizes_of_damaged_nested_rows_are_an_error_and_not_a_crash():
    items = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(np.array([0, 2**31 - 1, 5], np.int32)), pa.py_buffer(b"abcde")]
    )
    outer = pa.py_buffer(np.array([0, 1, 2], np.int32))
    damaged = pa.Array.from_buffers(pa.list_(pa.string()), 2, [None, outer], children=[items])
    with pytest.raises(CorruptFileError, match="point outside of their data"):
        InMemoryTable(pa.table({"c": damaged})).find_rows(np.array([1, 0])).stop_within(0, 100)
