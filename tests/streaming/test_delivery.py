"""A pass as its user sees it: what counts as delivered when the user, or what he calls, breaks off."""

from __future__ import annotations

import gc
import json
import threading
import weakref
from collections import deque

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from raydata_ext.errors import StepError
from raydata_ext.sources import scan_files
from raydata_ext.streaming import IterableDataset, interleave_datasets

ROWS = 3000


def count_up():
    yield from ({"x": number} for number in range(ROWS))


SOURCES = {
    "tables": lambda: IterableDataset.from_tables([pa.table({"x": range(ROWS)})]),
    "generator": lambda: IterableDataset.from_generator(count_up),
}
PASSES = {
    "rows": lambda stream: ([row["x"]] for row in stream),
    "batches": lambda stream: (batch["x"] for batch in stream.iter(700)),
}


@pytest.fixture(params=PASSES.values(), ids=PASSES.keys())
def read(request):
    """A pass over a stream, as lists of numbers."""
    return request.param


def delivered(parts, error):
    found = []
    with pytest.raises(error):
        deque(map(found.extend, parts), maxlen=0)
    return found


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_no_row_is_lost_where_a_step_fails_and_the_state_is_saved_then(source, error, read):
    failed = []

    def fail_once(row):
        if row["x"] == 1500 and not failed:
            failed.append(row)
            raise error
        return row

    stream = SOURCES[source]().map(fail_once)
    found = delivered(read(stream), StepError if error is ValueError else error)
    state = json.loads(json.dumps(stream.state_dict()))
    assert not state["ended"]
    assert len(found) < 1500
    stream.load_state_dict(state)
    assert found + [x for part in read(stream) for x in part] == list(range(ROWS))


def test_no_row_is_lost_where_a_shuffled_generator_fails(read):
    failed = []

    def fail_once():
        for row in count_up():
            if row["x"] == 1500 and not failed:
                failed.append(row)
                raise OSError("connection lost")
            yield row

    expected = list(IterableDataset.from_generator(count_up).shuffle(1, buffer_size=100))
    stream = IterableDataset.from_generator(fail_once).shuffle(1, buffer_size=100)
    found = delivered(read(stream), StepError)
    stream.load_state_dict(stream.state_dict())
    assert found + [x for part in read(stream) for x in part] == [row["x"] for row in expected]


def test_rows_that_cannot_be_shown_in_the_format_are_not_delivered():
    def rows():
        yield from ({"x": number, "y": number} for number in range(2))
        yield from ({"x": number} for number in range(2, 4))

    stream = IterableDataset.from_generator(rows)
    shown = stream.with_format("numpy", columns=["y"])
    batches = shown.iter(2)
    assert next(batches)["y"].tolist() == [0, 1]
    with pytest.raises(ValueError, match="'y'"):
        next(batches)
    stream.load_state_dict(shown.state_dict())
    assert list(stream) == [{"x": 2}, {"x": 3}]


@pytest.fixture
def files(tmp_path):
    for number in range(3):
        table = pa.table({"x": range(number * ROWS, (number + 1) * ROWS)})
        pq.write_table(table, tmp_path / f"{number}.parquet", row_group_size=500)
    return IterableDataset.from_shards(
        shard for i in range(3) for shard in scan_files(str(tmp_path / f"{i}.parquet")).shards
    )


CHAINS = {
    "plain": lambda s: s,
    "map": lambda s: s.map(lambda row: row),
    "shuffle": lambda s: s.shuffle(1, buffer_size=100),
    "map and shuffle": lambda s: s.map(lambda batch: batch, batched=True).shuffle(1, buffer_size=100),
    "mixture": lambda s: interleave_datasets([s, s], [0.5, 0.5], seed=1),
}


@pytest.mark.parametrize("chain", CHAINS)
def test_files_and_threads_end_as_soon_as_the_user_breaks_off_and_the_place_stays(chain, files, read):
    def reading():
        return [thread for thread in threading.enumerate() if "read-ahead" in thread.name]

    stream = CHAINS[chain](files)
    gc.disable()  # what only the collector would find stays open for long
    try:
        for number, _ in enumerate(read(stream)):
            if number == 8 * (700 if read is PASSES["rows"] else 1):
                break
        assert reading() == []
    finally:
        gc.enable()
    rest = [x for part in read(stream.over(stream.node)) for x in part]
    stream.load_state_dict(stream.state_dict())
    again = [x for part in read(stream) for x in part]
    assert again == rest[len(rest) - len(again) :]
    assert 0 < len(again) < len(rest)


def test_a_model_is_let_go_of_when_the_user_breaks_off():
    models = []

    class Model:
        def __init__(self):
            models.append(weakref.ref(self))

        def __call__(self, row):
            return row

    stream = SOURCES["tables"]().map(Model)
    rows = iter(stream)
    next(rows)
    assert models[0]() is not None
    del rows
    gc.collect()
    assert models[0]() is None
    assert stream.state_dict()["position"] is not None
