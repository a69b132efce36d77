"""A source and a target text as tokens, line by line."""

from __future__ import annotations

import pytest

from raydata_ext.errors import ReadError
from raydata_ext.text import Dictionary, MMapIndexedDataset, binarize_parallel


def dictionary(*words):
    symbols = Dictionary()
    for word in words:
        symbols.add_symbol(word)
    return symbols


@pytest.fixture
def files(tmp_path):
    """Two texts of three lines, with a carriage return and an empty line, and alignments."""
    contents = {"train.en": b"a b\r c\n\na\n", "train.de": b"x y\n\nz x\n", "train.align": b"0-0 1-1\n\n0-1\n"}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    return tmp_path / "train.en", tmp_path / "train.de", tmp_path / "train.align"


def test_rows_are_those_of_both_texts(files):
    source, target, _ = files
    corpus = binarize_parallel(source, target, dictionary("a", "b"), dictionary("x"))
    pairs = corpus.pairs(shuffle=False)
    assert [pairs[row]["source"].tolist() for row in range(3)] == [[4, 5, 3, 2], [2], [4, 2]]
    assert [pairs[row]["target"].tolist() for row in range(3)] == [[4, 3, 2], [2], [3, 4, 2]]
    assert corpus.summary == (
        "source: 3 sents, 7 tokens, 14.3% replaced (by <unk>)\ntarget: 3 sents, 7 tokens, 28.6% replaced (by <unk>)"
    )
    assert (corpus.source.replaced, corpus.target.replaced) == ({"c": 1}, {"y": 1, "z": 1})


def test_alignments_come_with_the_pairs(files):
    source, target, aligned = files
    corpus = binarize_parallel(source, target, dictionary("a", "b"), dictionary("x"), alignments=aligned)
    pairs = corpus.pairs()
    assert [pairs[row]["alignment"].tolist() for row in range(3)] == [[0, 0, 1, 1], [], [0, 1]]
    batch = pairs.collater([pairs[0]], return_tensors="np")
    assert batch["alignments"].tolist() == [[0, 0], [1, 1]]


def test_texts_of_different_length_are_refused_with_their_names_and_counts(files):
    source, target, aligned = files
    target.write_bytes(b"x\n")
    with pytest.raises(ReadError, match=r"train\.en has 3 lines, but .*train\.de has 1; line by line"):
        binarize_parallel(source, target, dictionary(), dictionary())
    with pytest.raises(ReadError, match=r"train\.de has 1 lines, but .*train\.align has 3"):
        binarize_parallel(target, target, dictionary(), dictionary(), alignments=aligned)


def test_the_files_of_fairseqs_preprocessing_can_be_written(files, tmp_path):
    source, target, alignments = files
    corpus = binarize_parallel(source, target, dictionary("a", "b"), dictionary("x"), alignments=alignments)
    corpus.write_indexed(tmp_path / "bin", "en", "de", split="valid")
    assert sorted(path.name for path in (tmp_path / "bin").iterdir()) == [
        "dict.de.txt",
        "dict.en.txt",
        "valid.align.en-de.bin",
        "valid.align.en-de.idx",
        "valid.en-de.de.bin",
        "valid.en-de.de.idx",
        "valid.en-de.en.bin",
        "valid.en-de.en.idx",
    ]
    sources, aligned = (MMapIndexedDataset(tmp_path / "bin" / f"valid.{name}") for name in ("en-de.en", "align.en-de"))
    assert [row.tolist() for row in sources] == [[4, 5, 3, 2], [2], [4, 2]]
    assert [row.tolist() for row in aligned] == [[0, 0, 1, 1], [], [0, 1]]
    assert Dictionary.load(tmp_path / "bin" / "dict.en.txt") == corpus.src_dict


def test_texts_without_lines_are_a_corpus_without_rows(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"")
    corpus = binarize_parallel(tmp_path / "a", tmp_path / "b", dictionary(), dictionary())
    assert len(corpus.pairs()) == 0
    assert corpus.pairs().collater([]) == {}
