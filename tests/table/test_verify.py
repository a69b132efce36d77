from __future__ import annotations

import pyarrow as pa
import pytest
import xxhash

from raydata_ext.errors import CorruptFileError
from raydata_ext.table.ipc_writer import ShardWriter
from raydata_ext.table.verify import checksum_file, verify_ipc_file

BATCH = pa.record_batch({"text": ["needle", "é", None], "n": [1, 2, 3]})


@pytest.fixture
def written(tmp_path):
    with ShardWriter(tmp_path / "a.arrow", BATCH.schema, batch_rows=2) as writer:
        writer.write(BATCH)
        return tmp_path / "a.arrow", writer.finish()


def replace(path, old, new):
    data = path.read_bytes()
    assert old in data
    path.write_bytes(data.replace(old, new))


def test_a_whole_file_verifies_and_is_described_as_when_it_was_written(written):
    path, summary = written

    assert verify_ipc_file(path) == summary
    assert verify_ipc_file(path, checksum=summary.checksum, num_bytes=summary.num_bytes) == summary


def test_one_changed_value_is_found_by_the_checksum(written):
    path, summary = written
    replace(path, b"needle", b"noodle")

    assert verify_ipc_file(path).rows == 3
    with pytest.raises(CorruptFileError, match=rf"a\.arrow: its checksum is .*, {summary.checksum} was expected"):
        verify_ipc_file(path, checksum=summary.checksum)


def test_another_size_is_found_before_anything_is_read(written):
    path, summary = written

    with pytest.raises(CorruptFileError, match=rf"has {summary.num_bytes} bytes, 5 were expected"):
        verify_ipc_file(path, num_bytes=5)


def test_text_that_is_not_utf8_is_found_without_a_checksum(written):
    path, _ = written
    replace(path, b"needle", b"need\xff\xfe")

    with pytest.raises(CorruptFileError, match=r"a\.arrow: batch 0 \(rows 0 to 2\) holds damaged values: .*UTF8"):
        verify_ipc_file(path)


def test_offsets_that_lead_nowhere_are_found_without_a_checksum(tmp_path):
    with ShardWriter(tmp_path / "a.arrow", BATCH.schema) as writer:
        writer.write(BATCH)
    offsets = [number.to_bytes(4, "little") for number in (0, 6, 8, 8)]
    replace(tmp_path / "a.arrow", b"".join(offsets), b"".join([offsets[0], b"\x00\x00\x00\x70", *offsets[2:]]))

    with pytest.raises(CorruptFileError, match=r"batch 0 \(rows 0 to 3\) holds damaged values"):
        verify_ipc_file(tmp_path / "a.arrow")


def test_a_truncated_file_does_not_verify(written):
    path, _ = written
    path.write_bytes(path.read_bytes()[:-8])

    with pytest.raises(CorruptFileError, match="truncated"):
        verify_ipc_file(path)


def test_a_missing_file_is_a_file_not_found_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        verify_ipc_file(tmp_path / "absent.arrow")


def test_the_checksum_of_a_range_is_that_of_its_bytes(tmp_path):
    data = bytes(range(256)) * 40_000  # 10 MB: several reads
    path = tmp_path / "data"
    path.write_bytes(data)

    assert checksum_file(path) == xxhash.xxh3_128_hexdigest(data)
    assert checksum_file(path, 7) == xxhash.xxh3_128_hexdigest(data[7:])
    assert checksum_file(path, 100, 9_000_001) == xxhash.xxh3_128_hexdigest(data[100:9_000_001])
    assert checksum_file(path, 5, 5) == xxhash.xxh3_128_hexdigest(b"")


def test_a_range_beyond_the_end_of_the_file_is_an_error(tmp_path):
    (tmp_path / "data").write_bytes(b"12345")

    with pytest.raises(CorruptFileError, match="data: ends 2 bytes before byte 7"):
        checksum_file(tmp_path / "data", 0, 7)
