from __future__ import annotations

import errno
import itertools
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.errors import SchemaError, WriteError
from raydata_ext.table.ipc_reader import open_ipc_file
from raydata_ext.table.ipc_writer import ShardWriter, parse_temporary_name, temporary_name

BATCH = pa.record_batch({"text": ["a", "bc", None, "d"], "n": [1, 2, 3, 4]})
ROOT = Path(__file__).parents[2]


def write(path, batches, **options):
    with ShardWriter(path, batches[0].schema, **options) as writer:
        for batch in batches:
            writer.write(batch)
        return writer.finish()


def names(directory):
    return sorted(path.name for path in directory.iterdir())


def run_python(code, *args, **options):
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, args)],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        **options,
    )


def test_what_was_written_reads_back_and_the_summary_describes_it(tmp_path):
    path = tmp_path / "deep" / "a.arrow"
    schema = BATCH.schema.with_metadata({"key": "value"})

    with ShardWriter(path, schema, batch_rows=3) as writer:
        writer.write(BATCH)
        writer.write(BATCH)
        summary = writer.finish()

    table = open_ipc_file(path)
    assert table.to_pylist() == BATCH.to_pylist() * 2
    assert table.schema.equals(schema, check_metadata=True)
    assert (summary.rows, summary.batches, summary.schema) == (8, 3, schema)
    assert summary.num_bytes == path.stat().st_size
    assert summary.checksum == xxhash.xxh3_128_hexdigest(path.read_bytes())


def test_no_rows_make_a_valid_file_of_the_schema(tmp_path):
    with ShardWriter(tmp_path / "a.arrow", BATCH.schema) as writer:
        summary = writer.finish()

    assert (summary.rows, summary.batches) == (0, 0)
    assert open_ipc_file(tmp_path / "a.arrow").schema == BATCH.schema


def test_the_file_appears_only_when_it_is_finished(tmp_path):
    writer = ShardWriter(tmp_path / "a.arrow", BATCH.schema)
    writer.write(BATCH)
    assert not (tmp_path / "a.arrow").exists()

    writer.finish()

    assert names(tmp_path) == ["a.arrow"]


def test_leaving_the_block_finishes_the_file(tmp_path):
    with ShardWriter(tmp_path / "a.arrow", BATCH.schema) as writer:
        writer.write(BATCH)

    assert open_ipc_file(tmp_path / "a.arrow").num_rows == 4


def test_an_exception_in_the_block_leaves_nothing_and_an_older_file_alone(tmp_path):
    write(tmp_path / "a.arrow", [BATCH])
    older = (tmp_path / "a.arrow").read_bytes()

    def fail_halfway():
        with ShardWriter(tmp_path / "a.arrow", BATCH.schema) as writer:
            writer.write(BATCH)
            raise RuntimeError("boom")

    with pytest.raises(RuntimeError, match="boom"):
        fail_halfway()

    assert names(tmp_path) == ["a.arrow"]
    assert (tmp_path / "a.arrow").read_bytes() == older


def test_discard_leaves_nothing_and_may_be_called_again(tmp_path):
    writer = ShardWriter(tmp_path / "a.arrow", BATCH.schema)
    writer.write(BATCH)

    writer.discard()
    writer.discard()

    assert names(tmp_path) == []


def test_discard_after_finish_keeps_the_file(tmp_path):
    writer = ShardWriter(tmp_path / "a.arrow", BATCH.schema)
    writer.finish()

    writer.discard()

    assert names(tmp_path) == ["a.arrow"]


@pytest.mark.parametrize(("end", "word"), [("finish", "finished"), ("discard", "discarded")])
def test_writing_to_a_closed_writer_says_so(tmp_path, end, word):
    writer = ShardWriter(tmp_path / "a.arrow", BATCH.schema)
    getattr(writer, end)()

    for action in (lambda: writer.write(BATCH), writer.finish):
        with pytest.raises(ValueError, match=rf"a\.arrow: cannot write, the writer is {word}"):
            action()


def test_a_synced_file_is_the_same_file(tmp_path):
    assert write(tmp_path / "a.arrow", [BATCH], sync=True) == write(tmp_path / "b.arrow", [BATCH])


def test_batches_are_cast_to_the_schema_of_the_file(tmp_path):
    schema = pa.schema({"n": pa.float64(), "text": pa.large_string()})

    with ShardWriter(tmp_path / "a.arrow", schema) as writer:
        writer.write(BATCH)

    assert open_ipc_file(tmp_path / "a.arrow").schema == schema


def test_a_batch_that_does_not_fit_the_schema_is_refused_and_the_file_goes_on(tmp_path):
    with ShardWriter(tmp_path / "a.arrow", BATCH.schema) as writer:
        writer.write(BATCH)
        with pytest.raises(SchemaError, match=r"`n` cannot be cast from string to int64"):
            writer.write(pa.record_batch({"text": ["x"], "n": ["not a number"]}))
        writer.write(BATCH)

    assert open_ipc_file(tmp_path / "a.arrow").num_rows == 8


def test_dictionary_columns_keep_their_type(tmp_path):
    batches = [pa.record_batch({"d": pa.array(words).dictionary_encode()}) for words in (["a", "b"], ["c", None])]

    write(tmp_path / "joined.arrow", batches)
    write(tmp_path / "apart.arrow", batches, batch_rows=2)

    for name in ("joined.arrow", "apart.arrow"):
        table = open_ipc_file(tmp_path / name)
        assert table.schema == batches[0].schema
        assert table.column("d").to_pylist() == ["a", "b", "c", None]


def test_a_slice_is_written_without_what_it_is_a_slice_of(tmp_path):
    whole = pa.record_batch({"text": ["x" * 1000] * 1000, "items": [[1] * 100] * 1000})

    summary = write(tmp_path / "a.arrow", [whole.slice(500, 1)])

    assert summary.num_bytes < 5_000


@given(
    rows=st.lists(
        st.fixed_dictionaries(
            {
                "n": st.none() | st.integers(-5, 5),
                "text": st.none() | st.text(max_size=5),
                "items": st.none() | st.lists(st.none() | st.integers(0, 9), max_size=3),
                "record": st.none() | st.fixed_dictionaries({"flag": st.none() | st.booleans()}),
            }
        ),
        min_size=1,
        max_size=30,
    ),
    cuts=st.lists(st.integers(1, 29), max_size=6),
    batch_rows=st.integers(1, 12),
)
@settings(max_examples=60, deadline=None)
def test_equal_rows_make_equal_files_however_they_were_batched(tmp_path_factory, rows, cuts, batch_rows):
    directory = tmp_path_factory.mktemp("files")
    schema = pa.schema(
        {
            "n": pa.int64(),
            "text": pa.string(),
            "items": pa.list_(pa.int64()),
            "record": pa.struct({"flag": pa.bool_()}),
        }
    )
    edges = sorted({0, len(rows), *(edge for edge in cuts if edge < len(rows))})
    pieces = [pa.RecordBatch.from_pylist(rows[start:stop], schema) for start, stop in itertools.pairwise(edges)]

    at_once = write(directory / "a.arrow", [pa.RecordBatch.from_pylist(rows, schema)], batch_rows=batch_rows)
    in_pieces = write(directory / "b.arrow", pieces, batch_rows=batch_rows)

    assert at_once == in_pieces
    assert open_ipc_file(directory / "b.arrow").to_pylist() == rows


def test_a_writer_that_is_killed_leaves_only_a_temporary_file_that_names_its_process(tmp_path):
    code = """
import os, signal, sys, pyarrow as pa
from raydata_ext.table.ipc_writer import ShardWriter
batch = pa.record_batch({"n": range(1000)})
writer = ShardWriter(sys.argv[1], batch.schema)
for _ in range(300):
    writer.write(batch)
print(os.getpid(), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    run = run_python(code, tmp_path / "a.arrow")

    assert run.returncode == -signal.SIGKILL
    (left,) = names(tmp_path)
    assert parse_temporary_name(left) == (socket.gethostname(), int(run.stdout))


def test_a_full_disk_is_a_write_error_and_leaves_nothing(tmp_path):
    # A limit on the size of files is a disk that fills up, for this process alone.
    code = """
import resource, sys, pyarrow as pa
from raydata_ext.errors import WriteError
from raydata_ext.table.ipc_writer import ShardWriter
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
batch = pa.record_batch({"n": range(10_000)})
writer = ShardWriter(sys.argv[1], batch.schema, batch_rows=10_000)
try:
    for _ in range(100):
        writer.write(batch)
except WriteError as error:
    print(error.errno, error.filename, error)
try:
    writer.write(batch)
except ValueError as error:
    print(error)
"""
    run = run_python(code, tmp_path / "a.arrow")

    assert run.stderr == ""
    failed, closed = run.stdout.splitlines()
    assert failed.startswith(f"{errno.EFBIG} {tmp_path}/a.arrow [Errno {errno.EFBIG}] cannot write (File too large); ")
    assert closed.endswith("the writer is discarded; make a new ShardWriter")
    assert names(tmp_path) == []


def test_a_disk_that_fills_up_with_the_last_bytes_leaves_nothing(tmp_path):
    code = """
import resource, sys, pyarrow as pa
from raydata_ext.errors import WriteError
from raydata_ext.table.ipc_writer import ShardWriter
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
batch = pa.record_batch({"n": range(1000)})
try:
    with ShardWriter(sys.argv[1], batch.schema) as writer:
        writer.write(batch)
except WriteError as error:
    print(error.errno)
"""
    run = run_python(code, tmp_path / "a.arrow")

    assert (run.stdout, run.stderr) == (f"{errno.EFBIG}\n", "")
    assert names(tmp_path) == []


def test_a_path_below_a_file_is_a_write_error(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(WriteError, match=r"file/a\.arrow"):
        ShardWriter(tmp_path / "file" / "a.arrow", BATCH.schema)


def test_a_name_taken_by_a_directory_is_a_write_error_and_leaves_nothing(tmp_path):
    (tmp_path / "a.arrow" / "full").mkdir(parents=True)
    writer = ShardWriter(tmp_path / "a.arrow", BATCH.schema)

    with pytest.raises(WriteError, match=r"a\.arrow"):
        writer.finish()

    assert names(tmp_path) == ["a.arrow"]


def test_a_temporary_name_tells_host_and_process(tmp_path, monkeypatch):
    monkeypatch.setattr(socket, "gethostname", lambda: "node-1.rack 2.example")

    name = temporary_name(tmp_path / "data-00000-of-00004.arrow")

    assert name.parent == tmp_path
    assert name.name.startswith(".data-00000-of-00004.arrow.node-1")
    assert parse_temporary_name(name) == ("node-1.rack 2.example", os.getpid())


def test_temporary_names_of_one_file_differ_and_fit_the_file_system(tmp_path):
    path = tmp_path / ("é" * 127)

    first, second = temporary_name(path), temporary_name(path)

    assert first != second
    first.touch()
    assert parse_temporary_name(first) == (socket.gethostname(), os.getpid())


@pytest.mark.parametrize("name", ["a.arrow", ".a.arrow.host.12.tmp", "a.arrow.host.12.ab.tmp", ".a.host.x.ab.tmp"])
def test_other_names_are_not_temporary_names(name):
    assert parse_temporary_name(name) is None
