"""Books on disk are those of the feed, or are refused before anything runs."""

from __future__ import annotations

import pytest

from raydata_ext.errors import StateError, WriteError
from raydata_ext.feed import StreamingCoordinator
from raydata_ext.feed.books import Books, RankEntry, books_file, prepare_books, read_books, write_books
from raydata_ext.feed.feed_state import Position, save_position
from raydata_ext.feed.plan import FeedPlan


@pytest.fixture
def plan(numbered):
    return FeedPlan.of(numbered([40, 30], 1), global_batch_size=10, num_lanes=5)


def test_books_are_read_as_they_were_written(plan, tmp_path):
    file = books_file(tmp_path)
    assert read_books(file, plan) is None
    state = save_position(plan.epoch(1), Position(1, 0))
    books = Books(state, 3, 2, (RankEntry(0, "a", 1, 0), RankEntry(1, "b", 1, 2)))
    write_books(file, books)
    assert read_books(file, plan) == books


@pytest.mark.parametrize("content", ["", '{"state": {"ver', "[1, 2]", '{"state": {}}'])
def test_a_damaged_file_is_named_with_the_remedy_when_the_coordinator_is_created(
    ray_session, numbered, tmp_path, content
):
    books_file(tmp_path).write_text(content)
    with pytest.raises(StateError, match=r"coordinator\.json cannot be read .* remove the file to begin anew"):
        StreamingCoordinator.create(numbered([40, 30], 1), global_batch_size=10, checkpoint_dir=tmp_path)


def test_books_of_other_data_are_refused_when_the_coordinator_is_created(ray_session, plan, numbered, tmp_path):
    write_books(books_file(tmp_path), Books(save_position(plan.epoch(0), Position()), 0, None, ()))
    with pytest.raises(StateError, match=r"coordinator\.json holds the books of another feed.*data was"):
        StreamingCoordinator.create(numbered([41], 1), global_batch_size=10, num_lanes=5, checkpoint_dir=tmp_path)


@pytest.mark.parametrize("place", ["file", "file/below", "/proc/self"])
def test_a_directory_that_cannot_be_written_to_is_named_with_the_remedy_when_the_coordinator_is_created(
    ray_session, numbered, tmp_path, place
):
    (tmp_path / "file").write_text("kept")
    directory = (tmp_path / place).resolve()
    with pytest.raises(WriteError, match=r"checkpoint_dir cannot be written to .* choose a directory") as caught:
        StreamingCoordinator.create(numbered([40], 1), global_batch_size=10, checkpoint_dir=tmp_path / place)
    assert caught.value.filename == str(directory)
    assert (tmp_path / "file").read_text() == "kept"


def test_a_url_is_refused_as_a_place_of_books(ray_session, numbered):
    with pytest.raises(ValueError, match=r"checkpoint_dir is the URL s3://bucket/run; .* a file system that all nodes"):
        StreamingCoordinator.create(numbered([40], 1), global_batch_size=10, checkpoint_dir="s3://bucket/run")


def test_trying_a_directory_leaves_nothing_in_it(tmp_path):
    assert prepare_books(tmp_path / "new").parent.is_dir()
    assert list((tmp_path / "new").iterdir()) == []


def test_ranks_that_go_back_take_the_books_with_them(ray_session, numbered, tmp_path):
    options = {"global_batch_size": 10, "num_lanes": 5, "checkpoint_dir": tmp_path, "checkpoint_every": 3}
    first = StreamingCoordinator.create(numbered([400], 1), **options)
    start = first.state_dict()
    feed = first.feed(0, 1)
    loop = iter(feed)
    for _ in range(9):
        next(loop)
    loop.close()
    feed.load_state_dict(start)
    first.shutdown()
    second = StreamingCoordinator.create(numbered([400], 1), **options)
    assert second.state_dict()["step"] == 0
    second.shutdown()
