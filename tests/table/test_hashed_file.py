"""Files that know their checksum and are written without a copy."""

from __future__ import annotations

import os

import pyarrow as pa
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from raydata_ext.table.hashed_file import HashedFile


def written(path, *groups: list[bytes]) -> HashedFile:
    file = HashedFile(path)
    for group in groups:
        for data in group:
            file.sink.write(data)
        file.write_out()
    file.close()
    return file


@given(st.lists(st.lists(st.binary(max_size=20), max_size=5), max_size=4))
def test_the_file_holds_what_was_written_and_knows_its_size_and_checksum(tmp_path_factory, groups) -> None:
    path = tmp_path_factory.mktemp("hashed") / "file"
    content = b"".join(data for group in groups for data in group)

    file = written(path, *groups)

    assert path.read_bytes() == content
    assert (file.num_bytes, file.hexdigest()) == (len(content), xxhash.xxh3_128_hexdigest(content))


def test_more_buffers_than_one_call_takes_are_written_too(tmp_path) -> None:
    buffers = [b"%d," % number for number in range(5000)]

    written(tmp_path / "file", buffers)

    assert (tmp_path / "file").read_bytes() == b"".join(buffers)


@pytest.mark.parametrize("most", [1, 3, 7])
def test_where_the_system_takes_less_than_it_is_given_the_rest_follows(tmp_path, monkeypatch, most: int) -> None:
    everything = os.writev
    monkeypatch.setattr(os, "writev", lambda file, buffers: everything(file, [b"".join(buffers)[:most]]))

    file = written(tmp_path / "file", [b"ab", b"", b"cdefg", b"h"])

    assert (tmp_path / "file").read_bytes() == b"abcdefgh"
    assert file.num_bytes == 8


def test_a_small_batch_is_one_call_of_the_system_and_no_copy(tmp_path, monkeypatch) -> None:
    batch = pa.record_batch({"n": range(1000), "text": ["words"] * 1000})
    file = HashedFile(tmp_path / "file")
    stream = pa.ipc.new_stream(pa.PythonFile(file.sink, mode="w"), batch.schema)
    calls = []
    everything = os.writev

    def counted(descriptor, buffers):
        calls.append([pa.py_buffer(data).address for data in buffers])
        return everything(descriptor, buffers)

    monkeypatch.setattr(os, "writev", counted)
    stream.write_batch(batch)
    file.write_out()
    file.close()

    [addresses] = calls
    of_columns = [buffer.address for column in batch.columns for buffer in column.buffers() if buffer]
    assert [address for address in addresses if address in of_columns] == of_columns


def test_large_buffers_are_hashed_and_written_in_runs_that_end_at_multiples_of_512_kb(tmp_path, monkeypatch) -> None:
    groups = [
        [bytes([number]) * size for number, size in enumerate(sizes)]
        for sizes in ([700_000, 10, 300_000, 1 << 18, 5], [1 << 20, 9], [1 << 20])
    ]
    ends = []
    everything = os.writev

    def noted(descriptor, run):
        ends.append((ends[-1] if ends else 0) + sum(map(len, run)))
        return everything(descriptor, run)

    monkeypatch.setattr(os, "writev", noted)
    file = written(tmp_path / "file", *groups)

    content = b"".join(data for group in groups for data in group)
    assert (tmp_path / "file").read_bytes() == content
    assert (file.num_bytes, file.hexdigest()) == (len(content), xxhash.xxh3_128_hexdigest(content))
    of_groups = [1_262_159, 2_310_744, 3_359_320]  # the end of each group is written too, wherever it is
    assert ends == sorted([*range(1 << 19, len(content), 1 << 19), *of_groups])


def test_what_is_not_written_out_is_not_in_the_file(tmp_path) -> None:
    file = HashedFile(tmp_path / "file")
    file.sink.write(b"lost")
    file.close()

    assert (tmp_path / "file").read_bytes() == b""


def test_a_file_that_exists_is_not_replaced(tmp_path) -> None:
    (tmp_path / "file").write_bytes(b"here")

    with pytest.raises(FileExistsError):
        HashedFile(tmp_path / "file")
