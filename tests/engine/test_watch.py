"""Marks that outlive the process that made them."""

from __future__ import annotations

import contextlib
import os

import numpy as np
import pyarrow as pa

from raydata_ext.engine.chunk import Chunk
from raydata_ext.engine.trail import Trail
from raydata_ext.engine.watch import ExcludedRow, Mark, Marker, StepWatch, Watch, take_mark

MARK = Mark(2, 1000, 1999, "a.jsonl: rows 1000 to 1999 " + "x" * 200)


def test_a_mark_is_there_after_the_process_was_killed(tmp_path):
    path = str(tmp_path / "mark")
    child = os.fork()
    if child == 0:
        marker = Marker(path)
        marker.set(MARK)
        marker.set(Mark(2, 5, 5, "short"))
        os._exit(1)
    os.waitpid(child, 0)
    assert take_mark(path) == Mark(2, 5, 5, "short")
    assert not (tmp_path / "mark").exists()


def test_there_is_no_mark_where_no_function_ran(tmp_path):
    path = str(tmp_path / "mark")
    assert take_mark(path) is None
    marker = Marker(path)
    assert take_mark(path) is None
    marker = Marker(path)
    marker.set(MARK)
    marker.clear()
    assert take_mark(path) is None


def test_nothing_is_left_of_a_shard_that_was_computed(tmp_path):
    with Marker(str(tmp_path / "mark")) as marker:
        marker.set(MARK)
    assert list(tmp_path.iterdir()) == []


def test_a_mark_stays_where_the_process_ends_of_an_exception_and_goes_where_it_does_not(tmp_path):
    watch = Watch(str(tmp_path / "mark"))
    for error, left in [(SystemExit(0), MARK), (ValueError(), None)]:
        with contextlib.suppress(type(error)), Marker(watch.path) as marker, StepWatch(watch, marker, 2, Trail()):
            marker.set(MARK)
            raise error
        assert take_mark(watch.path) == left


def watched(tmp_path, suspects, numbers):
    watch = Watch(str(tmp_path / "mark"), suspects, (ExcludedRow(0, 7, "died"), ExcludedRow(1, 8, "died")))
    step = StepWatch(watch, Marker(watch.path), 0, Trail())
    batch = pa.record_batch({"n": pa.array(numbers, pa.int64())})
    return step, Chunk(batch, np.array(numbers), np.array(numbers))


def test_suspects_are_tried_in_parts_that_cover_them(tmp_path):
    step, chunk = watched(tmp_path, Mark(0, 100, 399, ""), list(range(0, 1000, 2)))
    parts = step.suspicious_parts(chunk)
    assert len(parts) <= 32
    assert [n for part in parts for n in part.numbers] == list(range(100, 400, 2))


def test_one_suspect_or_those_of_another_step_are_not_tried_apart(tmp_path):
    for suspects in (None, Mark(0, 5, 5, ""), Mark(1, 0, 9, ""), Mark(0, 5000, 6000, "")):
        step, chunk = watched(tmp_path, suspects, list(range(10)))
        assert step.suspicious_parts(chunk) == []


def test_rows_are_excluded_from_their_own_step(tmp_path):
    step, _ = watched(tmp_path, None, [0])
    assert step.excluded == {7: "died"}
