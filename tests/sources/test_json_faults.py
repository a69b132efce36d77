"""Which line of JSON lines is at fault."""

from __future__ import annotations

import subprocess
import sys

import pytest

from raydata_ext.sources.json_faults import JsonFault, fault_of_row, find_fault, require_safe

DEEP = b'{"a":' * 100_000 + b"1" + b"}" * 100_000
DEEP_LIST = b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"a": 1', "not JSON (Expecting ',' delimiter at column 8)"),
        (b'{"a": 1} x', "not JSON (Extra data at column 10)"),
        (b'{"a": 1}{"a": 2}', "not JSON (Extra data at column 9)"),
        (b"{", "not JSON (Expecting property name enclosed in double quotes at column 2)"),
        (b"{'a': 1}", "not JSON (Expecting property name enclosed in double quotes at column 2)"),
        (b'{"a": tru}', "not JSON (Expecting value at column 7)"),
        (b'{"a": "tab\there"}', "not JSON (Invalid control character at at column 11)"),
        (b'[{"a": 1},', "an array where one object a line is expected"),
        (b"  [", "an array where one object a line is expected"),
        (b"null", "a JSON object is expected"),
        (b"12", "a JSON object is expected"),
        (b'"x"', "a JSON object is expected"),
        (b'{"a": "\xff"}', "not UTF-8 (invalid start byte at byte 7 of the line)"),
        (b'{"a": 1\x00}', "not JSON"),
        (b'{"a":' * 61 + b"1" + b"}" * 61, "objects and arrays are nested more than 60 levels deep"),
        (DEEP, "objects and arrays are nested more than 60 levels deep"),
    ],
)
def test_the_first_line_that_is_no_row_is_found_with_its_reason(line: bytes, reason: str) -> None:
    before = b'{"a": NaN, "b": Infinity}\n\n  \r\n{"a": "]]]] } null"}\n'
    fault = find_fault(before + line + b"\nnonsense\n")
    assert fault is not None
    assert fault.start == len(before)
    assert fault.reason.startswith(reason)
    assert len(fault.shown) <= 123
    assert line[:20].decode(errors="backslashreplace") in fault.shown


def test_lines_that_are_rows_have_no_fault() -> None:
    deepest = b'{"a":' * 60 + b"1" + b"}" * 60
    assert find_fault(b'{}\n{"a": [[[{"b": "[[[[ \\" {{"}]]]}\n\n' + deepest) is None


@pytest.mark.parametrize(
    "bad", [b"null", b" \t null", b'{"a": 1} null', b'{"a": 1}null', DEEP, DEEP_LIST, b'{"a": "\xff"}']
)
@pytest.mark.parametrize("before", [b"", b'{"a": 1}\n', b'\n{"a": "} null"}\n'])
def test_what_would_crash_the_parser_does_not_reach_it(before: bytes, bad: bytes) -> None:
    with pytest.raises(JsonFault) as caught:
        require_safe(before + bad + b"\n")
    assert caught.value.start == len(before)


@pytest.mark.parametrize(
    "block",
    [
        b"",
        b'{"a": null}\n',
        b'{"a": "} null"}\n{"a": {"b": 1},\n"c": null}',
        b'{"a": "' + b"[{" * 20_000 + b'"}\n',
        b'{"a": [' + b",".join([b'{"b": []}'] * 20_000) + b"]}\n",
    ],
)
def test_harmless_blocks_pass(block: bytes) -> None:
    assert require_safe(block) is None


@pytest.mark.parametrize(
    ("message", "start", "reason"),
    [
        ("JSON parse error: Column(/a) changed from string to number in row 1", 9, "Column(/a) changed from string to"),
        ("JSON parse error: Column(/a) was specified twice in row 0", 1, "Column(/a) was specified twice;"),
        ("The surrogate pair in string is invalid. in row 1", 9, "The surrogate pair in string is invalid."),
        ("something else", 1, "something else"),
    ],
)
def test_a_row_number_becomes_a_line(message: str, start: int, reason: str) -> None:
    fault = fault_of_row(b'\n{"a":1}\n{"a":2}\n', message)
    assert fault.start == start
    assert fault.reason.startswith(reason)


def test_no_line_ends_the_process() -> None:
    code = """
from raydata_ext.sources.json_block import JsonBlockParser
from raydata_ext.sources.json_faults import JsonFault
for depth in (1000, 3900, 4100, 20_000, 1_000_000):
    for block in (b"null", b'{"a":' * depth + b"1" + b"}" * depth, b'{"a":' + b"[" * depth + b"]" * depth + b"}"):
        try:
            JsonBlockParser().parse(block)
        except JsonFault:
            print("refused")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.count("refused")) == (0, 15), done.stderr
