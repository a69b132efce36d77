"""JSON arrays as blocks of lines."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from raydata_ext.errors import ReadError
from raydata_ext.sources.json_array_blocks import array_blocks, holds_array

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet='"\\[]{},:\n\r aé', max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(alphabet='"\\,]a', max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=200)
@given(
    st.lists(st.dictionaries(st.text(max_size=3), VALUES, max_size=3), max_size=8), st.integers(1, 40), st.booleans()
)
@example([{"a": '\\"'}, {"a": "\\\\"}], 1, False)
def test_the_lines_are_the_elements_wherever_chunks_end(write, values, chunk_bytes: int, indented: bool) -> None:
    text = json.dumps(values, indent=2 if indented else None, ensure_ascii=False).encode()
    blocks = list(array_blocks(write(text), chunk_bytes))
    assert [json.loads(line) for block in blocks for line in block.lines.split(b"\n")] == values
    assert sum(1 + block.lines.count(b"\n") for block in blocks) == len(values)


def test_a_block_knows_its_place_in_the_file(write) -> None:
    content = b'\xef\xbb\xbf [{"a": 1},\n {"b": "x,y"} , {"c": [1, 2]}]\n'
    blocks = list(array_blocks(write(content), 18))
    assert len(blocks) > 1
    for block in blocks:
        for number, line in enumerate(block.lines.split(b"\n"), block.first):
            start = block.offset + block.lines.index(line.strip())
            assert content[start : start + len(line.strip())] == line.strip()
            assert block.number_of(block.lines.index(line.strip())) == number


@pytest.mark.parametrize("content", [b"[]", b"[ \n ]\n", b"\xef\xbb\xbf[\t]"])
def test_an_empty_array_has_no_blocks(write, content: bytes) -> None:
    assert list(array_blocks(write(content))) == []
    assert list(array_blocks(write(content), 1)) == []


@pytest.mark.parametrize("content", [b"[", b'[{"a": 1}', b'[{"a": 1},', b'[{"a": "]', b'[{"a": [1]}'])
def test_an_array_that_does_not_end_is_an_error_with_the_place(write, content: bytes) -> None:
    with pytest.raises(ReadError, match=f"byte {len(content)}: the array does not end; the file is cut off"):
        list(array_blocks(write(content)))


def test_what_is_whole_comes_before_the_error(write) -> None:
    reading = array_blocks(write(b'[{"a": 1}, {"a": 2}, {"a'))
    assert json.loads(b"[" + next(reading).lines.replace(b"\n", b",") + b"]") == [{"a": 1}, {"a": 2}]
    with pytest.raises(ReadError):
        next(reading)


@pytest.mark.parametrize("chunk_bytes", [1, 5, 100])
def test_something_after_the_array_is_an_error(write, chunk_bytes: int) -> None:
    with pytest.raises(ReadError, match="after byte 10, where the array ends: there is something more"):
        list(array_blocks(write(b'[{"a": 1}] [{"a": 2}]'), chunk_bytes))


def test_an_array_is_told_by_what_a_file_begins_with(write) -> None:
    assert holds_array(write(b"\xef\xbb\xbf \n [1]"))
    assert not holds_array(write(b'{"a": [1]}'))
    assert not holds_array(write(b""))
