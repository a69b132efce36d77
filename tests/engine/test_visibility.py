"""Workers that do not see what the driver sees are found at their start."""

from __future__ import annotations

import os

import pytest

from raydata_ext.engine.visibility import Sight, sight_of
from raydata_ext.errors import PlanError, WriteError
from raydata_ext.table.ipc_writer import temporary_name


def test_a_node_that_sees_everything_passes_and_no_mark_is_left(tmp_path):
    source = tmp_path / "input.txt"
    source.touch()
    cache = tmp_path / "cache"
    with sight_of(str(cache), [str(source)]) as sight:
        sight.check()
        assert sight.mark
    assert list(cache.iterdir()) == []


def test_a_cache_directory_that_is_not_there_is_named(tmp_path):
    with sight_of(str(tmp_path / "cache"), []) as sight:
        elsewhere = Sight(sight.mark.replace("cache", "other"), sight.token)
        with pytest.raises(PlanError, match=r"node .* does not see .*/other \(No such file"):
            elsewhere.check()


def test_another_directory_of_the_same_name_does_not_count(tmp_path):
    with sight_of(str(tmp_path), []) as sight, pytest.raises(PlanError, match="another directory of that name"):
        Sight(sight.mark, "the token of another driver").check()


def test_an_input_that_is_not_there_is_named(tmp_path):
    with (
        sight_of("", [str(tmp_path / "gone.txt")]) as sight,
        pytest.raises(PlanError, match=r"gone\.txt \(no such file"),
    ):
        sight.check()


def test_a_cache_directory_in_which_nothing_can_be_written_is_named(tmp_path):
    (tmp_path / "file").touch()
    with (
        pytest.raises(WriteError, match=r"cannot write into the cache directory .*file/cache"),
        sight_of(str(tmp_path / "file" / "cache"), []),
    ):
        pass


def test_the_mark_that_a_killed_driver_left_is_removed_and_that_of_a_living_one_is_not(tmp_path):
    child = os.fork()
    if child == 0:
        temporary_name(tmp_path / "sight").touch()
        os._exit(0)
    os.waitpid(child, 0)
    assert len(list(tmp_path.iterdir())) == 1
    with sight_of(str(tmp_path), []) as mine, sight_of(str(tmp_path), []) as other:
        assert {str(path) for path in tmp_path.iterdir()} == {mine.mark, other.mark}
