from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from raydata_ext.errors import CorruptFileError
from raydata_ext.table.ipc_reader import iter_ipc_batches, open_ipc_file, read_ipc_schema

ROWS = pa.table({"text": ["a", "bc", None, "d"], "n": [1, 2, 3, 4]})


def write_stream(path, table=ROWS, rows=2):
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=rows)
    return path


def test_a_stream_opens_as_its_table_with_one_chunk_per_batch(tmp_path):
    table = open_ipc_file(write_stream(tmp_path / "a.arrow"))

    assert table.equals(ROWS)
    assert table.column("n").num_chunks == 2


def test_opening_a_file_allocates_no_data(tmp_path):
    path = write_stream(tmp_path / "a.arrow", pa.table({"n": range(1_000_000)}), rows=100_000)
    before = pa.total_allocated_bytes()

    table = open_ipc_file(path)

    assert table.num_rows == 1_000_000
    assert pa.total_allocated_bytes() == before


def test_an_open_table_holds_no_file_descriptor_and_outlives_the_name_of_its_file(tmp_path):
    path = write_stream(tmp_path / "a.arrow")
    before = len(list(Path("/proc/self/fd").iterdir()))

    table = open_ipc_file(path)

    assert len(list(Path("/proc/self/fd").iterdir())) == before
    path.unlink()
    assert table.to_pylist() == ROWS.to_pylist()


def test_a_name_that_is_no_unicode_is_a_name(tmp_path):
    path = write_stream(tmp_path / "a.arrow").rename(tmp_path / "bad\udcff.arrow")
    assert open_ipc_file(path).equals(ROWS)


def test_the_ipc_file_format_opens_too(tmp_path):
    path = tmp_path / "a.arrow"
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, ROWS.schema) as writer:
        writer.write_table(ROWS, max_chunksize=3)

    assert open_ipc_file(path).equals(ROWS)
    assert [batch.num_rows for batch in iter_ipc_batches(path)] == [3, 1]
    assert read_ipc_schema(path) == ROWS.schema


def test_a_file_of_a_schema_and_no_rows_is_valid(tmp_path):
    path = write_stream(tmp_path / "a.arrow", ROWS.slice(0, 0).replace_schema_metadata({"k": "v"}))

    table = open_ipc_file(path)

    assert table.num_rows == 0
    assert table.schema.equals(ROWS.schema.with_metadata({"k": "v"}), check_metadata=True)
    assert list(iter_ipc_batches(path)) == []


def test_columns_with_dictionaries_that_change_between_batches_open(tmp_path):
    chunks = [pa.array(["a", "b"]).dictionary_encode(), pa.array(["c", None]).dictionary_encode()]
    path = write_stream(tmp_path / "a.arrow", pa.table({"d": pa.chunked_array(chunks)}))

    assert open_ipc_file(path).column("d").to_pylist() == ["a", "b", "c", None]


def test_a_missing_file_is_a_file_not_found_error(tmp_path):
    for read in (open_ipc_file, read_ipc_schema, lambda path: list(iter_ipc_batches(path))):
        with pytest.raises(FileNotFoundError, match=r"absent\.arrow"):
            read(tmp_path / "absent.arrow")


def test_a_file_cut_at_any_byte_is_refused(tmp_path):
    data = write_stream(tmp_path / "a.arrow").read_bytes()

    for length in range(len(data)):
        path = tmp_path / f"cut-{length}.arrow"
        path.write_bytes(data[:length])
        for read in (open_ipc_file, read_ipc_schema, lambda path: list(iter_ipc_batches(path))):
            with pytest.raises(CorruptFileError, match=rf"cut-{length}\.arrow.* of {length}: .*make or copy it again"):
                read(path)


def test_bytes_after_the_end_of_the_stream_are_refused(tmp_path):
    path = write_stream(tmp_path / "a.arrow")
    path.write_bytes(path.read_bytes() * 2)

    with pytest.raises(CorruptFileError, match="the stream ends before the file does"):
        open_ipc_file(path)


@pytest.mark.parametrize(
    "content",
    [b"text\n" * 100, b'{"a": 1}\n', b"\x00" * 4096, b"\x1f\x8b\x08\x00" * 20, b"PK\x03\x04", b"ARROW1"],
    ids=["text", "json", "zeros", "gzip", "zip", "magic alone"],
)
def test_a_foreign_file_is_refused(tmp_path, content):
    path = tmp_path / "foreign.arrow"
    path.write_bytes(content)

    with pytest.raises(CorruptFileError, match=r"foreign\.arrow: not a complete Arrow IPC file"):
        open_ipc_file(path)


def test_a_parquet_file_is_refused(tmp_path):
    pq.write_table(ROWS, tmp_path / "a.parquet")

    with pytest.raises(CorruptFileError):
        open_ipc_file(tmp_path / "a.parquet")


def test_a_buffer_too_small_for_its_array_is_refused_on_opening(tmp_path):
    path = write_stream(tmp_path / "a.arrow", pa.table({"text": ["a" * 50, "b" * 50]}))
    data = path.read_bytes()
    offsets = b"".join(number.to_bytes(4, "little") for number in (0, 50, 100))
    path.write_bytes(data.replace(offsets, offsets[:8] + (10**6).to_bytes(4, "little")))

    with pytest.raises(CorruptFileError, match=r"a\.arrow"):
        open_ipc_file(path)


def test_a_column_name_that_is_not_text_is_refused_on_opening(tmp_path):
    path = write_stream(tmp_path / "a.arrow", pa.table({"outer": [{"needle": 1}]}))
    path.write_bytes(path.read_bytes().replace(b"needle", b"need\xff\xfe"))

    for read in (open_ipc_file, read_ipc_schema):
        with pytest.raises(CorruptFileError, match="utf-8"):
            read(path)


def test_a_time_zone_that_is_not_text_is_refused_on_opening(tmp_path):
    path = write_stream(tmp_path / "a.arrow", pa.table({"t": pa.array([0], pa.timestamp("us", "needle"))}))
    path.write_bytes(path.read_bytes().replace(b"needle", b"need\xff\xfe"))

    with pytest.raises(CorruptFileError, match="utf-8"):
        open_ipc_file(path)


def test_batches_before_the_damage_are_handed_out(tmp_path):
    path = write_stream(tmp_path / "a.arrow", pa.table({"text": ["a" * 50, "b" * 50, "c" * 50]}), rows=1)
    data = path.read_bytes()
    offsets = b"".join(number.to_bytes(4, "little") for number in (0, 50))
    third = data.rindex(offsets)
    path.write_bytes(data[:third] + offsets[:4] + (10**6).to_bytes(4, "little") + data[third + 8 :])
    seen = []

    with pytest.raises(CorruptFileError):
        seen.extend(batch.num_rows for batch in iter_ipc_batches(path))

    assert seen == [1, 1]


@pytest.mark.parametrize("first", range(0, 10_000, 2_500))
def test_no_damaged_file_out_of_ten_thousand_crashes_the_process(first):
    program = Path(__file__).with_name("ipc_fuzz.py")
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as directory:
        run = subprocess.run(
            [sys.executable, str(program), directory, str(first), "2500"],
            check=False,
            capture_output=True,
            text=True,
            cwd=Path(__file__).parents[2],
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        )

    assert run.returncode == 0, f"ended with {run.returncode}: {run.stderr[-2000:]}"
    outcomes = json.loads(run.stdout)
    assert sum(outcomes.values()) == 2_500
    assert min(outcomes.values()) > 50, "a campaign that does not reach every outcome tests too little"
