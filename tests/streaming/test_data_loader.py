"""Streams in a torch `DataLoader`: each loader process reads its part."""

from __future__ import annotations

import copy
import json
import subprocess
import sys

import fsspec.asyn
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from raydata_ext.errors import StateError
from raydata_ext.sources import scan_files
from raydata_ext.streaming import IterableDataset, interleave_datasets, split_dataset_by_node
from raydata_ext.table import InMemoryTable

pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")
torch = pytest.importorskip("torch")
from torch.utils.data import DataLoader  # noqa: E402 - only where there is torch
from torch.utils.data import IterableDataset as TorchIterableDataset  # noqa: E402 - only where there is torch


def stream_of(sizes):
    first, tables = 0, []
    for size in sizes:
        tables.append(InMemoryTable(pa.table({"x": range(first, first + size)})))
        first += size
    return IterableDataset.from_tables(tables)


def count_up(count=23):
    yield from ({"x": number} for number in range(count))


def loaded(stream, workers, **options):
    return [
        x for batch in DataLoader(stream, batch_size=4, num_workers=workers, **options) for x in batch["x"].tolist()
    ]


STREAMS = {
    "many shards": lambda: stream_of([5, 4, 3, 6, 2, 3]),
    "one shard": lambda: stream_of([23]),
    "one shard, shuffled": lambda: stream_of([23]).shuffle(1, buffer_size=7),
    "fewer shards than processes": lambda: stream_of([12, 11]).shuffle(1, buffer_size=7),
    "first rows of shuffled rows": lambda: stream_of([40]).shuffle(1, buffer_size=50).take(23).map(lambda row: row),
    "rows after the first": lambda: stream_of([20, 10]).skip(7),
    "a generator": lambda: IterableDataset.from_generator(count_up),
    "a shuffled generator": lambda: IterableDataset.from_generator(count_up).shuffle(1, buffer_size=5),
    "filtered": lambda: stream_of([46]).filter(lambda row: row["x"] % 2 == 0),
    "mixed, each once": lambda: interleave_datasets(
        [stream_of([23]), IterableDataset.from_generator(count_up, {"count": 0})],
        [0.5, 0.5],
        seed=1,
        stopping_strategy="all_exhausted_without_replacement",
    ),
}


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("workers", [0, 3])
def test_loader_processes_read_each_row_once(name, workers):
    expected = sorted(row["x"] for row in STREAMS[name]())
    assert sorted(loaded(STREAMS[name](), workers)) == expected


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_any_number_of_loader_processes_reads_each_row_once(workers):
    assert sorted(loaded(STREAMS["many shards"]().shuffle(2, buffer_size=4), workers)) == list(range(23))


@pytest.mark.parametrize("name", ["one shard", "one shard, shuffled", "a generator", "fewer shards than processes"])
def test_every_loader_process_gets_rows_even_of_one_shard(name):
    rows = list(DataLoader(RowsAndStates(STREAMS[name]()), batch_size=None, num_workers=4))
    counts = [sum(worker == index for worker, _, _ in rows) for index in range(4)]
    assert min(counts) >= 5


@pytest.mark.parametrize("context", ["fork", "spawn"])
@pytest.mark.parametrize("name", ["one shard, shuffled", "a shuffled generator"])
def test_forked_and_spawned_processes_read_each_row_once(name, context):
    assert sorted(loaded(STREAMS[name](), 2, multiprocessing_context=context)) == list(range(23))


@pytest.mark.parametrize("suffix", ["jsonl", "parquet", "arrow"])
def test_every_loader_process_gets_rows_of_one_file(suffix, tmp_path):
    table = pa.table({"x": range(4000), "text": ["y" * 1000] * 4000})
    path = tmp_path / f"rows.{suffix}"
    if suffix == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    elif suffix == "parquet":
        pq.write_table(table, path, row_group_size=500)
    else:
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
            writer.write_table(table)
    stream = IterableDataset.from_shards(scan_files(str(path)).shards).shuffle(1, buffer_size=100)
    rows = list(DataLoader(RowsAndStates(stream), batch_size=None, num_workers=3))
    assert sorted(x for _, x, _ in rows) == list(range(4000))
    assert min(sum(worker == index for worker, _, _ in rows) for index in range(3)) > 800


def test_readers_that_each_have_to_read_all_rows_are_told_what_to_do(caplog):
    IterableDataset.from_generator(count_up).shard(3, 0)
    assert "count_up[0] cannot be cut for 3 readers: each of them reads all rows" in caplog.text
    assert "give it 3 shards" in caplog.text
    caplog.clear()
    IterableDataset.from_generator(count_up).shard(3, 1)
    stream_of([9]).shard(3, 0)
    assert caplog.text == ""


def lock_state():
    yield {"x": int(fsspec.asyn.get_lock().acquire(timeout=1))}


def test_the_locks_of_file_systems_that_a_parent_held_are_free_in_its_loader_processes():
    fsspec.asyn.reset_lock()
    with fsspec.asyn.get_lock():
        stream = IterableDataset.from_generator(lock_state)
        assert loaded(stream, 1, multiprocessing_context="fork") == [1]


@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_loader_processes_that_live_on_see_a_new_epoch(context):
    stream = stream_of([30, 30]).shuffle(1, buffer_size=20)
    loader = DataLoader(
        stream, batch_size=None, num_workers=1, persistent_workers=True, multiprocessing_context=context
    )
    orders = {}
    for epoch in (0, 1, 0):
        stream.set_epoch(epoch)
        order = [int(row["x"]) for row in loader]
        assert sorted(order) == list(range(60))
        assert orders.setdefault(epoch, order) == order
    assert orders[0] != orders[1]


def test_a_stream_is_an_iterable_data_set_of_torch():
    stream = stream_of([3])
    assert isinstance(stream, TorchIterableDataset)
    assert isinstance(stream.shuffle(1), IterableDataset)
    assert isinstance(copy.copy(stream), TorchIterableDataset)


def test_a_stream_that_was_made_before_torch_was_imported_is_one_too():
    program = (
        "import sys, pyarrow as pa; from raydata_ext.streaming import IterableDataset;"
        "stream = IterableDataset.from_tables([pa.table({'x': [1, 2]})]); assert 'torch' not in sys.modules;"
        "from torch.utils.data import DataLoader; print([row['x'] for row in DataLoader(stream, batch_size=None)])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[1, 2]"


def test_a_program_that_takes_one_row_ends_cleanly(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps({"x": i, "text": "y" * 1000}) + "\n" for i in range(40_000)))
    program = (
        "import sys; from raydata_ext.streaming import IterableDataset; from raydata_ext.sources import scan_files;"
        "from torch.utils.data import DataLoader;"
        "stream = IterableDataset.from_shards(scan_files(sys.argv[1]).shards);"
        "print(next(iter(DataLoader(stream, batch_size=None, num_workers=2)))['x']); next(iter(stream))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "0"
    assert done.stderr == ""


def test_nodes_and_loader_processes_together_read_each_row_once():
    rows = []
    for rank in range(2):
        part = split_dataset_by_node(stream_of([9, 8, 6]).shuffle(3, buffer_size=5), rank, 2)
        rows += loaded(part, 2)
    assert sorted(rows) == list(range(23))


class RowsAndStates(torch.utils.data.IterableDataset):
    """Hands out each row with the state after it, as loaders that keep states do."""

    def __init__(self, stream, states=None):
        self.stream, self.states = stream, states

    def __iter__(self):
        if self.states is not None:
            self.stream.load_state_dict(self.states[torch.utils.data.get_worker_info().id])
        for row in self.stream:
            yield torch.utils.data.get_worker_info().id, row["x"], json.dumps(self.stream.state_dict())


@pytest.mark.parametrize("name", ["one shard, shuffled", "many shards", "a shuffled generator"])
def test_the_states_of_loader_processes_refer_to_rows_that_were_delivered(name):
    loader = DataLoader(RowsAndStates(STREAMS[name]()), batch_size=None, num_workers=2, prefetch_factor=4)
    whole = [(worker, x) for worker, x, _ in loader]
    states, head, rows = {}, [], iter(loader)
    for _ in range(9):
        worker, x, state = next(rows)
        head.append((worker, x))
        states[worker] = json.loads(state)
    rest = [(w, x) for w, x, _ in DataLoader(RowsAndStates(STREAMS[name](), states), batch_size=None, num_workers=2)]
    for worker in (0, 1):
        mine = [x for w, x in head if w == worker] + [x for w, x in rest if w == worker]
        assert mine == [x for w, x in whole if w == worker]


def test_a_state_of_another_loader_process_is_refused():
    stream = stream_of([9]).shuffle(1)
    rows = iter(stream)
    next(rows)
    stream.load_state_dict(stream.state_dict())
    with pytest.raises(StateError, match=r"saved by the main process and is loaded by loader process 0 of 1"):
        next(iter(DataLoader(stream, batch_size=None, num_workers=1)))


def test_rows_come_as_tensors_where_the_format_says_so():
    [batch] = DataLoader(stream_of([3]).with_format("torch"), batch_size=3)
    assert batch["x"].tolist() == [0, 1, 2]
    assert batch["x"].dtype == torch.int64
