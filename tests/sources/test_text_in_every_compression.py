"""Each unit of text from each compression, by suffix and by content, whole and cut off."""

from __future__ import annotations

import bz2
import gzip
import lzma
import random

import pyarrow as pa
import pytest

from raydata_ext.errors import DamagedInputError
from raydata_ext.sources import Piece, make_reader

_RANDOM = random.Random(1)
LINES = [f"line {number} größe {_RANDOM.getrandbits(60)}" for number in range(30_000)]
TEXT = "\n\n".join(LINES)


def arrow_codec(name: str):
    def compress(data: bytes) -> bytes:
        sink = pa.BufferOutputStream()
        with pa.CompressedOutputStream(sink, name) as stream:
            stream.write(data)
        return sink.getvalue().to_pybytes()

    return compress


COMPRESS = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lambda data: lzma.compress(data, preset=0),
    "zst": arrow_codec("zstd"),
    "lz4": arrow_codec("lz4"),
}
UNITS = {
    "line": [line for text in LINES for line in (text, "")][:-1],
    "paragraph": LINES,
    "file": [TEXT],
}
every_codec = pytest.mark.parametrize("codec", COMPRESS)
every_unit = pytest.mark.parametrize("unit", UNITS)


def texts(reader, file, found: list[str]) -> list[str]:
    for batch in reader.read(Piece(file)):
        found += batch.column(0).to_pylist()
    return found


@every_codec
@every_unit
def test_the_rows_are_those_of_the_plain_file(write, unit: str, codec: str) -> None:
    half = len(TEXT) // 2
    members = b"".join(map(COMPRESS[codec], (TEXT[:half].encode(), b"", TEXT[half:].encode())))
    for name in (f"a.txt.{codec}", "a.txt"):
        assert texts(make_reader("text", {"unit": unit}), write(members, name), []) == UNITS[unit]


@every_codec
@every_unit
def test_what_is_whole_before_a_cut_comes_out_and_then_an_error_with_the_byte(write, unit: str, codec: str) -> None:
    packed = COMPRESS[codec](TEXT.encode())
    file = write(packed[: int(len(packed) * 0.9)])
    found: list[str] = []
    with pytest.raises(DamagedInputError, match=r"byte \d+ of the decompressed data .* truncated or damaged") as caught:
        texts(make_reader("text", {"unit": unit}), file, found)
    assert found == UNITS[unit][: len(found)]
    if unit == "line":
        assert len(found) > 0.1 * len(LINES)
        before = "".join(f"{line}\n" for line in found).encode()
        assert caught.value.byte_offset == len(before), "the error is of the first line that is not there"


@every_codec
def test_where_bad_rows_are_set_aside_a_cut_is_one_of_them(write, tmp_path, codec: str) -> None:
    from raydata_ext.sources import BadRow, scan_files

    packed = COMPRESS[codec](TEXT.encode())
    write(packed[: int(len(packed) * 0.9)], "a.txt")
    bad: list[BadRow] = []
    [shard] = scan_files(tmp_path, max_shard_bytes=1 << 30).shards
    rows = sum(batch.num_rows for _, batch in shard.read(lambda _, row: bad.append(row)))
    assert [row.row for row in bad] == [rows]
    assert "nothing is read from here on" in bad[0].message
