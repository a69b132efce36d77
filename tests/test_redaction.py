"""Passwords of URLs, which are shown to nobody."""

from __future__ import annotations

import pickle

import pytest

from raydata_ext.errors import DamagedInputError, NoMatchError, QuarantineError, ReadError, WriteError
from raydata_ext.redaction import readable, redact_error, redacted


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://user:hush@host/data", "https://user:***@host/data"),
        ("s3://AKIA123:hu+sh%2F@bucket/key", "s3://AKIA123:***@bucket/key"),
        ("ftp://:hush@host:21/data", "ftp://:***@host:21/data"),
        ("https://user:@host", "https://user:***@host"),
        ("https://user:hu@sh@host/data", "https://user:***@host/data"),
        ("simplecache::HTTPS://user:hush@host/a", "simplecache::HTTPS://user:***@host/a"),
        ("https:/user:hush@host/data", "https:/user:***@host/data"),
        ("'ftp://a:b@c/x','s3://d:e@f'", "'ftp://a:***@c/x','s3://d:***@f'"),
    ],
)
def test_three_stars_stand_for_a_password(text, shown):
    assert redacted(text) == shown
    assert redacted(shown) == shown


@pytest.mark.parametrize(
    "text",
    [
        "",
        "https://user@host/data",
        "https://host:8080/@user/a:b@c",
        "s3://bucket/key:part@2",
        "abfs://container@account.dfs.core.windows.net/a:b",
        "/data/a:b@c.txt",
        "mail user@host about step 1: https://host/",
    ],
)
def test_whatever_is_no_password_stays(text):
    assert redacted(text) == text


def test_errors_of_this_package_show_no_password_also_after_they_crossed_a_process():
    message = "https://user:hush@host/a: cannot be read"
    for error in (ReadError(message), NoMatchError(message), DamagedInputError(message, 3), QuarantineError(message)):
        for one in (error, pickle.loads(pickle.dumps(error))):
            assert str(one) == "https://user:***@host/a: cannot be read"
    written = WriteError(28, "No space left on device", "https://user:hush@host/a")
    assert (written.errno, written.filename) == (28, "https://user:***@host/a")
    assert "hush" not in str(pickle.loads(pickle.dumps(written)))


def test_passwords_are_taken_out_of_errors_of_other_libraries():
    errors = FileNotFoundError("ftp://user:hush@host/a"), PermissionError(13, "no", "ftp://user:hush@host/a")
    for error in errors:
        redact_error(error)
        assert "ftp://user:***@host/a" in str(error)
        assert "hush" not in repr((str(error), error.args, error.filename))
    plain = ValueError(3, b"x")
    redact_error(plain)
    assert plain.args == (3, b"x")


def test_an_error_can_be_encoded_whatever_it_quotes() -> None:
    assert str(ReadError("/data/caf\udce9.txt: no JSON")) == r"/data/caf\xe9.txt: no JSON"


def test_a_name_that_is_no_unicode_is_written_with_escapes() -> None:
    assert readable("/data/caf\udce9.txt") == r"/data/caf\xe9.txt"
    assert readable("https://user:hush@host/日本.txt") == "https://user:***@host/日本.txt"
