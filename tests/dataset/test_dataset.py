"""The whole face: whatever is done to a data set, it holds the rows that a list of dicts would hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from raydata_ext.dataset import Dataset, concatenate_datasets

positions = st.lists(st.integers(-3, 30), max_size=12)

STEPS = st.one_of(
    st.tuples(st.just("select"), positions),
    st.tuples(st.just("slice"), st.tuples(st.integers(0, 12), st.integers(0, 12))),
    st.tuples(st.just("shuffle"), st.integers(0, 5)),
    st.tuples(st.just("sort"), st.sampled_from(["id", "text"])),
    st.tuples(st.just("shard"), st.tuples(st.integers(1, 3), st.booleans())),
    st.tuples(st.just("filter"), st.integers(1, 3)),
    st.tuples(st.just("twice"), st.none()),
    st.tuples(st.just("map"), st.integers(0, 9)),
    st.tuples(st.just("number"), st.none()),
    st.tuples(st.just("rename"), st.none()),
    st.tuples(st.just("flatten_indices"), st.none()),
)


ON_DATASETS = {
    "select": lambda d, value: d.select([position for position in value if -len(d) <= position < len(d)]),
    "slice": lambda d, value: d.skip(value[0]).take(value[1]),
    "shuffle": lambda d, value: d.shuffle(seed=value),
    "sort": lambda d, value: d.sort(value, reverse=True),
    "shard": lambda d, value: d.shard(value[0], 0, contiguous=value[1]),
    "filter": lambda d, value: d.filter(lambda n: n % value == 0, input_columns="id", executor="inline"),
    "twice": lambda d, _: concatenate_datasets([d, d.select(range(0, len(d), 2))]),
    "map": lambda d, value: d.map(lambda row: {"id": row["id"] + value}, executor="inline"),
    "number": lambda d, _: d.remove_columns("n").add_column("n", np.arange(len(d))),
    "rename": lambda d, _: d.rename_columns({"n": "text", "text": "n"}).rename_columns({"n": "text", "text": "n"}),
    "flatten_indices": lambda d, _: d.flatten_indices(executor="inline"),
}
ON_LISTS = {
    "select": lambda rows, value: [rows[position] for position in value if -len(rows) <= position < len(rows)],
    "slice": lambda rows, value: rows[value[0] :][: value[1]],
    "shuffle": lambda rows, value: [rows[place] for place in np.random.default_rng(value).permutation(len(rows))],
    "sort": lambda rows, value: sorted(rows, key=lambda row: row[value], reverse=True),
    "shard": lambda rows, value: rows[: -(-len(rows) // value[0])] if value[1] else rows[:: value[0]],
    "filter": lambda rows, value: [row for row in rows if row["id"] % value == 0],
    "twice": lambda rows, _: rows + rows[::2],
    "map": lambda rows, value: [{**row, "id": row["id"] + value} for row in rows],
    "number": lambda rows, _: [{**row, "n": number} for number, row in enumerate(rows)],
    "rename": lambda rows, _: rows,
    "flatten_indices": lambda rows, _: rows,
}


@pytest.fixture(scope="module")
def starts(tmp_path_factory):
    """The same rows in a mapped file, in memory, and partly in each."""
    cache = tmp_path_factory.mktemp("cache")
    columns = {"id": list(range(12)), "text": [f"{n % 5}" for n in range(12)], "n": list(range(12))}
    in_memory = Dataset.from_dict(columns, cache_dir=cache)
    in_memory.save_to_disk(cache / "out", executor="inline")
    mapped = Dataset.from_files((cache / "out").glob("*.arrow"), cache_dir=cache)
    both = concatenate_datasets([mapped.select(range(5)), in_memory.select(range(5, 12))])
    return [mapped, in_memory, both], in_memory.to_list()


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 2), st.lists(STEPS, max_size=5), st.data())
def test_any_chain_of_operations_gives_the_rows_that_a_list_would_give(starts, start, steps, data):
    dataset, rows = starts[0][start], starts[1]
    for name, value in steps:
        dataset, rows = ON_DATASETS[name](dataset, value), ON_LISTS[name](rows, value)
    assert list(dataset) == rows
    assert [batch["id"] for batch in dataset.iter(4)] == [
        [row["id"] for row in rows[first : first + 4]] for first in range(0, len(rows), 4)
    ]
    chosen = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=5)) if rows else []
    assert dataset[chosen]["text"] == [rows[position]["text"] for position in chosen]
    assert [batch for shard in dataset.shards for _, part in shard.read() for batch in part.to_pylist()] == rows
