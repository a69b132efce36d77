"""How fast work goes, and how long the rest of it takes."""

from __future__ import annotations

import pytest

from raydata_ext.engine.pace import Pace


class Clock:
    """Time that passes when it is told to."""

    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def pace(clock):
    return Pace(clock)


def work(pace, clock, seconds, amount):
    """Do an amount each second."""
    for _ in range(seconds):
        clock.now += 1
        pace.add(amount)


def test_what_is_left_takes_as_long_at_the_pace_so_far(pace, clock):
    work(pace, clock, 10, 5)
    assert (pace.done, pace.seconds, pace.mean, pace.now) == (50, 10, 5, 5)
    assert pace.left(150) == 20


def test_there_is_no_estimate_before_anything_is_done(pace, clock):
    assert pace.left(100) is None
    clock.now += 60
    assert pace.left(100) is None
    assert pace.mean == 0


def test_a_pool_that_has_grown_is_soon_taken_as_it_is_now(pace, clock):
    work(pace, clock, 10, 1)
    work(pace, clock, 10, 8)
    assert pace.now == 8
    assert pace.mean == pytest.approx(4.5)
    assert pace.left(90 + 80) == 10


def test_work_that_stands_still_is_expected_later_and_later(pace, clock):
    work(pace, clock, 10, 5)
    before = pace.left(100)
    clock.now += 5
    assert pace.left(100) > before
    clock.now += 1000
    assert pace.left(100) is None


def test_nothing_is_left_of_more_than_was_expected(pace, clock):
    work(pace, clock, 3, 5)
    assert pace.left(10) == 0


def test_the_time_before_a_restart_does_not_count(pace, clock):
    clock.now += 50
    pace.restart()
    work(pace, clock, 10, 2)
    assert (pace.mean, pace.seconds) == (2, 10)
