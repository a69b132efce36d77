"""Finding and opening token datasets by their path."""

from __future__ import annotations

import numpy as np
import pytest

from raydata_ext.text.dictionary import Dictionary
from raydata_ext.text.indexed.indexed_dataset import IndexedDataset, IndexedDatasetBuilder
from raydata_ext.text.indexed.loading import (
    infer_dataset_impl,
    infer_language_pair,
    load_indexed_dataset,
    make_builder,
)
from raydata_ext.text.indexed.mmap_builder import MMapIndexedDatasetBuilder
from raydata_ext.text.indexed.mmap_indexed_dataset import MMapIndexedDataset


def write(path, items, impl="mmap"):
    with make_builder(f"{path}.bin", impl, vocab_size=100) as builder:
        for item in items:
            builder.add_item(np.array(item))
        builder.finalize()


@pytest.mark.parametrize(
    ("impl", "inferred", "kind"), [("mmap", "mmap", MMapIndexedDataset), ("cached", "cached", IndexedDataset)]
)
def test_files_say_what_they_are(tmp_path, impl, inferred, kind):
    write(tmp_path / "x", [[5, 2], [6]], impl)
    assert infer_dataset_impl(tmp_path / "x") == inferred
    dataset = load_indexed_dataset(tmp_path / "x")
    assert isinstance(dataset, kind)
    assert [item.tolist() for item in dataset] == [[5, 2], [6]]


def test_raw_text_takes_a_dictionary(tmp_path):
    (tmp_path / "x").write_text("a b\n")
    dictionary = Dictionary()
    dictionary.add_symbol("b")
    assert infer_dataset_impl(tmp_path / "x") == "raw"
    assert load_indexed_dataset(tmp_path / "x", dictionary)[0].tolist() == [3, 4, 2]
    with pytest.raises(ValueError, match="is raw text, which takes a dictionary"):
        load_indexed_dataset(tmp_path / "x")


def test_numbered_parts_are_put_together_where_that_is_asked_for(tmp_path):
    for number, part in enumerate(["", "1", "2", "4"]):
        write(tmp_path / f"x{part}", [[number]])
    assert [item.tolist() for item in load_indexed_dataset(tmp_path / "x", combine=True)] == [[0], [1], [2]]
    assert [item.tolist() for item in load_indexed_dataset(tmp_path / "x")] == [[0]]


def test_where_there_is_nothing_there_is_no_dataset(tmp_path):
    assert infer_dataset_impl(tmp_path / "x") is None
    assert load_indexed_dataset(tmp_path / "x") is None
    assert load_indexed_dataset(tmp_path / "x", dataset_impl="mmap", combine=True) is None


def test_an_unknown_format_is_refused(tmp_path):
    with pytest.raises(ValueError, match="dataset_impl is 'huffman'"):
        load_indexed_dataset(tmp_path / "x", dataset_impl="huffman")
    with pytest.raises(ValueError, match="is text, which is not built"):
        make_builder(tmp_path / "x.bin", "raw")


def test_builders_take_the_smallest_type(tmp_path):
    with make_builder(tmp_path / "x.bin", "mmap", vocab_size=100) as builder:
        assert isinstance(builder, MMapIndexedDatasetBuilder)
        builder.add_item([1])
        builder.finalize()
    assert MMapIndexedDataset(tmp_path / "x").dtype == np.uint16
    with make_builder(tmp_path / "y.bin", "lazy") as builder:
        assert isinstance(builder, IndexedDatasetBuilder)


@pytest.mark.parametrize(
    ("names", "pair"),
    [
        (["dict.de.txt", "train.de-en.de.idx", "train.de-en.en.idx"], ("de", "en")),
        (["valid.a-b.a.bin", "train.fr-en.fr.bin"], ("fr", "en")),
        (["train.de.idx", "readme", "x.a-b-c.idx", "x.ab.idx"], (None, None)),
        ([], (None, None)),
    ],
)
def test_the_languages_are_those_of_the_first_file_that_names_two(tmp_path, names, pair):
    for name in names:
        (tmp_path / name).touch()
    assert infer_language_pair(tmp_path) == pair
