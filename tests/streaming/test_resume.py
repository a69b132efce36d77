"""Whatever the stream and wherever it is left: what was read and what is read after resuming are the whole, once."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from raydata_ext.errors import StateError
from raydata_ext.streaming import IterableDataset, interleave_datasets
from raydata_ext.table import InMemoryTable


def head_and_state(stream, count):
    rows = iter(stream)
    head = [next(rows) for _ in range(count)]
    return head, json.loads(json.dumps(stream.state_dict()))


def resumed(make, state):
    stream = make()
    stream.load_state_dict(state)
    return stream


def test_there_are_streams_of_every_kind(kinds):
    assert len(kinds) >= 60


def test_a_stream_goes_on_at_every_row(kind, kinds, wholes):
    make, whole = kinds[kind], wholes[kind]
    for place in range(len(whole) + 1):
        head, state = head_and_state(make(), place)
        assert head == whole[:place]
        assert list(resumed(make, state)) == whole[place:], f"left after {place} rows"


def test_a_stream_goes_on_when_it_is_resumed_twice(kind, kinds, wholes):
    make, whole = kinds[kind], wholes[kind]
    for place, more in ((0, 1), (3, 0), (5, 4), (len(whole) // 2, 2)):
        start = min(place, len(whole))
        _, state = head_and_state(make(), start)
        second, state_there = head_and_state(resumed(make, state), min(more, len(whole) - start))
        assert second + list(resumed(make, state_there)) == whole[start:], (place, more)


def test_a_stream_goes_on_in_a_later_epoch_and_begins_anew_after_it(kind, kinds):
    stream = kinds[kind]()
    stream.set_epoch(2)
    whole = list(stream)
    _, state = head_and_state(stream, len(whole) // 2)
    later = resumed(kinds[kind], state)
    assert later.epoch == 2
    assert list(later) == whole[len(whole) // 2 :]
    assert list(later) == whole


def test_asking_for_the_state_disturbs_no_stream(kind, kinds, wholes):
    stream, rows = kinds[kind](), []
    for row in stream:
        rows.append(row)
        stream.state_dict()
    assert rows == wholes[kind]


def test_every_stream_goes_on_in_another_process(kinds, wholes, stream_corpus, tmp_path):
    states = {kind: head_and_state(make(), len(wholes[kind]) // 2)[1] for kind, make in kinds.items()}
    (tmp_path / "states.json").write_text(json.dumps(states))
    program = str(Path(__file__).with_name("pipelines.py"))
    arguments = [sys.executable, program, str(stream_corpus), str(tmp_path / "states.json")]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {kind: whole[len(whole) // 2 :] for kind, whole in wholes.items()}


def numbers(sizes, seed=None, **options):
    first, tables = 0, []
    for size in sizes:
        tables.append(InMemoryTable(pa.table({"x": range(first, first + size)})))
        first += size
    stream = IterableDataset.from_tables(tables)
    return stream if seed is None else stream.shuffle(seed, **options)


def count_up(shards):
    for low, high in shards:
        yield from ({"x": number} for number in range(low, high))


LARGE = {
    "references": lambda: numbers([9000] * 5, 1, buffer_size=3000),
    "references in a large buffer": lambda: numbers([20_000] * 4, 1, buffer_size=70_000),
    "rows in memory": lambda: IterableDataset.from_generator(
        count_up, {"shards": [(i * 3000, i * 3000 + 3000) for i in range(4)]}
    ).shuffle(1, buffer_size=2000),
    "a mixture": lambda: interleave_datasets(
        [numbers([9000] * 3, 5, buffer_size=500), numbers([4000])],
        [0.7, 0.3],
        seed=1,
        stopping_strategy="all_exhausted",
    ),
}


@pytest.mark.parametrize("name", LARGE)
def test_streams_of_many_windows_go_on_anywhere(name):
    whole = [row["x"] for row in LARGE[name]()]
    for place in (1, 999, 1000, 1001, 4096, 8192, 8193, len(whole) // 2 + 17, len(whole) - 1, len(whole)):
        stream = LARGE[name]()
        rows = iter(stream)
        for _ in range(place):
            next(rows)
        rest = [row["x"] for row in resumed(LARGE[name], json.loads(json.dumps(stream.state_dict())))]
        assert rest == whole[place:], f"left after {place} rows"


def test_a_pass_in_batches_goes_on_after_the_last_batch():
    whole = list(numbers([9, 8], 1, buffer_size=5).iter(4))
    for place in range(len(whole) + 1):
        stream = numbers([9, 8], 1, buffer_size=5)
        batches = stream.iter(4)
        head = [next(batches) for _ in range(place)]
        assert head + list(resumed(lambda: numbers([9, 8], 1, buffer_size=5), stream.state_dict()).iter(4)) == whole


def test_the_state_of_a_buffer_of_ten_thousand_rows_is_less_than_100_kilobytes():
    stream = numbers([100_000] * 12, 1, buffer_size=10_000)
    _, state = head_and_state(stream, 50_000)
    assert len(json.dumps(state)) < 100_000


def test_a_state_taken_at_the_end_gives_no_rows_once():
    stream = numbers([5])
    list(stream)
    state = stream.state_dict()
    assert state["ended"]
    later = resumed(lambda: numbers([5]), state)
    assert list(later) == []
    assert len(list(later)) == 5


def test_a_state_of_other_data_is_refused():
    _, state = head_and_state(numbers([5, 5]), 3)
    with pytest.raises(StateError, match=r"TableSource.data was"):
        numbers([5, 6]).load_state_dict(state)


def test_a_state_of_another_seed_is_refused():
    _, state = head_and_state(numbers([5], 1), 3)
    with pytest.raises(StateError, match=r"BufferShuffle.seed was 1 and is 2"):
        numbers([5], 2).load_state_dict(state)


def test_a_state_of_another_tree_is_refused():
    _, state = head_and_state(numbers([5]).take(4), 3)
    with pytest.raises(StateError, match=r"Take.count was 4 and is 3"):
        numbers([5]).take(3).load_state_dict(state)
    with pytest.raises(StateError, match="0 Take was"):
        numbers([5]).load_state_dict(state)


def test_a_state_of_a_later_version_is_refused():
    state = numbers([5]).state_dict() | {"version": 99}
    with pytest.raises(StateError, match="version 99"):
        numbers([5]).load_state_dict(state)


def test_an_epoch_that_was_resumed_is_not_lost_by_setting_another():
    stream = numbers([5], 1)
    stream.set_epoch(3)
    _, state = head_and_state(stream, 2)
    later = resumed(lambda: numbers([5], 1), state)
    later.set_epoch(3)
    with pytest.raises(StateError, match="epoch 3 was loaded and not read on from"):
        later.set_epoch(0)
    assert len(list(later)) == 3
    later.set_epoch(4)


def test_an_ended_epoch_may_be_followed_by_another_after_loading():
    stream = numbers([5], 1)
    list(stream)
    later = resumed(lambda: numbers([5], 1), stream.state_dict())
    later.set_epoch(1)
    stream.set_epoch(1)
    assert list(later) == list(stream)


def test_resuming_opens_no_shard_that_is_done(tmp_path):
    opened = []

    def read(shards):
        opened.extend(shards)
        for shard in shards:
            yield from ({"x": shard * 10 + i} for i in range(10))

    def make():
        return IterableDataset.from_generator(read, {"shards": list(range(8))})

    _, state = head_and_state(make(), 35)
    opened.clear()
    assert next(iter(resumed(make, state))) == {"x": 35}
    assert opened == [3]


def test_loading_a_state_reads_nothing():
    calls = []

    def read():
        calls.append(1)
        yield from ({"x": i} for i in range(10))

    _, state = head_and_state(IterableDataset.from_generator(read), 4)
    calls.clear()
    IterableDataset.from_generator(read).load_state_dict(state)
    assert calls == []


def test_a_stream_can_be_pickled_in_the_middle_of_a_pass():
    stream = numbers([9], 1, buffer_size=4)
    stream.set_epoch(2)
    rows = iter(stream)
    next(rows)
    copied = pickle.loads(pickle.dumps(stream))
    assert copied.epoch == 2
    assert list(copied) == list(stream)
