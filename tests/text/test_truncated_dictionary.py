"""The first symbols of a dictionary."""

from __future__ import annotations

import pytest

from raydata_ext.text.dictionary import Dictionary
from raydata_ext.text.truncated_dictionary import TruncatedDictionary


@pytest.fixture
def dictionary():
    dictionary = Dictionary()
    for word in "abc":
        dictionary.add_symbol(word)
    return dictionary


def test_symbols_past_the_length_are_unknown_in_both_directions(dictionary):
    short = TruncatedDictionary(dictionary, 5)
    assert len(short) == 5
    assert [short[number] for number in (4, 5, 6)] == ["a", "<unk>", "<unk>"]
    assert [short.index(word) for word in "abc"] == [4, 3, 3]
    assert short.encode_line("a b", add_if_not_exist=False).tolist() == [4, 3, 2]
    assert isinstance(short, Dictionary)


def test_the_dictionary_below_stays_as_it_is(dictionary):
    TruncatedDictionary(dictionary, 5).add_symbol("z")
    assert dictionary.symbols[4:] == ["a", "b", "c"]
    assert len(TruncatedDictionary(dictionary, 100)) == 7


def test_special_symbols_cannot_be_cut_off(dictionary):
    with pytest.raises(ValueError, match="length is 3; it must be at least 4"):
        TruncatedDictionary(dictionary, 3)
