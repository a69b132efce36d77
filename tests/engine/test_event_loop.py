"""Coroutines side by side."""

from __future__ import annotations

import asyncio
import threading

import pytest

from raydata_ext.engine.event_loop import EventLoop


@pytest.fixture
def loop():
    loop = EventLoop()
    yield loop
    loop.close()


async def value(result):
    await asyncio.sleep(0)
    return result


def test_outcomes_stand_in_the_order_of_the_coroutines(loop):
    async def wait_for(event, result):
        await event.wait()
        return result

    async def set_and_return(event, result):
        event.set()
        return result

    event = asyncio.Event()  # the first can end only after the second has run: they run side by side
    outcomes = loop.run([wait_for(event, "first"), set_and_return(event, "second")])
    assert [outcome.get() for outcome in outcomes] == ["first", "second"]


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt, SystemExit])
def test_what_a_coroutine_raises_is_raised_where_its_outcome_is_asked_for(loop, kind):
    async def fail():
        raise kind("gone")

    bad, good = loop.run([fail(), value(1)])
    assert good.get() == 1
    with pytest.raises(kind, match="gone"):
        bad.get()
    assert loop.run([value(2)])[0].get() == 2


def test_it_works_within_a_running_loop(loop):
    async def as_in_a_notebook():
        return [outcome.get() for outcome in loop.run([value(1), value(2)])]

    assert asyncio.run(as_in_a_notebook()) == [1, 2]


def test_closing_cancels_what_still_runs_and_ends_the_thread():
    loop = EventLoop()
    cancelled = []

    async def leave_one_behind():
        async def forever():
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.append(True)
                raise

        task = asyncio.ensure_future(forever())
        await asyncio.sleep(0)
        return task

    loop.run([leave_one_behind()])
    loop.close()
    assert cancelled == [True]
    assert "raydata_ext coroutines" not in [thread.name for thread in threading.enumerate()]
