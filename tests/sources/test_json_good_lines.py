"""Blocks of JSON lines of which some are no rows."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.sources.json_block import JsonBlockParser
from raydata_ext.sources.json_good_lines import parse_good_lines

GOOD = [b'{"n": 1}', b'{"n": null}', b' {"n": 2, "m": [{"k": "v"}]} ', b'{"m": []}', b'{"d": "2020-01-02"}']
BAD = [b"{", b'{"n": 1', b"null", b"[1]", b"7", b'{"n": 1} {"n": 2}', b'\xff{"n": 1}', b"[" * 5000, b'{"n": "text"}']
BLANK = [b"", b"  ", b"\r"]


@settings(deadline=None)
@given(st.lists(st.sampled_from([*GOOD, *BAD, *BLANK]), max_size=20), st.booleans())
def test_rows_are_those_of_the_good_lines_and_each_other_line_is_told(lines, ended):
    lines = [b'{"n": 0}', *lines]  # so that a text under `n` is one of another type
    block = b"\n".join(lines) + (b"\n" if ended else b"")
    batch, bad = parse_good_lines(JsonBlockParser(), block)
    filled = [line for line in lines if line.strip()]
    expected = JsonBlockParser().parse(b"\n".join(line for line in filled if line not in BAD))
    assert batch.equals(expected)
    assert [(line.row, line.raw) for line in bad] == [
        (row, line.decode(errors="backslashreplace")) for row, line in enumerate(filled) if line in BAD
    ]
    assert all(block[line.start :].startswith(filled[line.row]) for line in bad)
    assert all(line.reason for line in bad)


def test_a_long_line_is_cut_in_what_is_shown():
    _, (bad,) = parse_good_lines(JsonBlockParser(), b'{"n": "' + b"x" * 1_000_000 + b"\n")
    assert len(bad.raw) == 10_000
