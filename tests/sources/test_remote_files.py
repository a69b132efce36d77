"""The files that a URL stands for."""

from __future__ import annotations

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from raydata_ext.errors import ReadError
from raydata_ext.remote import Retries
from raydata_ext.sources.remote_files import RemoteFiles


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


class Forgetful(MemoryFileSystem):
    """Memory that does not answer some of the questions after what is there."""

    protocol = "forgetful"
    failures = 0

    @classmethod
    def _strip_protocol(cls, path):
        return MemoryFileSystem._strip_protocol(str(path).replace("forgetful://", "memory://"))

    def info(self, path, **kwargs):
        if Forgetful.failures:
            Forgetful.failures -= 1
            raise ConnectionResetError("no answer")
        return super().info(path, **kwargs)


fsspec.register_implementation("forgetful", Forgetful, clobber=True)


def test_a_question_that_is_not_answered_is_asked_again_and_does_not_mean_that_nothing_is_there(
    corpus, monkeypatch
) -> None:
    monkeypatch.setattr(Retries, "_pause", lambda self, attempt: 0.0)
    monkeypatch.setattr(Forgetful, "failures", 2)
    assert [path.rpartition("/")[2] for path in RemoteFiles("forgetful://c").paths] == ["a.txt", "x.txt"]
    monkeypatch.setattr(Forgetful, "failures", 99)
    with pytest.raises(ReadError, match=r"listing forgetful://c failed 6 times, last with ConnectionResetError"):
        RemoteFiles("forgetful://c")


def test_a_file_is_listed_with_what_tells_its_content_from_a_later_one(corpus) -> None:
    files = RemoteFiles("memory://c/a.txt")
    before = files.input_file(files.paths[0], "a.txt").version
    assert before.endswith(":")
    assert before[:-1].isdecimal()
    corpus.pipe("/c/a.txt", b"new")
    assert RemoteFiles("memory://c/a.txt").input_file(files.paths[0], "a.txt").version > before


def test_secrets_among_the_storage_options_are_not_shown(corpus) -> None:
    files = RemoteFiles("memory://c", {"memory": {"use_listings_cache": False}, "s3": {"secret": "hunter2"}})
    assert "hunter2" not in repr(files) + repr(files.input_file(files.paths[0], "a.txt"))
