"""Rows as the shards that a plan starts from."""

from __future__ import annotations

import pickle
import socket

import numpy as np
import pyarrow as pa
import pytest

from raydata_ext.dataset import Dataset, concatenate_datasets, load_from_disk
from raydata_ext.dataset.indices import Indices
from raydata_ext.dataset.shards import KnownFile, SelectedShard, shards_of
from raydata_ext.plan import let_go_of_tables
from raydata_ext.table import ShardWriter, memory_mapped
from raydata_ext.table.ipc_reader import open_ipc_file

LENGTH = 20_000
SMALL = 100_000


@pytest.fixture
def big(tmp_path):
    """A file of about 700 kB, and one of a few rows."""
    for name, count in (("a", LENGTH), ("b", 10)):
        with ShardWriter(tmp_path / f"{name}.arrow", pa.schema([("n", pa.int64()), ("text", pa.string())])) as writer:
            batch = pa.table({"n": range(count), "text": [f"{n:020d}" for n in range(count)]})
            for part in batch.to_batches():
                writer.write(part)
    return Dataset.from_files([tmp_path / "a.arrow", tmp_path / "b.arrow"], cache_dir=tmp_path / "cache")


def cut(dataset, max_bytes=SMALL):
    parts = dataset.parts
    return shards_of(parts.table, parts.files, parts.indices, max_bytes)


def numbers(shards):
    return [number for shard in shards for _, batch in shard.read() for number in batch.column("n").to_pylist()]


def identities(shards):
    return [shard.identity(shard.hash_piece) for shard in shards]


def test_small_files_are_a_shard_each_and_large_ones_are_cut_at_whole_batches(big):
    shards = cut(big)
    assert [shard.num_rows for shard in shards] == [3000] * 6 + [2000, 10]
    assert numbers(shards) == [*range(LENGTH), *range(10)]
    assert len(set(identities(shards))) == len(shards)
    assert all(shard.num_bytes < 1.2 * SMALL for shard in shards)


def test_the_cut_of_a_file_does_not_depend_on_other_files(big, tmp_path):
    alone = Dataset.from_file(tmp_path / "a.arrow")
    assert identities(cut(alone)) == identities(cut(big))[:-1]


def test_a_part_of_a_file_is_as_large_as_its_rows(big):
    (shard,) = cut(big.select(range(100, 110)))
    assert shard.num_bytes < 1000
    assert numbers([shard]) == list(range(100, 110))


def test_rows_under_a_mapping_are_cut_by_number(big):
    shuffled = big.shuffle(seed=1)
    shards = cut(shuffled)
    assert len(shards) > 5
    assert all(isinstance(shard, SelectedShard) for shard in shards)
    assert sum(shard.num_rows for shard in shards) == LENGTH + 10
    assert numbers(shards) == list(shuffled["n"])
    assert len(set(identities(shards))) == len(shards)


def test_a_part_of_a_mapping_counts_by_the_rows_it_chooses_and_not_by_where_they_are(big, tmp_path):
    some = big.select(range(0, 2000, 2))
    (shard,) = cut(some)
    other = concatenate_datasets([Dataset.from_file(tmp_path / "b.arrow"), big]).select(range(10, 2010, 2))
    assert numbers([shard]) == numbers(cut(other)) == list(range(0, 2000, 2))
    assert identities([shard]) != identities(cut(big.select(range(0, 2002, 2))))


def test_a_narrow_part_of_a_mapping_leaves_other_files_out(tmp_path, big):
    before = identities(cut(big.select(range(LENGTH, LENGTH + 10)).select([0, 2, 4])))
    longer = concatenate_datasets([big, Dataset.from_file(tmp_path / "b.arrow")])
    assert identities(cut(longer.select([LENGTH, LENGTH + 2, LENGTH + 4]))) != []
    (shard,) = cut(longer.select([LENGTH + 1, LENGTH + 3]))
    assert [piece.file.name for piece in shard.pieces] == ["b.arrow"]
    assert before == identities(cut(big.select(range(LENGTH, LENGTH + 10)).select([0, 2, 4])))


def test_a_shard_of_files_travels_without_rows(big):
    for shard in cut(big.shuffle(seed=1)):
        assert len(pickle.dumps(shard)) < 60_000
        assert numbers([pickle.loads(pickle.dumps(shard))]) == numbers([shard])


@pytest.fixture
def opened(monkeypatch):
    """Paths of the files that tables open, one after the other."""
    paths = []

    def open_and_note(path, **options):
        paths.append(path)
        return open_ipc_file(path, **options)

    monkeypatch.setattr(memory_mapped, "open_ipc_file", open_and_note)
    yield paths
    let_go_of_tables()


def test_whoever_is_given_one_shard_after_the_other_of_a_mapping_opens_each_file_once(big, opened):
    shuffled = big.shuffle(seed=1)
    sent = [pickle.dumps(shard) for shard in cut(shuffled)]
    read = [number for one in sent for number in numbers([pickle.loads(one)])]
    assert read == list(shuffled["n"])
    opened.clear()
    assert [number for one in sent for number in numbers([pickle.loads(one)])] == read
    assert opened == []
    let_go_of_tables()
    assert [number for one in sent for number in numbers([pickle.loads(one)])] == read
    assert sorted(opened) == sorted(file["filename"] for file in big.cache_files)


def test_a_shard_tells_the_host_that_made_its_files_where_one_host_made_them_all(big):
    parts = big.map(lambda row: {"m": row["n"]}, executor="inline").parts
    paths = [shard.table.path for shard in shards_of(parts.table, parts.files)]
    here = socket.gethostname()
    homes = {
        (first, second): [
            shard.home
            for rows in (None, Indices.of(np.arange(LENGTH + 10)[::-1].copy(), big.parts.workspace.store))
            for shard in shards_of(parts.table, dict(zip(paths, map(made_by, (first, second)), strict=True)), rows)
        ]
        for first, second in (("x", "x"), ("x", "y"), ("", ""))
    }
    assert homes == {("x", "x"): ["x"] * 3, ("x", "y"): ["x", "y", ""], ("", ""): [""] * 3}
    assert [shard.home for shard in shards_of(parts.table, parts.files)] == [here, here]


def made_by(host):
    return KnownFile("0" * 32, home=host)


def test_rows_in_memory_are_cut_too_and_travel_alone(tmp_path):
    dataset = Dataset.from_dict({"n": np.arange(50_000)}, cache_dir=tmp_path)
    shards = cut(dataset)
    assert [shard.num_rows for shard in shards] == [13_000] * 3 + [11_000]
    assert numbers(shards) == list(range(50_000))
    shuffled = cut(dataset.shuffle(seed=1))
    assert numbers(shuffled) == list(dataset.shuffle(seed=1)["n"])
    assert all(len(pickle.dumps(shard)) < 1.2 * SMALL for shard in (*shards, *shuffled))


def test_no_rows_are_one_shard_that_tells_the_schema(big):
    for empty in (big.select([]), big.shuffle(seed=1).select([])):
        (shard,) = cut(empty)
        assert [batch.schema.names for _, batch in shard.read()] == [["n", "text"]]
        assert shard.num_rows == 0


def test_columns_side_by_side_are_shards_of_both(big):
    doubled = big.add_column("double", [2 * number for number in big["n"]])
    shards = cut(doubled)
    assert numbers(shards) == list(big["n"])
    assert [n for shard in shards for _, batch in shard.read() for n in batch.column("double").to_pylist()] == [
        2 * number for number in big["n"]
    ]
    assert len(set(identities(shards))) == len(shards)


def test_the_content_of_results_and_saved_files_is_known_without_reading_them(big, tmp_path):
    mapped = big.map(lambda row: {"m": row["n"]}, executor="inline")
    mapped.save_to_disk(tmp_path / "out", executor="inline")
    for dataset in (mapped, mapped.shuffle(seed=1), load_from_disk(tmp_path / "out")):
        for shard in cut(dataset):
            assert shard.pieces == ()
            assert shard.identity(lambda piece: pytest.fail(f"{piece} is read")) is not None


def test_messages_name_what_the_rows_were_made_of(tmp_path):
    from raydata_ext import load_dataset

    (tmp_path / "words.txt").write_text("one\ntwo\n")
    loaded = load_dataset(tmp_path / "words.txt", cache_dir=tmp_path / "cache")
    (shard,) = loaded.shards
    assert shard.label == str(tmp_path / "words.txt")
    (chosen,) = loaded.select([1, 0]).shards
    assert chosen.label == f"{tmp_path / 'words.txt'}, by indices 0:2"
