"""Local Arrow files are mapped, so that a stream refers to their rows."""

from __future__ import annotations

import pyarrow as pa
import pytest

from raydata_ext.errors import CorruptFileError, ReadError
from raydata_ext.sources import scan_files
from raydata_ext.streaming import IterableDataset


@pytest.fixture
def corpus(tmp_path):
    for number in range(3):
        write(tmp_path / f"{number}.arrow", range(number * 100, number * 100 + 100))
    return tmp_path


def write(path, numbers, **options):
    table = pa.table({"x": list(numbers), "text": [f"row {n}" for n in numbers]})
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema, **options) as writer:
        writer.write_table(table, 10)


def stream_of(pattern, **options):
    return IterableDataset.from_shards(scan_files(str(pattern), **options).shards)


def numbers(stream):
    return [row["x"] for row in stream]


def test_rows_of_local_files_are_referred_to_and_counted(corpus):
    stream = stream_of(corpus / "*.arrow")
    assert stream.node.indexed
    assert len(stream) == 300
    assert numbers(stream) == list(range(300))
    assert sorted(numbers(stream.shuffle(1, buffer_size=50))) == list(range(300))


def test_a_part_of_a_file_is_a_shard_of_its_own(corpus):
    stream = stream_of(corpus / "0.arrow", max_shard_bytes=2000)
    assert stream.num_shards > 1
    assert stream.node.indexed
    assert numbers(stream) == list(range(100))


def test_only_the_columns_that_were_asked_for_are_there(corpus):
    assert stream_of(corpus / "*.arrow", columns=["text"]).column_names == ["text"]
    with pytest.raises(ReadError, match="no column 'z'"):
        stream_of(corpus / "*.arrow", columns=["z"])


def test_compressed_files_are_read_batch_by_batch(corpus):
    write(corpus / "3.arrow", range(300, 320), options=pa.ipc.IpcWriteOptions(compression="lz4"))
    stream = stream_of(corpus / "3.arrow")
    assert not stream.node.indexed
    assert numbers(stream) == list(range(300, 320))
    assert numbers(stream_of(corpus / "*.arrow")) == list(range(320))


def test_a_damaged_file_is_named(corpus):
    path = corpus / "1.arrow"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(CorruptFileError, match=r"1\.arrow"):
        stream_of(path)
