"""Blocks of JSON lines to record batches."""

from __future__ import annotations

import json
import math

import orjson
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.sources.json_block import JsonBlockParser
from raydata_ext.sources.json_faults import MAX_LEVELS, JsonFault


def parse(*lines: str) -> pa.RecordBatch:
    return JsonBlockParser().parse("".join(f"{line}\n" for line in lines).encode())


def test_nested_values_are_structs_and_lists() -> None:
    batch = parse('{"a": {"b": [1, 2], "c": null}, "d": "x"}', '{"a": {"e": true}}')
    assert batch.to_pylist() == [
        {"a": {"b": [1, 2], "c": None, "e": None}, "d": "x"},
        {"a": {"b": None, "c": None, "e": True}, "d": None},
    ]


def test_escapes_are_resolved() -> None:
    assert parse(r'{"a": "\u00e9\ud83d\ude00\n\"\\\/\u0000"}').to_pylist() == [{"a": 'é😀\n"\\/\0'}]


def test_nan_and_infinity_are_numbers() -> None:
    values = [row["a"] for row in parse('{"a": NaN}', '{"a": -Infinity}', '{"a": 1}').to_pylist()]
    assert math.isnan(values[0])
    assert values[1:] == [-math.inf, 1.0]


def test_blank_lines_are_skipped() -> None:
    assert JsonBlockParser().parse(b'\n{"a": 1}\r\n \t\r\n\n{"a": 2}').to_pylist() == [{"a": 1}, {"a": 2}]
    assert JsonBlockParser().parse(b"\n \r\n").num_rows == 0


def test_rows_without_keys_count() -> None:
    assert parse("{}", "{}").num_rows == 2
    assert parse("{}", '{"a": 1}').to_pylist() == [{"a": None}, {"a": 1}]


def test_late_keys_are_null_before() -> None:
    assert parse('{"a": 1}', '{"b": "x"}').to_pylist() == [{"a": 1, "b": None}, {"a": None, "b": "x"}]


DATES = ["2020-01-01", "2020-01-01 10:00:00", "2020-01-01T10:00:00Z", "2020-01-01T10:00:00.123456789"]


@pytest.mark.parametrize("date", DATES)
def test_strings_that_look_like_dates_stay_strings_at_any_depth(date: str) -> None:
    row = {"n": 1, "a": date, "b": [date, None], "c": {"d": {"e": [[{"f": date, "g": 1}]]}}, "h": None}
    batch = parse(json.dumps(row))
    assert batch.to_pylist() == [row]
    assert batch.schema.names == list(row)


def test_dates_stay_strings_in_later_blocks_too() -> None:
    parser = JsonBlockParser()
    blocks = [
        {"a": "2020-01-01", "x": {"y": 1}},
        {"a": "2021-01-01", "x": {"y": 2, "z": ["2020-01-01"]}},
        {"a": "word", "x": {"y": 3, "z": ["word"]}},
        {"x": {"y": 4}},
    ]
    batches = [parser.parse(json.dumps(row).encode()) for row in blocks]
    assert [batch.column("a").to_pylist() for batch in batches] == [["2020-01-01"], ["2021-01-01"], ["word"], [None]]
    assert [batch.column("x").to_pylist()[0]["y"] for batch in batches] == [1, 2, 3, 4]
    assert all(batch.schema.field("a").type == pa.string() for batch in batches)


@pytest.mark.parametrize("place", ['{"a": %s}', '{"a": {"b": [%s]}}'])
def test_integers_of_64_bits_are_exact(place: str) -> None:
    biggest = parse(place % (2**64 - 1), place % 1, place % "null")
    assert json.loads(place % (2**64 - 1)) == biggest.to_pylist()[0]
    assert json.loads(place % (2**63 - 1)) == parse(place % (2**63 - 1)).to_pylist()[0]
    assert json.loads(place % -(2**63)) == parse(place % -(2**63)).to_pylist()[0]


@pytest.mark.parametrize(
    "values",
    [
        [[None, None]],
        [[None], [None, None]],
        [[None, None, "a"]],
        [[None, None], ["2020-01-01", None]],
        [[[None, None], [None]]],
        [[None, [None, [None, 1]]]],
        [[None, {"x": [None, 1.5]}]],
        [[{"x": None}, {"x": [None, None]}, None]],
        [{"x": [None, None]}, None, {"x": []}],
    ],
)
def test_nulls_at_the_begin_of_lists_are_kept(values: list[object]) -> None:
    batch = parse(*(json.dumps({"a": value, "b": 1}) for value in values))
    batch.validate(full=True)
    assert batch.to_pylist() == [{"a": value, "b": 1} for value in values]


def test_numbers_beyond_64_bits_are_rounded_to_double() -> None:
    assert parse(f'{{"a": {2**64}}}').to_pylist() == [{"a": 2.0**64}]
    assert parse(f'{{"a": {2**63}}}', '{"a": -1}').to_pylist() == [{"a": 2.0**63}, {"a": -1.0}]
    assert parse(f'{{"a": {2**63}}}', '{"a": 0.5}').to_pylist() == [{"a": 2.0**63}, {"a": 0.5}]
    assert parse('{"a": 1e19}').to_pylist() == [{"a": 1e19}]


@pytest.mark.parametrize(
    ("lines", "fault", "reason"),
    [
        (['{"a": "x"}', '{"a": 1}'], 1, "Column(/a) changed from string to number"),
        (['{"a": true}', "", '{"a": 1}'], 2, "Column(/a) changed from boolean to number"),
        (['{"a": "2020-01-01"}', '{"a": 1}'], 1, "Column(/a) changed from string to number"),
        (['{"a": NaN}', '{"a": [1]}'], 1, "Column(/a) changed from number to array"),
        (['{"a": 1, "a": 2}'], 0, "Column(/a) was specified twice"),
        (['{"b": 1}', '{"a": {"b": 1, "b": 2}}'], 1, "Column(/a/b) was specified twice"),
        (['{"b": 1}', r'{"a": "\ud800"}'], 1, "The surrogate pair in string is invalid."),
        (['{"b": 1}', '{"a": 1e999}'], 1, "Number too big to be stored in double."),
        (['{"b": 1}', '{"a": "trunc'], 1, "not JSON (Unterminated string starting at at column 7)"),
        (['{"a": 1}', '{"a": 2}{"a": 3}'], 1, "not JSON (Extra data at column 9)"),
        (['{"a": 1}', '{"a":', "2}"], 1, "not JSON (Expecting value at column 6)"),
        (['{"a": 1}', "null"], 1, "a JSON object is expected"),
        (['{"a": 1}', '{"a": ' + "[" * 100 + "]" * 100 + "}"], 1, "objects and arrays are nested more than 60"),
    ],
)
def test_the_line_at_fault_is_found(lines: list[str], fault: int, reason: str) -> None:
    with pytest.raises(JsonFault) as caught:
        parse(*lines)
    assert caught.value.start == sum(len(line) + 1 for line in lines[:fault])
    assert caught.value.reason.startswith(reason)


def test_the_deepest_rows_allowed_survive_arrow_files() -> None:
    batch = parse('{"a":' * MAX_LEVELS + "1" + "}" * MAX_LEVELS)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    assert pa.ipc.open_stream(sink.getvalue()).read_all().to_pylist() == batch.to_pylist()


scalars = {
    "i": st.integers(-(2**63), 2**63 - 1),
    "f": st.floats(allow_nan=False, allow_infinity=False).filter(lambda f: not f.is_integer()),
    "s": st.text(st.characters(exclude_categories=["Cs"]), max_size=5) | st.sampled_from(DATES),
    "l": st.lists(st.none() | st.text("ab", max_size=2) | st.sampled_from(DATES), max_size=3),
    "d": st.fixed_dictionaries({"x": st.none() | st.sampled_from([*DATES, "w"]), "y": st.integers(0, 3)}),
}


@settings(deadline=None)
@given(
    st.lists(st.fixed_dictionaries({}, optional={k: st.none() | v for k, v in scalars.items()}), min_size=1, max_size=6)
)
def test_rows_come_back_as_they_were_written(rows: list[dict[str, object]]) -> None:
    keys = {key for row in rows for key in row}
    batch = JsonBlockParser().parse(b"\n".join(map(orjson.dumps, rows)))
    batch.validate(full=True)
    assert batch.num_rows == len(rows)
    for row, found in zip(rows, batch.to_pylist(), strict=True):
        assert found == {key: row.get(key) for key in keys}


@settings(deadline=None, max_examples=300)
@given(
    st.lists(
        st.sampled_from(
            [
                *"{}[],: \n",
                '"a"',
                '"2020-01-01"',
                "null",
                "NaN",
                "1",
                "1.5",
                '{"a":1}',
                '{"a":[null,{}]}',
                "\n",
                "18446744073709551615",
            ]
        ),
        max_size=12,
    ).map("".join)
)
def test_any_tokens_give_a_row_an_object_or_a_fault(block: str) -> None:
    try:
        batch = JsonBlockParser().parse(block.encode())
    except JsonFault:
        return
    batch.validate(full=True)
    objects, rest = [], block.lstrip()
    while rest:
        value, end = json.JSONDecoder().raw_decode(rest)
        objects.append(value)
        rest = rest[end:].lstrip()
    assert batch.num_rows == len(objects)
    assert all(isinstance(value, dict) for value in objects)
