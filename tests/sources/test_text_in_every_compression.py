"""Each unit of text from each compression, by suffix and by content, whole and cut off."""

from __future__ import annotations

import random

import pytest

from raydata_ext.errors import DamagedInputError
from raydata_ext.sources import Piece, make_reader

_RANDOM = random.Random(1)
LINES = [f"line {number} größe {_RANDOM.getrandbits(60)}" for number in range(30_000)]
TEXT = "\n\n".join(LINES)
UNITS = {
    "line": [line for text in LINES for line in (text, "")][:-1],
    "paragraph": LINES,
    "file": [TEXT],
}
every_unit = pytest.mark.parametrize("unit", UNITS)


def texts(reader, file, found: list[str]) -> list[str]:
    for batch in reader.read(Piece(file)):
        found += batch.column(0).to_pylist()
    return found


@every_unit
def test_the_rows_are_those_of_the_plain_file(write, compress, codec: str, unit: str) -> None:
    half = len(TEXT) // 2
    members = b"".join(map(compress, (TEXT[:half].encode(), b"", TEXT[half:].encode())))
    for name in (f"a.txt.{codec}", "a.txt"):
        assert texts(make_reader("text", {"unit": unit}), write(members, name), []) == UNITS[unit]


@every_unit
def test_what_is_whole_before_a_cut_comes_out_and_then_an_error_with_the_byte(write, compress, unit: str) -> None:
    packed = compress(TEXT.encode())
    file = write(packed[: int(len(packed) * 0.9)])
    found: list[str] = []
    with pytest.raises(DamagedInputError, match=r"byte \d+ of the decompressed data .* truncated or damaged") as caught:
        texts(make_reader("text", {"unit": unit}), file, found)
    assert found == UNITS[unit][: len(found)]
    if unit == "line":
        assert len(found) > 0.1 * len(LINES)
        before = "".join(f"{line}\n" for line in found).encode()
        assert caught.value.byte_offset == len(before), "the error is of the first line that is not there"


def test_where_bad_rows_are_set_aside_a_cut_is_one_of_them(write, compress, tmp_path) -> None:
    from raydata_ext.sources import BadRow, scan_files

    packed = compress(TEXT.encode())
    write(packed[: int(len(packed) * 0.9)], "a.txt")
    bad: list[BadRow] = []
    [shard] = scan_files(tmp_path, max_shard_bytes=1 << 30).shards
    rows = sum(batch.num_rows for _, batch in shard.read(lambda _, row: bad.append(row)))
    assert [row.row for row in bad] == [rows]
    assert "nothing is read from here on" in bad[0].message
