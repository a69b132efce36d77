"""Lines of text as token numbers, and what is said of them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import raydata_ext as rdx
from raydata_ext.engine import Engine, run_all
from raydata_ext.errors import StepError
from raydata_ext.text.binarizer import Binarizer
from raydata_ext.text.dictionary import Dictionary
from raydata_ext.text.indexed.mmap_indexed_dataset import MMapIndexedDataset
from raydata_ext.text.line_encoding import encode_columns


@pytest.fixture
def dictionary():
    dictionary = Dictionary()
    for word in ("a", "b"):
        dictionary.add_symbol(word)
    return dictionary


def write(path, content):
    path.write_bytes(content)
    return path


def test_lines_become_tokens_and_unknown_words_are_counted(tmp_path, dictionary):
    text = write(tmp_path / "text", b"a b\n\nx a <unk> x\ny b")
    done = Binarizer.binarize(text, dictionary)
    assert done.dataset["input_ids"] == [[4, 5, 2], [2], [3, 4, 3, 3, 2], [3, 5, 2]]
    assert done.dataset["unknown"] == [[], [], ["x", "x"], ["y"]]
    assert (done.nseq, done.ntok, done.nunk, done.replaced) == (4, 12, 3, Counter(x=2, y=1))
    assert done.summary == "4 sents, 12 tokens, 25.0% replaced (by <unk>)"
    assert str(done.dataset.schema.field("input_ids").type.value_type) == "uint16"


def test_tokens_and_unknown_words_are_counted_for_the_report(tmp_path, dictionary):
    texts = rdx.Dataset.from_dict({"de": ["a b", "x a <unk> x"], "en": ["a", "b"]}, cache_dir=tmp_path).lazy()
    encoded = encode_columns(texts, {"de": dictionary, "en": dictionary}, names={"de": "input_ids"})
    with Engine("inline") as engine:
        [[result]] = run_all(encoded.plan, encoded.workspace, engine)
    assert [step["counts"] for step in result.receipt.steps] == [
        {"tokens in input_ids": 8, "unknown words in input_ids": 2, "tokens in en": 4, "unknown words in en": 0}
    ]


def test_each_line_is_what_encode_line_gives(tmp_path, dictionary):
    text = write(tmp_path / "text", "a\u3000b x\r\n b  b\n".encode())
    for options in ({}, {"append_eos": False}, {"reverse_order": True}, {"reverse_order": True, "append_eos": False}):
        seen = []
        done = Binarizer.binarize(text, dictionary, lambda tokens, seen=seen: seen.append(tokens.tolist()), **options)
        expected = [
            dictionary.encode_line(line, add_if_not_exist=False, **options).tolist()
            for line in text.read_bytes().decode().split("\n")[:-1]
        ]
        assert done.dataset["input_ids"] == expected == seen


@pytest.mark.parametrize("max_shard_bytes", [1, 7, 1000])
def test_only_line_feeds_end_lines_however_the_file_is_cut(tmp_path, dictionary, max_shard_bytes):
    """So a source and a target of as many lines give as many rows."""
    source = write(tmp_path / "source", "a\rb\na\x0bb\na\u2028b\na\x85b\n\r\n\n".encode())
    target = write(tmp_path / "target", b"b\n" * 6)
    done = [
        Binarizer.binarize(rdx.scan_dataset(path, format="text", max_shard_bytes=max_shard_bytes), dictionary)
        for path in (source, target)
    ]
    assert [one.nseq for one in done] == [6, 6]
    assert done[0].dataset["input_ids"] == [[4, 5, 2]] * 4 + [[2]] * 2


def test_the_result_is_the_same_for_any_executor(tmp_path, dictionary, ray_session):
    text = write(tmp_path / "text", b"a b x\n" * 500)
    rows = []
    for executor in ("inline", "ray"):
        lines = rdx.scan_dataset(text, format="text", max_shard_bytes=500, cache_dir=tmp_path / executor)
        done = Binarizer.binarize(lines, dictionary, executor=executor, workers=2)
        assert (done.nseq, done.ntok, done.nunk) == (500, 2000, 500)
        rows.append(done.dataset["input_ids"])
    assert rows[0] == rows[1] == [[4, 5, 3, 2]] * 500


def test_the_tokens_can_be_written_as_bin_and_idx(tmp_path, dictionary):
    text = write(tmp_path / "text", b"a b\n\nb\n")
    Binarizer.binarize(text, dictionary, append_eos=False).write_indexed(tmp_path / "train.de-en.de")
    written = MMapIndexedDataset(tmp_path / "train.de-en.de")
    assert [item.tolist() for item in written] == [[4, 5], [], [5]]
    assert written.dtype == np.uint16
    assert (tmp_path / "train.de-en.de.bin").stat().st_size == 6


@pytest.mark.parametrize("content", [b"", b"\n", b"a"])
def test_no_line_and_one_line_are_fine(tmp_path, dictionary, content):
    done = Binarizer.binarize(write(tmp_path / "text", content), dictionary)
    done.write_indexed(tmp_path / "out")
    assert len(MMapIndexedDataset(tmp_path / "out")) == done.nseq == len(content)
    assert done.summary.endswith("0.0% replaced (by <unk>)")


def test_another_dictionary_or_tokenizer_is_another_result(tmp_path, dictionary):
    text = write(tmp_path / "text", b"a-b c\n")
    assert Binarizer.binarize(text, dictionary).dataset["input_ids"] == [[3, 3, 2]]
    assert Binarizer.binarize(text, dictionary, tokenize=split_at_dashes).dataset["input_ids"] == [[4, 3, 2]]
    dictionary.add_symbol("c")
    assert Binarizer.binarize(text, dictionary).dataset["input_ids"] == [[3, 6, 2]]


def test_alignments_become_flat_pairs(tmp_path):
    text = write(tmp_path / "align", b"0-0 1-2\n\n10-3\n")
    seen = []
    rows = Binarizer.binarize_alignments(text, consumer=lambda numbers: seen.append(numbers.tolist()))
    assert rows["input_ids"] == [[0, 0, 1, 2], [], [10, 3]] == seen
    assert str(rows.schema.field("input_ids").type.value_type) == "int32"


@pytest.mark.parametrize("pair", ["0", "0-x", "-1", "0-1-2", "0--1"])
def test_an_alignment_that_is_none_is_named(tmp_path, pair):
    text = write(tmp_path / "align", f"0-0\n1-1 {pair}\n".encode())
    with pytest.raises(StepError, match=f"alignment '{pair}' in line '1-1 {pair}'"):
        Binarizer.binarize_alignments(text)


def split_at_dashes(line):
    return line.split("-")
