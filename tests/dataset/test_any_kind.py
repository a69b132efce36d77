"""The same words for data sets and streams, and the way from one to the other."""

from __future__ import annotations

import numpy as np
import pytest

import raydata_ext as rdx


@pytest.fixture
def numbers(tmp_path):
    return rdx.Dataset.from_dict({"n": list(range(20))}, cache_dir=tmp_path)


def test_data_sets_and_streams_are_concatenated_and_interleaved_alike(numbers):
    other = rdx.Dataset.from_dict({"n": [100, 101, 102]})
    streams = [numbers.to_iterable_dataset(), other.to_iterable_dataset()]
    assert [row["n"] for row in rdx.concatenate_datasets([numbers, other])] == [*range(20), 100, 101, 102]
    assert list(rdx.concatenate_datasets(streams)) == list(rdx.concatenate_datasets([numbers, other]))
    mixed = rdx.interleave_datasets(streams, probabilities=[0.5, 0.5], seed=1)
    assert list(mixed) == list(rdx.interleave_datasets([numbers, other], probabilities=[0.5, 0.5], seed=1))


def test_kinds_do_not_mix(numbers):
    with pytest.raises(TypeError, match="do not mix"):
        rdx.concatenate_datasets([numbers, numbers.to_iterable_dataset()])
    with pytest.raises(TypeError, match="got list"):
        rdx.interleave_datasets([[1, 2]])


@pytest.mark.parametrize("streaming", [False, True])
def test_nodes_together_read_each_row_once(numbers, streaming):
    dataset = numbers.to_iterable_dataset(4) if streaming else numbers
    parts = [[row["n"] for row in rdx.split_dataset_by_node(dataset, rank, 3)] for rank in range(3)]
    assert sorted(n for part in parts for n in part) == list(range(20))
    assert all(parts)
    with pytest.raises(ValueError, match="rank is 3 of 3"):
        rdx.split_dataset_by_node(dataset, 3, 3)


def test_a_stream_keeps_format_and_selection(numbers):
    stream = numbers.select([5, 3, 5]).with_format("numpy").to_iterable_dataset()
    batch = next(stream.iter(3))
    assert isinstance(batch["n"], np.ndarray)
    assert batch["n"].tolist() == [5, 3, 5]


def test_files_stream_through_the_steps_of_a_plan_without_a_cache(corpus, tmp_path):
    lazy = (
        rdx.scan_dataset(str(corpus), format="text", cache_dir=tmp_path / "cache")
        .filter(lambda row: "line 1" in row["text"])
        .cache()
        .map(lambda row: {"length": len(row["text"])})
    )
    streamed = list(lazy.stream())
    assert len(streamed) == 40
    assert not list((tmp_path / "cache").glob("??/*"))
    assert streamed == list(lazy.collect())


def test_load_dataset_streams_where_it_is_asked_to(corpus, tmp_path):
    stream = rdx.load_dataset(str(corpus), format="text", cache_dir=tmp_path / "cache", streaming=True)
    assert isinstance(stream, rdx.IterableDataset)
    assert list(stream) == list(rdx.load_dataset(str(corpus), format="text", cache_dir=tmp_path / "cache"))
