"""Tables of files that are copied to this machine when they are opened."""

from __future__ import annotations

import gc
import pickle
import threading

import numpy as np
import pyarrow as pa
import pytest

from raydata_ext.errors import CorruptFileError, NoRoomError, StaleFileError
from raydata_ext.table import MemoryMappedTable, ShardWriter, concat_tables
from raydata_ext.table.row_index import let_go_of_parts

ROOM = 2


class Origin:
    """A file and who holds it, of which there may be `ROOM` at a time."""

    held: list[str] = []  # noqa: RUF012 - of all of them together
    lock = threading.Lock()
    others_leave_at: int | None = None

    def __init__(self, path):
        self.path = str(path)
        self.fetched = 0

    def hold(self):
        if Origin.others_leave_at is not None:
            Origin.others_leave_at -= 1
            if Origin.others_leave_at > 0:
                raise NoRoomError("others use all of it", may_pass=True)
        with Origin.lock:
            if self.path not in Origin.held and len(set(Origin.held)) == ROOM:
                raise NoRoomError("no room")
            self.fetched += 1
            Origin.held.append(self.path)
        return self.path

    def release(self):
        Origin.held.remove(self.path)


@pytest.fixture(autouse=True)
def _nothing_held():
    Origin.held.clear()
    Origin.others_leave_at = None
    yield
    let_go_of_parts()
    gc.collect()
    assert Origin.held == []


@pytest.fixture
def tables(tmp_path):
    """Five tables of ten rows, each of a file that is elsewhere, and of which schema and size are known."""
    made = []
    for number in range(5):
        rows = pa.table({"n": range(10 * number, 10 * number + 10), "text": ["x"] * 10})
        with ShardWriter(tmp_path / f"{number}.arrow", rows.schema) as writer:
            writer.write(rows.to_batches()[0])
            summary = writer.finish()
        origin = Origin(tmp_path / f"{number}.arrow")
        made.append(
            MemoryMappedTable.from_file(
                f"s3://bucket/{number}.arrow",
                schema=summary.schema,
                num_rows=10,
                num_bytes=summary.num_bytes,
                origin=origin,
            )
        )
    return made


def test_nothing_is_fetched_until_rows_are_looked_at(tables):
    table = tables[0].rename_columns(["m", "text"]).select(["m"]).slice(2, 3)
    assert (table.path, table.num_rows, table.column_names) == ("s3://bucket/0.arrow", 3, ["m"])
    assert table.file_bytes > table.file_rows == 10
    assert tables[0].origin.fetched == 0
    assert table.to_pydict() == {"m": [2, 3, 4]}
    assert tables[0].origin.fetched == 1


def test_a_copy_is_held_as_long_as_any_view_of_it_lives(tables):
    batch = next(tables[0].iter_batches())
    column = batch.column(0)[3:]
    del batch
    assert Origin.held
    assert column.to_pylist() == [3, 4, 5, 6, 7, 8, 9]
    del column
    assert Origin.held == []


def test_rows_that_are_copied_hold_no_file(tables):
    gathered = next(iter([concat_tables(tables).fast_gather([31, 4])]))
    assert gathered.to_pydict()["n"] == [31, 4]
    assert Origin.held == []


def test_files_that_are_open_only_to_be_quick_make_room(tables):
    joined, other = concat_tables(tables), concat_tables(tables[::-1])
    for row in (0, 10, 20, 30, 40, 0):
        assert joined.row(row)["n"] == row
        assert other.row(49 - row)["n"] == (49 - row) % 10 + 10 * (4 - (49 - row) // 10)
        assert len(set(Origin.held)) <= ROOM


def test_rows_of_more_files_than_there_is_room_for_are_gathered_and_sliced(tables):
    joined = concat_tables(tables)
    rows = np.random.default_rng(1).integers(0, 50, 200)
    assert joined.fast_gather(rows).column("n").to_pylist() == rows.tolist()
    assert joined.fast_slice(3, 44).column("n").to_pylist() == list(range(3, 47))
    assert [row["n"] for batch in joined.iter_batches() for row in batch.to_pylist()] == list(range(50))


@pytest.mark.parametrize("read", ["gather", "slice"])
def test_files_of_which_rows_are_wanted_together_are_fetched_some_at_a_time(tables, monkeypatch, read):
    inside, most, lock, company = 0, 0, threading.Lock(), threading.Event()

    def hold(origin):
        nonlocal inside, most
        with lock:
            inside += 1
            most = max(most, inside)
        if inside > 1:
            company.set()
        company.wait(60)
        with lock:
            inside -= 1
            Origin.held.append(origin.path)
        return origin.path

    monkeypatch.setattr(Origin, "hold", hold)
    joined = concat_tables(tables)
    rows = joined.fast_gather([49, 0, 10, 20, 30]) if read == "gather" else joined.fast_slice(0, 50)
    assert rows.column("n").to_pylist() == ([49, 0, 10, 20, 30] if read == "gather" else list(range(50)))
    assert 1 < most <= 4


def test_rows_that_somebody_holds_leave_no_room_and_that_is_said(tables):
    held = [next(table.iter_batches()) for table in tables[:ROOM]]
    with pytest.raises(NoRoomError, match="no room"):
        tables[ROOM].row(0)
    assert [batch.num_rows for batch in held] == [10] * ROOM
    del held
    assert tables[ROOM].row(0)["n"] == 10 * ROOM


def test_it_is_waited_for_room_that_other_processes_use(tables):
    Origin.others_leave_at = 4
    assert tables[0].row(0)["n"] == 0


def test_a_table_travels_with_its_origin(tables):
    again = pickle.loads(pickle.dumps(tables[1].select(["n"])))
    assert again.to_pydict() == {"n": list(range(10, 20))}
    assert again.path == "s3://bucket/1.arrow"


def test_a_table_of_which_nothing_is_known_is_opened_once(tables, tmp_path):
    origin = Origin(tmp_path / "3.arrow")
    table = MemoryMappedTable.from_file("s3://bucket/3.arrow", origin=origin)
    assert (table.num_rows, origin.fetched, Origin.held) == (10, 1, [])
    assert table.file_bytes == (tmp_path / "3.arrow").stat().st_size


def test_a_copy_that_is_damaged_or_another_file_is_let_go(tables, tmp_path):
    (tmp_path / "0.arrow").write_bytes(b"")
    with pytest.raises(CorruptFileError, match="it is empty"):
        tables[0].row(0)
    (tmp_path / "1.arrow").write_bytes((tmp_path / "2.arrow").read_bytes() + b" ")
    with pytest.raises(CorruptFileError):
        tables[1].row(0)
    with pytest.raises(StaleFileError, match="rows and had"):
        MemoryMappedTable.from_file(
            "s3://bucket/2.arrow", schema=tables[2].schema, num_rows=11, origin=Origin(tmp_path / "2.arrow")
        ).row(0)


def test_threads_read_more_files_than_there_is_room_for(tables):
    wrong = []
    turn = threading.Lock()

    def work(seed):
        joined = concat_tables(tables)
        for row in np.random.default_rng(seed).integers(0, 50, 20).tolist():
            with turn:
                if joined.row(row)["n"] != row:
                    wrong.append(row)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
