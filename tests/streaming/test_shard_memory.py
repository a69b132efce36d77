"""Rows of shards that wait in memory, and how they are read again."""

from __future__ import annotations

import json

import numpy as np
import pytest

from raydata_ext.dataset import load_dataset
from raydata_ext.errors import StateError
from raydata_ext.streaming import IterableDataset
from raydata_ext.streaming.shard_memory import ShardMemory
from raydata_ext.streaming.shards import GeneratorShard


def count_up(low, high, read=None):
    for number in range(low, high):
        if read is not None:
            read.append(number)
        yield {"x": number}


def groups_of(*bounds, read=None):
    return [[GeneratorShard(count_up, {"low": low, "high": high, "read": read}) for low, high in of] for of in bounds]


def values(memory, references):
    return memory.gather(references).column("x").to_pylist()


def read_to_the_end(memory):
    found = []
    while (references := memory.next()) is not None:
        found += values(memory, references)
    return found


def test_one_row_of_each_group_comes_in_turn():
    memory = ShardMemory(groups_of([(0, 3), (3, 5)], [(10, 12)]))
    assert read_to_the_end(memory) == [0, 10, 1, 11, 2, 3, 4]


def test_no_two_rows_have_one_reference():
    memory = ShardMemory(groups_of([(0, 300), (300, 555)], [(1000, 1200)]))
    references = []
    while (found := memory.next()) is not None:
        references += found.tolist()
    assert len(set(references)) == len(references) == 755


def left_after(memory, rows):
    """References of the first rows."""
    found = np.empty(0, np.int64)
    while len(found) < rows:
        found = np.concatenate([found, memory.next()])
    return found


def test_waiting_rows_are_read_again_from_their_own_shards_alone():
    bounds = [(0, 100), (100, 200), (200, 300)], [(1000, 1400)]
    memory = ShardMemory(groups_of(*bounds))
    references = left_after(memory, 500)
    waiting = references[[2, 3, 4, 404]]  # of the first and the third shard, and of the other group
    expected, state, mark = values(memory, waiting), memory.state(), memory.mark(waiting)
    read = []
    again = ShardMemory(groups_of(*bounds, read=read))
    again.recall(mark, waiting)
    again.load(state)
    assert read == []
    assert values(again, waiting) == expected
    assert not any(100 <= number < 200 for number in read)
    assert read_to_the_end(again) == read_to_the_end(memory)


def test_rows_that_wait_and_are_read_on_from_are_read_once():
    memory = ShardMemory(groups_of([(0, 4000)]))
    references = left_after(memory, 1024)
    state = memory.state()
    waiting = memory.next()[:500]  # of a batch that is read only in part
    read = []
    again = ShardMemory(groups_of([(0, 4000)], read=read))
    again.recall(memory.mark(waiting), waiting)
    again.load(state)
    assert again.next()[:500].tolist() == waiting.tolist()
    assert values(again, waiting) == values(memory, waiting)
    assert len(read) == len(set(read))
    del references


def test_a_shard_that_has_become_shorter_is_noticed():
    memory = ShardMemory(groups_of([(0, 100)]))
    waiting = left_after(memory, 100)[-3:]
    again = ShardMemory(groups_of([(0, 50)]))
    again.recall(memory.mark(waiting), waiting)
    with pytest.raises(StateError, match="fewer rows than they did"):
        again.gather(waiting)


@pytest.fixture
def uneven_lines(tmp_path):
    """JSON lines of several units, whose types differ from unit to unit."""
    for number in range(3):
        rows = [{"x": i if i < 2000 else i + 0.5, "pad": "y" * 1000} for i in range(2500)]
        rows += [{"x": i, "date": "2020-01-01T00:00:00Z", "pad": None} for i in range(2500, 3000)]
        (tmp_path / f"{number}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def test_shuffled_json_lines_go_on_with_the_same_columns_and_types(uneven_lines):
    def make():
        return load_dataset(str(uneven_lines / "*.jsonl"), streaming=True, max_shard_bytes=4_000_000).shuffle(
            1, buffer_size=700
        )

    whole = [json.dumps(row) for row in make()]
    for place in (1, 1500, 4321, 8900):
        stream = make()
        rows = iter(stream)
        for _ in range(place):
            next(rows)
        later = make()
        later.load_state_dict(json.loads(json.dumps(stream.state_dict())))
        assert [json.dumps(row) for row in later] == whole[place:]


def test_a_step_below_the_shuffle_is_not_done_again_for_rows_that_were_delivered():
    seen = []
    stream = IterableDataset.from_generator(count_up, {"low": 0, "high": 100}).map(
        lambda row: seen.append(row["x"]) or row
    )
    rows = iter(stream.shuffle(1, buffer_size=10).take(5))
    delivered = [row["x"] for row in rows]
    assert seen == delivered
