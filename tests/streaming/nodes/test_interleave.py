"""Mixtures: the order of the reference, and what it leaves open."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from raydata_ext.streaming import IterableDataset, interleave_datasets
from raydata_ext.table import InMemoryTable

STRATEGIES = ("first_exhausted", "all_exhausted", "all_exhausted_without_replacement")


def tables(sizes):
    return [
        IterableDataset.from_tables([InMemoryTable(pa.table({"x": range(i * 10_000, i * 10_000 + size)}))])
        for i, size in enumerate(sizes)
    ]


def generators(sizes):
    def count_up(first, size):
        yield from ({"x": first + number} for number in range(size))

    return [
        IterableDataset.from_generator(count_up, {"first": i * 10_000, "size": size}) for i, size in enumerate(sizes)
    ]


def numbers(stream):
    return [row["x"] for row in stream]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("chance", [False, True])
def test_the_order_is_the_reference_for_any_sources(strategy, chance, oracle):
    generator = np.random.default_rng(STRATEGIES.index(strategy) * 2 + chance)
    for number in range(150):
        sizes = generator.integers(1, generator.choice([2, 8, 40]), size=generator.integers(1, 7)).tolist()
        probabilities = generator.dirichlet([6] * len(sizes)).tolist() if chance else None
        seed = int(generator.integers(0, 1000))
        expected = oracle.interleaved(
            [list(range(i * 10_000, i * 10_000 + size)) for i, size in enumerate(sizes)], probabilities, seed, strategy
        )
        make = generators if number % 10 == 0 else tables
        mixed = interleave_datasets(make(sizes), probabilities, seed, strategy)
        assert numbers(mixed) == expected, (sizes, probabilities, seed)
        if mixed.node.num_rows is not None:
            assert len(mixed) == len(expected)


def test_large_sources_are_mixed_like_the_reference(oracle):
    sizes, probabilities = [30_000, 9000, 17_000], [0.5, 0.2, 0.3]
    whole = [list(range(i * 100_000, i * 100_000 + size)) for i, size in enumerate(sizes)]
    streams = [IterableDataset.from_tables([InMemoryTable(pa.table({"x": rows}))]) for rows in whole]
    for strategy in STRATEGIES:
        expected = oracle.interleaved(whole, probabilities, 3, strategy)
        assert numbers(interleave_datasets(streams, probabilities, 3, strategy)) == expected


def test_the_first_to_end_ends_the_mixture_and_the_last_row_comes():
    assert numbers(interleave_datasets(tables([3, 4, 2]))) == [0, 10_000, 20_000, 1, 10_001, 20_001]


@pytest.mark.parametrize("make", [tables, generators])
def test_a_source_without_rows_has_ended_from_the_begin(make):
    assert numbers(interleave_datasets(make([3, 0]))) == []
    assert numbers(interleave_datasets(make([3, 0]), stopping_strategy="all_exhausted")) == [0, 1, 2]
    assert numbers(interleave_datasets(make([0, 2]), [0.5, 0.5], 1, "all_exhausted_without_replacement")) == [
        10_000,
        10_001,
    ]
    assert numbers(interleave_datasets(make([0, 0]), stopping_strategy="all_exhausted")) == []


def test_a_source_that_is_never_picked_is_not_waited_for():
    mixed = interleave_datasets(tables([3, 5]), [1.0, 0.0], seed=1, stopping_strategy="all_exhausted")
    assert numbers(mixed) == [0, 1, 2]


def test_a_source_that_is_never_picked_is_not_read():
    read = []

    def rows(name):
        read.append(name)
        yield {"x": name}

    streams = [IterableDataset.from_generator(rows, {"name": name}) for name in ("a", "b")]
    for strategy in STRATEGIES:
        assert numbers(interleave_datasets(streams, [1.0, 0.0], 1, strategy)) == ["a"]
    assert set(read) == {"a"}


def test_a_shuffled_source_that_begins_again_is_shuffled_anew():
    small, large = tables([50, 400])
    mixed = interleave_datasets([small.shuffle(1, buffer_size=50), large], stopping_strategy="all_exhausted")
    rows = [x for x in numbers(mixed) if x < 10_000]
    passes = [rows[i : i + 50] for i in range(0, 350, 50)]
    assert all(sorted(one) == list(range(50)) for one in passes)
    assert len(set(map(tuple, passes))) == 7


def test_picks_differ_between_epochs_and_come_again():
    mixed = interleave_datasets(tables([60, 60]), [0.5, 0.5], seed=1)
    first = numbers(mixed)
    mixed.set_epoch(1)
    second = numbers(mixed)
    mixed.set_epoch(0)
    assert numbers(mixed) == first != second


def test_picks_differ_between_loader_processes_and_come_again():
    node = interleave_datasets(tables([100, 100]), [0.5, 0.5], seed=1).node
    picks = [[x // 10_000 for x in numbers(IterableDataset(node.split(2, i).shift_seeds(i)))] for i in (0, 1, 0)]
    assert picks[0] == picks[2]
    assert picks[0][:20] != picks[1][:20]


def test_shuffling_a_mixture_keeps_its_rows():
    mixed = interleave_datasets(
        tables([20, 20]), [0.5, 0.5], seed=1, stopping_strategy="all_exhausted_without_replacement"
    )
    shuffled = numbers(mixed.shuffle(2, buffer_size=10))
    assert sorted(shuffled) == sorted(numbers(mixed)) != shuffled


@pytest.mark.parametrize("made_of", ["tables", "generators", "both"])
def test_each_row_has_the_columns_of_all_sources(made_of):
    rows = [[{"x": 1, "y": "a"}, {"x": 2, "y": "b"}], [{"x": 2.5}]]

    def give(number):
        return rows[number]

    streams = [
        IterableDataset.from_tables([pa.Table.from_pylist(rows[number])])
        if made_of == "tables" or (made_of == "both" and number == 0)
        else IterableDataset.from_generator(give, {"number": number})
        for number in range(2)
    ]
    mixed = interleave_datasets(streams, stopping_strategy="all_exhausted_without_replacement")
    expected = [{"x": 1.0, "y": "a"}, {"x": 2.5, "y": None}, {"x": 2.0, "y": "b"}]
    assert list(mixed) == expected
    for place in range(4):
        found = iter(mixed)
        for _ in range(place):
            next(found)
        mixed.load_state_dict(mixed.state_dict())
        assert list(mixed) == expected[place:]


@pytest.mark.parametrize(
    ("probabilities", "message"),
    [([1.0], "1 probabilities for 2"), ([0.5, 0.6], "add up to 1"), ([1.5, -0.5], "must not be negative")],
)
def test_wrong_probabilities_are_refused(probabilities, message):
    with pytest.raises(ValueError, match=message):
        interleave_datasets(tables([1, 1]), probabilities)


def test_an_unknown_strategy_is_refused():
    with pytest.raises(ValueError, match="choose one of"):
        interleave_datasets(tables([1, 1]), stopping_strategy="never")


def test_nothing_cannot_be_mixed():
    with pytest.raises(ValueError, match="no streams"):
        interleave_datasets([])
