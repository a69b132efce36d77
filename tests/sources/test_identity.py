"""Contents of inputs, known without reading."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from raydata_ext.sources import IdentityIndex, InputFile, Piece, Sighting, list_files
from raydata_ext.sources.identity import COARSE_CLOCK_NS, FINE_CLOCK_NS
from raydata_ext.sources.text import TextReader

READER = TextReader()
LONG_AGO_NS = 1_600_000_000_123_456_789


@pytest.fixture
def index(tmp_path: Path) -> IdentityIndex:
    return IdentityIndex(tmp_path / "index")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A directory of three files that were written long ago."""
    directory = tmp_path / "corpus"
    directory.mkdir()
    for name in ("a.txt", "b.txt", "c.txt"):
        (directory / name).write_text(name * 10)
        os.utime(directory / name, ns=(LONG_AGO_NS, LONG_AGO_NS))
    return directory


def pieces(directory: Path) -> list[Piece]:
    return [Piece(file) for file in list_files(directory)]


def learn(index: IdentityIndex, directory: Path) -> list[str]:
    found = [Sighting(piece, READER.hash_piece(piece), time.time_ns()) for piece in pieces(directory)]
    index.add(found)
    return [sighting.content for sighting in found]


def test_a_known_file_is_not_read_again(index: IdentityIndex, corpus: Path) -> None:
    assert [index.content(piece) for piece in pieces(corpus)] == [None] * 3
    hashes = learn(index, corpus)
    index.save()
    later = IdentityIndex(index.directory)
    assert [later.content(piece) for piece in pieces(corpus)] == hashes


def test_a_touched_file_is_read_again_and_has_the_same_content(index: IdentityIndex, corpus: Path) -> None:
    hashes = learn(index, corpus)
    os.utime(corpus / "b.txt", ns=(LONG_AGO_NS + 1, LONG_AGO_NS + 1))
    assert [index.content(piece) is None for piece in pieces(corpus)] == [False, True, False]
    assert learn(index, corpus) == hashes


def test_a_copied_or_moved_corpus_has_the_same_contents(index: IdentityIndex, corpus: Path, tmp_path: Path) -> None:
    hashes = learn(index, corpus)
    shutil.copytree(corpus, tmp_path / "copy")
    assert learn(index, tmp_path / "copy") == hashes
    corpus.rename(tmp_path / "moved")
    assert learn(index, tmp_path / "moved") == hashes


def test_one_changed_byte_is_another_content_of_that_file_only(index: IdentityIndex, corpus: Path) -> None:
    hashes = learn(index, corpus)
    content = bytearray((corpus / "b.txt").read_bytes())
    content[3] ^= 1
    (corpus / "b.txt").write_bytes(content)
    assert [index.content(piece) is None for piece in pieces(corpus)] == [False, True, False]
    after = learn(index, corpus)
    assert [one == other for one, other in zip(hashes, after, strict=True)] == [True, False, True]


@pytest.mark.parametrize(
    ("modified", "clock"),
    [(LONG_AGO_NS, FINE_CLOCK_NS), (LONG_AGO_NS // 1_000_000_000 * 1_000_000_000, COARSE_CLOCK_NS)],
)
def test_a_file_hashed_right_after_it_was_written_is_not_trusted(
    index: IdentityIndex, modified: int, clock: int
) -> None:
    piece = Piece(InputFile("/c/a.txt", "a.txt", 3, f"{modified}:7"))
    for seen, trusted in ((modified - 1, False), (modified + clock - 1, False), (modified + clock, True)):
        index.add([Sighting(piece, "content", seen)])
        assert index.content(piece) == ("content" if trusted else None)


@pytest.mark.parametrize(
    "other",
    [
        InputFile("/c/b.txt", "a.txt", 3, f"{LONG_AGO_NS}:7"),
        InputFile("/c/a.txt", "a.txt", 4, f"{LONG_AGO_NS}:7"),
        InputFile("/c/a.txt", "a.txt", 3, f"{LONG_AGO_NS + 1}:7"),
        InputFile("/c/a.txt", "a.txt", 3, f"{LONG_AGO_NS}:8"),
        InputFile("/c/a.txt", "a.txt", 3, ""),
    ],
)
def test_path_size_time_and_inode_all_count(index: IdentityIndex, other: InputFile) -> None:
    file = InputFile("/c/a.txt", "a.txt", 3, f"{LONG_AGO_NS}:7")
    index.add([Sighting(Piece(file), "content", time.time_ns())])
    assert index.content(Piece(file)) == "content"
    assert index.content(Piece(other)) is None
    assert index.content(Piece(file, 0, 2, 2)) is None


def test_the_index_keeps_one_entry_a_piece_however_often_it_changes(index: IdentityIndex) -> None:
    for number in range(100):
        piece = Piece(InputFile("/c/a.txt", "a.txt", 3, f"{LONG_AGO_NS + number}:7"))
        index.add([Sighting(piece, "content", time.time_ns())])
        index.save()
    [path] = index.directory.iterdir()
    assert path.stat().st_size < 200


def test_a_store_that_gives_tags_vouches_for_contents(index: IdentityIndex) -> None:
    def content(tag: str, start: int = 0) -> str | None:
        return index.content(Piece(InputFile("s3://b/a", "a", 3, f"etag:ETag:{tag}"), start, start + 1))

    assert content("1") == content("1") is not None
    assert len({content("1"), content("2"), content("1", 1)}) == 3
    index.add([Sighting(Piece(InputFile("s3://b/a", "a", 3, "etag:ETag:1")), "content", time.time_ns())])
    index.save()
    assert not index.directory.exists()


def test_without_any_version_a_file_is_always_read(index: IdentityIndex) -> None:
    piece = Piece(InputFile("http://h/a", "a", 3, ""))
    index.add([Sighting(piece, "content", time.time_ns())])
    assert index.content(piece) is None


@pytest.mark.parametrize(
    "damage",
    [b"", b"\0\xff", b"[1]", b'{"', b'{"x": 5}', b'{"x": [1, 2]}', b'"text"', b"null"],
)
def test_a_damaged_index_costs_a_read_and_heals(index: IdentityIndex, corpus: Path, damage: bytes) -> None:
    hashes = learn(index, corpus)
    index.save()
    [path] = index.directory.iterdir()
    path.write_bytes(damage)
    later = IdentityIndex(index.directory)
    assert [later.content(piece) for piece in pieces(corpus)] == [None] * 3
    learn(later, corpus)
    later.save()
    assert [IdentityIndex(index.directory).content(piece) for piece in pieces(corpus)] == hashes


def test_an_index_that_cannot_be_read_or_saved_is_a_warning(tmp_path: Path, corpus: Path, caplog) -> None:
    (tmp_path / "file").touch()
    index = IdentityIndex(tmp_path / "file" / "index")
    hashes = learn(index, corpus)
    index.save()
    assert "cannot save known contents of inputs" in caplog.text
    assert [index.content(piece) for piece in pieces(corpus)] == hashes


def test_writers_at_once_keep_what_both_have_seen(tmp_path: Path, corpus: Path) -> None:
    first, second = IdentityIndex(tmp_path / "index"), IdentityIndex(tmp_path / "index")
    a, b, _ = pieces(corpus)
    assert first.content(a) is second.content(a) is None  # both have loaded the empty index
    first.add([Sighting(a, "of a", time.time_ns())])
    second.add([Sighting(b, "of b", time.time_ns())])
    first.save()
    second.save()
    merged = IdentityIndex(tmp_path / "index")
    assert [merged.content(a), merged.content(b)] == ["of a", "of b"]
    assert [path.suffix for path in (tmp_path / "index").iterdir()] == [".json"]


def test_paths_that_are_no_unicode_are_remembered(index: IdentityIndex, corpus: Path) -> None:
    name = corpus / "bad\udcff\n.txt"
    name.write_text("x")
    os.utime(name, ns=(LONG_AGO_NS, LONG_AGO_NS))
    hashes = learn(index, corpus)
    index.save()
    assert [IdentityIndex(index.directory).content(piece) for piece in pieces(corpus)] == hashes


def test_a_file_of_the_index_is_read_once_for_all_that_is_looked_up(
    index: IdentityIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [Piece(InputFile(f"/c/{n % 100}/{n}.txt", f"{n}.txt", n, f"{LONG_AGO_NS}:{n}")) for n in range(3000)]
    index.add(Sighting(piece, "0" * 32, time.time_ns()) for piece in files)
    index.save()
    later, read = IdentityIndex(index.directory), []
    read_bytes = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read.append(path.name) or read_bytes(path))
    assert all(later.content(piece) for piece in files)
    assert sorted(read) == sorted(file.name for file in index.directory.iterdir())
