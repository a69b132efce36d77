"""Errors that lead to what has no fingerprint."""

from __future__ import annotations

import functools
import socket
import threading
import weakref

import pytest

from raydata_ext.errors import FingerprintError, RaydataError
from raydata_ext.fingerprint import fingerprint, hash_value


class Logger:
    def __init__(self):
        self._lock = threading.Lock()


class Step:
    def __init__(self):
        self.logger = Logger()

    def make(self):
        def tokenize(row):
            return self.logger, row

        return tokenize

    def run(self, row):
        return row


LOCK = threading.Lock()


def reads_a_lock(row, other=None):
    return LOCK, row


def error_of(value, **options):
    with pytest.raises(FingerprintError) as caught:
        fingerprint(value, **options)
    return str(caught.value)


def test_the_way_to_the_culprit_is_named_with_both_remedies():
    message = error_of(Step().make())
    assert message.startswith("closure of `tokenize` -> `self` -> `logger` -> `_lock` is a _thread.lock")
    assert 'version="..."' in message
    assert "exclude=('_lock',)" in message
    assert isinstance(FingerprintError(""), RaydataError)
    assert isinstance(FingerprintError(""), TypeError)


def test_following_the_remedy_helps():
    assert (
        fingerprint(Step().make(), exclude=("_lock",)).digest == fingerprint(Step().make(), exclude=("_lock",)).digest
    )


@pytest.mark.parametrize(
    ("make", "path"),
    [
        (lambda: reads_a_lock, "globals of `reads_a_lock` -> `LOCK`"),
        (lambda: Step().run, "`self` -> `logger` -> `_lock`"),
        (lambda: functools.partial(len, LOCK), "arguments of `len` -> `0`"),
        (lambda: {"a": [Step()]}, "`value` -> ['a'] -> [0] -> `logger` -> `_lock`"),
        (lambda: {LOCK: 1}, "`value` -> [key]"),
        (lambda: LOCK, "`value`"),
        (lambda: (item for item in ()), "`value` is a builtins.generator"),
        (threading.Thread, "`value` is a threading.Thread"),
        (lambda: [weakref.ref(Logger)], "`value` -> [0] is a weakref"),
    ],
)
def test_every_kind_of_way_is_told(make, path):
    assert path in error_of(make())


def test_a_default_that_is_a_lock_is_told():
    def function(row, lock=LOCK):
        return row

    assert "defaults of `function` -> `lock`" in error_of(function)


def test_open_files_sockets_and_coroutines_are_refused(tmp_path):
    async def wait():
        return 1

    coroutine = wait()
    with (tmp_path / "a").open("w") as text, (tmp_path / "b").open("wb") as binary, socket.socket() as connection:
        for value in (text, binary, connection, coroutine):
            assert "no stable content" in error_of(value)
    coroutine.close()


def test_a_fingerprint_is_never_random():
    for _ in range(2):
        with pytest.raises(FingerprintError):
            hash_value([Step()])
