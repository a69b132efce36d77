"""Shards of an object store are copied to the node before their turn, in order, and no more than there is room for."""

from __future__ import annotations

import itertools
import os
import threading

import fsspec
import numpy as np
import pyarrow as pa
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from raydata_ext.feed.copies_ahead import CopiesAhead, ReferencesAhead
from raydata_ext.feed.plan import FeedPlan
from raydata_ext.feed.rank_batches import rank_batches
from raydata_ext.feed.share import Share
from raydata_ext.remote import Retries
from raydata_ext.store import Receipt, Store
from raydata_ext.streaming import IterableDataset
from raydata_ext.streaming.nodes.table_source import TableCursor
from raydata_ext.table import ShardWriter, concat_tables
from raydata_ext.table.row_index import let_go_of_parts

ROWS, SHARDS, BATCH = 60, 24, 12


class EveryThirdFails(MemoryFileSystem):
    """Memory behind a bad line, which notes what is read."""

    protocol = "thirdfails"
    numbers = itertools.count(1)
    read: list[str] = []  # noqa: RUF012 - there is one bad line

    @classmethod
    def _strip_protocol(cls, path):
        return MemoryFileSystem._strip_protocol(str(path).replace("thirdfails://", "memory://"))

    def _open(self, path, mode="rb", **kwargs):
        if mode == "rb":
            if next(EveryThirdFails.numbers) % 3 == 0:
                raise ConnectionResetError("connection reset by peer")
            EveryThirdFails.read.append(path)
        return super()._open(path, mode, **kwargs)


fsspec.register_implementation("thirdfails", EveryThirdFails, clobber=True)


def key_of(number):
    return f"{number:032x}"


@pytest.fixture
def url():
    """An empty place behind the bad line."""
    url = f"thirdfails://copies-{os.getpid()}"
    EveryThirdFails.read.clear()
    yield url
    memory = fsspec.filesystem("memory")
    memory.rm(url.replace("thirdfails", "memory"), recursive=True)


@pytest.fixture
def publish(url, tmp_path):
    """Write shards of numbered rows, and give them as another machine sees them, with room for so many copies."""

    def write(shards=SHARDS, copies=None):
        quick = Retries(attempts=6, first_pause=0.0)
        writer, receipts = Store.open(url, local_dir=tmp_path / "writer", retries=quick), []
        for number in range(shards):
            path = writer.writing_path(key_of(number))
            table = pa.table({"x": np.arange(number * ROWS, (number + 1) * ROWS)})
            with ShardWriter(path, table.schema) as file:
                for batch in table.to_batches(10):
                    file.write(batch)
                found = file.finish()
            receipt = Receipt(
                key=key_of(number),
                rows=found.rows,
                num_bytes=found.num_bytes,
                checksum=found.checksum,
                schema=found.schema,
            )
            receipts.append(writer.publish(receipt))
        room = None if copies is None else copies * receipts[0].num_bytes
        reader = Store.open(url, local_dir=tmp_path / "reader", max_local_bytes=room, retries=quick)
        return [reader.table(receipt) for receipt in receipts]

    return write


def rows_of(plan, world_size):
    """Row of each position."""
    found = {}
    for rank in range(world_size):
        for batch in rank_batches(plan.epoch(0), Share(rank, world_size, plan.num_lanes, plan.global_batch_size)):
            found |= dict(zip(batch.positions.tolist(), batch.rows.column("x").to_pylist(), strict=True))
    return found


def stream_of(tables):
    return IterableDataset.from_tables(tables, fingerprint="numbered").shuffle(1, buffer_size=20)


@pytest.mark.parametrize("copies", [None, 20])
def test_rows_of_a_flaky_store_come_in_the_order_of_local_ones(publish, tmp_path, copies):
    local = [pa.table({"x": np.arange(number * ROWS, (number + 1) * ROWS)}) for number in range(SHARDS)]
    options = {"global_batch_size": BATCH, "num_lanes": 4}
    expected = rows_of(FeedPlan.of(stream_of(local), **options), 1)
    assert len(expected) == ROWS * SHARDS
    plan = FeedPlan.of(stream_of(publish(copies=copies)), **options)
    assert rows_of(plan, 2) == expected
    if copies is not None:
        assert len(list((tmp_path / "reader").glob("*.arrow"))) <= copies + 1
    let_go_of_parts()
    assert not list((tmp_path / "reader" / "in_use").glob("*/*"))


def test_each_rank_copies_only_its_own_shards(publish):
    plan = FeedPlan.of(stream_of(publish()), global_batch_size=BATCH, num_lanes=4)
    EveryThirdFails.read.clear()
    for _ in rank_batches(plan.epoch(0), Share(1, 4, 4, BATCH)):
        pass
    assert len(set(EveryThirdFails.read)) == SHARDS / 4


def test_copies_are_begun_in_the_order_in_which_they_are_needed_and_not_beyond_the_bound(publish, tmp_path):
    tables = publish(8)
    whole = concat_tables(tables)
    copies = CopiesAhead([whole], {id(whole): 0}, max_files=2)
    order = [5, 2, 7, 0, 1, 3, 4, 6]
    runs = np.array([[shard * ROWS, (shard + 1) * ROWS] for shard in order])
    cursor = ReferencesAhead(_Pieces(runs), copies)
    begun = []
    for turn, shard in enumerate(order):
        assert cursor.next()[0] == shard * ROWS
        held = {int(path.name[:32], 16) for path in (tmp_path / "reader" / "in_use").glob("*/*")}
        assert shard in held
        assert held <= set(order[: turn + 3])
        begun += [number for number in held if number not in begun]
    assert sorted(begun) == sorted(order)
    assert cursor.next() is None
    copies.close()
    assert not list((tmp_path / "reader" / "in_use").glob("*/*"))


def first_rows(cursor):
    found = []
    while (piece := cursor.next()) is not None:
        found.append(piece[0])
    return found


class _Pieces(TableCursor):
    """A shard a piece."""

    def next(self):
        if self._shard == len(self._runs):
            return None
        low, high = self._runs[self._shard].tolist()
        self._shard += 1
        return np.arange(low, high)


def test_a_copy_in_use_is_not_evicted_for_one_that_is_needed_later(publish, tmp_path):
    tables = publish(6, copies=2)
    whole = concat_tables(tables)
    copies = CopiesAhead([whole], {id(whole): 0})
    cursor = ReferencesAhead(_Pieces(np.array([[i * ROWS, (i + 1) * ROWS] for i in range(6)])), copies)
    for _ in range(6):
        references = cursor.next()
        assert whole.fast_gather(references).column("x").to_pylist() == references.tolist()
        assert len(list((tmp_path / "reader").glob("*.arrow"))) <= 2 + 1
    copies.close()


def test_reading_ahead_saves_the_position_of_what_was_handed_out(publish):
    tables = publish(5)
    whole = concat_tables(tables)
    runs = np.array([[i * ROWS, (i + 1) * ROWS] for i in range(5)])

    def opened():
        copies = CopiesAhead([whole], {id(whole): 0})
        return ReferencesAhead(_Pieces(runs), copies), copies

    cursor, copies = opened()
    cursor.next()
    cursor.next()
    state = cursor.state()
    rest = first_rows(cursor)
    again, other = opened()
    again.next()
    again.load(state)
    assert first_rows(again) == rest == [2 * ROWS, 3 * ROWS, 4 * ROWS]
    copies.close()
    other.close()


def test_threads_end_with_the_loop(publish):
    plan = FeedPlan.of(stream_of(publish()), global_batch_size=BATCH, num_lanes=4)
    batches = rank_batches(plan.epoch(0), Share(0, 1, 4, BATCH))
    next(batches)
    assert any(thread.name.startswith("feed-copies") for thread in threading.enumerate())
    batches.close()
    assert not any(thread.name.startswith("feed-copies") for thread in threading.enumerate())
