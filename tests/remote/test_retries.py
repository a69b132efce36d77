from __future__ import annotations

import pytest

from raydata_ext.errors import ReadError, StoreError
from raydata_ext.remote import Retries

QUICK = Retries(attempts=4, first_pause=0.0)


def failing(times, error):
    """An action that fails so many times, and counts its calls."""
    calls = []

    def action():
        calls.append(1)
        if len(calls) <= times:
            raise error
        return "done"

    return action, calls


@pytest.mark.parametrize(
    "error", [OSError(5, "Input/output error"), TimeoutError(), ConnectionResetError(), Exception()]
)
def test_what_fails_for_a_passing_reason_is_tried_again(error, caplog):
    action, calls = failing(3, error)
    assert QUICK.run("reading x", action) == "done"
    assert len(calls) == 4
    assert len(caplog.messages) == 3


def test_after_the_last_try_the_error_says_what_failed_and_why():
    action, calls = failing(9, ConnectionResetError("peer left"))
    with pytest.raises(StoreError, match=r"reading x failed 4 times, last with ConnectionResetError: peer left"):
        QUICK.run("reading x", action)
    assert len(calls) == 4


@pytest.mark.parametrize("error", [FileNotFoundError(), ValueError(), StoreError()])
def test_what_does_not_pass_is_not_tried_again(error):
    action, calls = failing(1, error)
    with pytest.raises(type(error)):
        QUICK.run("reading x", action)
    assert len(calls) == 1


def test_pauses_double_up_to_a_bound():
    retries = Retries(first_pause=1.0, longest_pause=5.0)
    for attempt, full in ((1, 1.0), (2, 2.0), (3, 4.0), (4, 5.0), (40, 5.0)):
        assert full / 2 <= retries._pause(attempt) <= full


def test_no_attempt_at_all_is_refused():
    with pytest.raises(ValueError, match="attempts"):
        Retries(attempts=0)


class ClientError(Exception):
    """As that of aiohttp."""

    __module__ = "aiohttp.client_exceptions"

    def __init__(self, status=None):
        self.status = status


def not_found(cause):
    """As the client for HTTP says it, whatever the cause."""
    error = FileNotFoundError("http://host/x")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize("cause", [ClientError(), ClientError(503), ConnectionResetError(), TimeoutError()])
def test_a_file_that_could_not_be_asked_for_is_asked_for_again(cause):
    action, calls = failing(2, not_found(cause))
    assert QUICK.run("reading x", action) == "done"
    assert len(calls) == 3


@pytest.mark.parametrize("cause", [None, ClientError(404), ClientError(410), FileNotFoundError(), Exception()])
def test_a_file_that_is_not_there_is_asked_for_once(cause):
    action, calls = failing(1, not_found(cause))
    with pytest.raises(FileNotFoundError):
        QUICK.run("reading x", action)
    assert len(calls) == 1


class NoCredentialsError(Exception):
    """As that of botocore."""


class HttpError(Exception):
    """As that of aiohttp, whose `repr` shows the headers of the request."""

    def __init__(self, status):
        super().__init__(f"{status}, message='no'")
        self.status = status

    def __repr__(self):
        return "HttpError(headers={'Authorization': 'Bearer hunter2'})"


@pytest.mark.parametrize(
    "error", [PermissionError(13, "Forbidden"), NoCredentialsError("Unable to locate any"), HttpError(403)]
)
def test_a_lack_of_rights_is_said_at_once(error):
    action, calls = failing(1, error)
    with pytest.raises(StoreError, match=r"reading x: not allowed \(.*; check the credentials"):
        QUICK.run("reading x", action)
    assert len(calls) == 1


def test_headers_of_requests_that_fail_are_not_shown(caplog):
    action, _ = failing(9, HttpError(503))
    with pytest.raises(ReadError, match="reading x failed 4 times, last with HttpError: 503, message='no'") as caught:
        QUICK.run("reading x", action, ReadError)
    assert "hunter2" not in caplog.text + str(caught.value)
