"""Columns of lines as columns of tokens."""

from __future__ import annotations

import pytest

import raydata_ext as rdx
from raydata_ext.text.dictionary import Dictionary
from raydata_ext.text.line_encoding import DICTIONARY_KEY, dictionary_hash, encode_columns


@pytest.fixture
def lines(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"en": "a b", "de": "x", "id": 1}\n{"en": "", "de": "y x", "id": 2}\n')
    return rdx.scan_dataset(tmp_path / "rows.jsonl", cache_dir=tmp_path / "cache")


def dictionary(*words):
    symbols = Dictionary()
    for word in words:
        symbols.add_symbol(word)
    return symbols


def test_each_column_is_encoded_with_its_own_dictionary(lines):
    rows = encode_columns(lines, {"en": dictionary("a"), "de": dictionary("y", "x")}, names={"de": "labels"}).collect()
    assert rows.column_names == ["en", "en_unknown", "labels", "labels_unknown"]
    assert rows["en"] == [[4, 3, 2], [2]]
    assert rows["en_unknown"] == [["b"], []]
    assert rows["labels"] == [[5, 2], [4, 5, 2]]


def test_a_column_says_which_dictionary_it_was_made_with_also_when_it_is_saved(lines, tmp_path):
    symbols = dictionary("a")
    encode_columns(lines, {"en": symbols}).collect().save_to_disk(tmp_path / "out")
    found = rdx.load_from_disk(tmp_path / "out").schema.field("en").metadata[DICTIONARY_KEY]
    assert found == dictionary_hash(symbols)
    symbols.add_symbol("b")
    assert found != dictionary_hash(symbols)


def test_the_symbols_of_a_dictionary_are_part_of_the_key_and_their_counts_are_not(lines):
    def key(symbols):
        return encode_columns(lines, {"en": symbols}).plan.steps[-1].fingerprint.digest

    assert key(dictionary("a", "x")) == key(dictionary("a", "x", "x"))
    assert key(dictionary("a", "x")) != key(dictionary("x", "a"))
