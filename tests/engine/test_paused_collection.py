"""Garbage collection is paused, and goes on afterwards as it did before."""

from __future__ import annotations

import gc

import pytest

from raydata_ext.engine.paused_collection import paused_collection


@pytest.fixture(autouse=True)
def _enabled_again():
    yield
    gc.enable()


def test_collection_pauses_and_goes_on() -> None:
    with paused_collection():
        assert not gc.isenabled()

    assert gc.isenabled()


def test_collection_goes_on_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), paused_collection():
        1 / 0  # noqa: B018 - the error is the point

    assert gc.isenabled()


def test_who_turned_collection_off_finds_it_off() -> None:
    gc.disable()

    with paused_collection():
        pass

    assert not gc.isenabled()


def test_pauses_within_pauses_last_as_long_as_the_outer_one() -> None:
    with paused_collection():
        with paused_collection():
            pass
        assert not gc.isenabled()
