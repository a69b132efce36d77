"""Counting a corpus gives the same whatever does it, and however it is cut."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest

import raydata_ext as rdx
from raydata_ext.text.dictionary import Dictionary
from raydata_ext.text.word_counts import COUNTS, count_words


def as_dict(counts):
    return dict(zip(counts["word"].to_pylist(), counts["count"].to_pylist(), strict=True))


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    lines = [" ".join(f"w{(number * 7 + place) % 97}é" for place in range(number % 9)) for number in range(400)]
    path.write_text("\n".join(lines) + "\n", encoding="utf8")
    return path


def test_words_are_counted_and_lines_as_the_null_word(text):
    lines = text.read_text(encoding="utf8").split("\n")[:-1]
    counts = count_words(text)
    assert counts.schema == COUNTS
    assert as_dict(counts) == {**Counter(itertools.chain.from_iterable(map(str.split, lines))), None: 400}
    assert counts["word"].to_pylist()[:-1] == sorted(counts["word"].to_pylist()[:-1])


@pytest.mark.parametrize("max_shard_bytes", [1, 40, 1000, 10**6])
def test_the_counts_do_not_depend_on_where_the_file_is_cut(text, max_shard_bytes):
    """Shards that are shorter than a line included."""
    path = text.with_name("short.txt")
    path.write_bytes(b"\n".join(text.read_bytes().split(b"\n")[:30]) if max_shard_bytes < 100 else text.read_bytes())
    lines = rdx.scan_dataset(path, format="text", max_shard_bytes=max_shard_bytes)
    assert count_words(lines).equals(count_words(path))


def test_the_dictionary_is_the_same_for_any_number_of_workers(text, ray_session):
    lines = rdx.scan_dataset(text, format="text", max_shard_bytes=2000, cache_dir=text.parent / "a")
    dictionaries = []
    for number, (executor, workers) in enumerate([("inline", None), ("ray", 1), ("ray", 2)]):
        lines = rdx.scan_dataset(text, format="text", max_shard_bytes=2000, cache_dir=text.parent / f"cache{number}")
        dictionary = Dictionary()
        dictionary.add_counts(count_words(lines, executor=executor, workers=workers))
        dictionary.finalize(threshold=2)
        dictionaries.append((dictionary.symbols, dictionary.count))
    assert dictionaries[0] == dictionaries[1] == dictionaries[2]


def test_any_column_and_tokenizer_can_be_counted(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"words": "a-b"}\n{"words": "b"}\n')
    lines = rdx.scan_dataset(tmp_path / "rows.jsonl")
    assert as_dict(count_words(lines, tokenize=split_at_dashes, column="words")) == {"a": 1, "b": 2, None: 2}


def test_an_empty_file_has_no_words(tmp_path):
    (tmp_path / "empty.txt").touch()
    assert as_dict(count_words(tmp_path / "empty.txt")) in ({}, {None: 0})


def split_at_dashes(line):
    return line.split("-")
