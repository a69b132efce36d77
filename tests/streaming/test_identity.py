"""What a state is bound to, as far as data goes."""

from __future__ import annotations

import shutil

import pyarrow as pa
import pytest

from raydata_ext.errors import StateError
from raydata_ext.plan import TableShard
from raydata_ext.sources import scan_files
from raydata_ext.streaming import IterableDataset
from raydata_ext.table import InMemoryTable, MemoryMappedTable, ShardWriter


def write(path, numbers):
    table = pa.table({"x": numbers})
    with ShardWriter(path, table.schema) as writer:
        writer.write(table.to_batches()[0])
    return path


def state_of(stream):
    next(iter(stream))
    return stream.state_dict()


def mapped(path):
    return IterableDataset.from_tables([MemoryMappedTable.from_file(path)])


def test_a_state_outlives_a_move_of_the_files(tmp_path):
    state = state_of(mapped(write(tmp_path / "a.arrow", [1, 2, 3])))
    (tmp_path / "elsewhere").mkdir()
    moved = shutil.move(tmp_path / "a.arrow", tmp_path / "elsewhere" / "a.arrow")
    there = mapped(moved)
    there.load_state_dict(state)
    assert list(there) == list(mapped(moved))[1:]


def test_a_file_of_another_length_is_other_data(tmp_path):
    state = state_of(mapped(write(tmp_path / "a.arrow", [1, 2, 3])))
    (tmp_path / "b").mkdir()
    with pytest.raises(StateError, match="data was"):
        mapped(write(tmp_path / "b" / "a.arrow", [1, 2, 3, 4])).load_state_dict(state)


def test_other_columns_or_rows_of_a_file_are_other_data(tmp_path):
    table = MemoryMappedTable.from_file(write(tmp_path / "a.arrow", [1, 2, 3]))
    state = state_of(IterableDataset.from_tables([table]))
    for other in (table.slice(1), table.rename_columns(["y"])):
        with pytest.raises(StateError, match="data was"):
            IterableDataset.from_tables([other]).load_state_dict(state)


def test_rows_in_memory_count_by_value():
    state = state_of(IterableDataset.from_tables([pa.table({"x": [1, 2]})]))
    IterableDataset.from_tables([pa.table({"x": [1, 2]})]).load_state_dict(state)
    with pytest.raises(StateError, match="data was"):
        IterableDataset.from_tables([pa.table({"x": [1, 3]})]).load_state_dict(state)


def test_a_known_checksum_or_fingerprint_stands_for_the_rows(tmp_path):
    table = MemoryMappedTable.from_file(write(tmp_path / "a.arrow", [1, 2, 3]))

    def stream(checksum):
        return IterableDataset.from_shards([TableShard(table, ((table.path, checksum),))])

    state = state_of(stream("one"))
    stream("one").load_state_dict(state)
    with pytest.raises(StateError, match="data was"):
        stream("two").load_state_dict(state)
    state = state_of(IterableDataset.from_tables([InMemoryTable(pa.table({"x": [1]}))], fingerprint="same"))
    IterableDataset.from_tables([InMemoryTable(pa.table({"x": [2]}))], fingerprint="same").load_state_dict(state)


def test_other_files_and_other_options_are_other_data(tmp_path):
    (tmp_path / "a.txt").write_text("1\n2\n")
    (tmp_path / "b.txt").write_text("1\n2\n3\n")
    state = state_of(IterableDataset.from_shards(scan_files(str(tmp_path / "a.txt")).shards))
    for shards in (
        scan_files(str(tmp_path / "b.txt")).shards,
        scan_files(str(tmp_path / "a.txt"), column="line").shards,
    ):
        with pytest.raises(StateError, match="data was"):
            IterableDataset.from_shards(shards).load_state_dict(state)


def test_other_arguments_of_a_generator_are_other_data():
    def rows(shards, prefix):
        yield {"x": f"{prefix}{shards}"}

    state = state_of(IterableDataset.from_generator(rows, {"shards": [1, 2], "prefix": "a"}))
    for arguments in ({"shards": [1, 3], "prefix": "a"}, {"shards": [1, 2], "prefix": "b"}):
        with pytest.raises(StateError, match="data was"):
            IterableDataset.from_generator(rows, arguments).load_state_dict(state)
