"""The files that a URL stands for."""

from __future__ import annotations

import datetime as dt

import pytest

from raydata_ext.sources.remote_files import RemoteFiles, _version


@pytest.fixture
def corpus(memory):
    for name in ("/c/a.txt", "/c/b/x.txt", "/c/b/.h.txt", "/c/_SUCCESS", "/c/.git/x.txt"):
        memory.pipe(name, b"abc")
    return memory


def test_a_directory_stands_for_all_its_files_but_hidden_ones_and_markers(corpus) -> None:
    files = RemoteFiles("memory://c")
    assert files.paths == ["memory:///c/a.txt", "memory:///c/b/x.txt"]
    assert [files.input_file(path, "n").size for path in files.paths] == [3, 3]


def test_a_pattern_leaves_out_hidden_files_unless_it_names_them(corpus) -> None:
    assert RemoteFiles("memory://c/**/*.txt").paths == ["memory:///c/a.txt", "memory:///c/b/x.txt"]
    assert RemoteFiles("memory://c/b/.*").paths == ["memory:///c/b/.h.txt"]


def test_a_url_that_exists_is_no_pattern(corpus) -> None:
    corpus.pipe("/c/q[a].txt", b"1")
    corpus.pipe("/c/qa.txt", b"2")
    assert RemoteFiles("memory://c/q[a].txt").paths == ["memory:///c/q[a].txt"]


def test_nothing_there_names_the_nearest_directory(corpus) -> None:
    files = RemoteFiles("memory://c/b/nope/*.txt")
    assert files.paths == []
    assert files.nearest_directory() == ("memory:///c/b", 2)
    assert RemoteFiles("memory://nope/x").nearest_directory() is None


@pytest.mark.parametrize(
    ("info", "version"),
    [
        ({"ETag": '"abc"', "LastModified": 5}, 'etag:ETag:"abc"'),
        ({"md5Hash": "m", "etag": "e"}, "etag:md5Hash:m"),
        ({"ETag": 'W/"weak"', "mtime": 1.5}, "1500000000:"),
        ({"LastModified": dt.datetime(1970, 1, 1, 0, 0, 2, tzinfo=dt.timezone.utc)}, "2000000000:"),
        ({"mtime": "Tue, 1 Jan"}, ""),
        ({}, ""),
    ],
)
def test_the_version_is_what_the_store_vouches_for(info: dict[str, object], version: str) -> None:
    assert _version(info) == version
