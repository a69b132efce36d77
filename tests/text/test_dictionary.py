"""Symbols and their numbers: what fairseq's `Dictionary` does, and files that lose nothing."""

from __future__ import annotations

import io
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.text.dictionary import Dictionary
from raydata_ext.text.dictionary_file import DictionaryFileError


def with_words(words, **arguments):
    dictionary = Dictionary(**arguments)
    for word in words:
        dictionary.add_symbol(word)
    return dictionary


def state(dictionary):
    numbers = (dictionary.bos(), dictionary.pad(), dictionary.eos(), dictionary.unk())
    return dictionary.symbols, dictionary.count, dictionary.indices, dictionary.nspecial, numbers


# -- numbers -----------------------------------------------------------------------------------------------------------


def test_special_symbols_come_first_and_extra_ones_after_them():
    dictionary = Dictionary(extra_special_symbols=["<mask>"])
    assert dictionary.symbols == ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    assert (dictionary.bos(), dictionary.pad(), dictionary.eos(), dictionary.unk()) == (0, 1, 2, 3)
    assert (dictionary.bos_index, dictionary.unk_index) == (0, 3)
    assert dictionary.count == [1] * 5
    assert dictionary.nspecial == 5
    assert Dictionary("P", "E", "U", "B").symbols == ["B", "P", "E", "U"]


def test_without_special_symbols_they_are_what_is_added_by_these_names():
    dictionary = Dictionary(add_special_symbols=False)
    assert len(dictionary) == 0
    with pytest.raises(LookupError, match=r"no symbol '<unk>' in this dictionary to stand for unk"):
        dictionary.index("a")
    dictionary.add_symbol("a")
    dictionary.add_symbol("<unk>")
    assert (dictionary.index("a"), dictionary.index("b"), dictionary.nspecial) == (0, 1, 0)


def test_symbols_and_numbers_lead_to_each_other_and_unknown_ones_to_unk():
    dictionary = with_words(["a", "b"])
    assert [dictionary.index(word) for word in ("a", "b", "c", "</s>")] == [4, 5, 3, 2]
    assert [dictionary[number] for number in (4, 5, 6, 1000, -1)] == ["a", "b", "<unk>", "<unk>", "b"]
    assert "a" in dictionary
    assert "c" not in dictionary
    with pytest.raises(TypeError, match="a symbol is a str"):
        dictionary.index(4)


def test_adding_counts_and_updating_adds_all_counts():
    first, second = with_words("aab"), with_words("bc")
    assert first.add_symbol("b", n=5) == 5
    first.update(second)
    assert first.symbols[4:] == ["a", "b", "c"]
    assert first.count == [2, 2, 2, 2, 2, 7, 1]


def test_finalizing_sorts_by_count_then_code_point_and_pads_to_the_factor():
    dictionary = with_words(["b", "a", "é", "z", "z"])
    dictionary.finalize()
    assert dictionary.symbols[4:] == ["z", "a", "b", "é"]
    assert dictionary.count[4:] == [2, 1, 1, 1]
    dictionary.add_symbol("y", n=3)
    dictionary.finalize(padding_factor=4)
    assert dictionary.symbols[4:] == ["y", "z", "a", "b", "é", "madeupword0000", "madeupword0001", "madeupword0002"]
    assert dictionary.count[-1] == 0
    dictionary.finalize(padding_factor=16)
    assert len(dictionary) == 16
    assert len(set(dictionary.symbols)) == 16
    assert [dictionary.index(symbol) for symbol in dictionary.symbols] == list(range(16))


@pytest.mark.parametrize("factor", [0, 1, -1])
def test_a_factor_of_one_or_less_pads_nothing(factor):
    dictionary = with_words("abc")
    dictionary.finalize(padding_factor=factor)
    assert len(dictionary) == 7


def test_rare_symbols_and_those_past_the_number_of_words_are_dropped():
    dictionary = with_words("aaabbc")
    dictionary.finalize(threshold=2, padding_factor=1)
    assert dictionary.symbols[4:] == ["a", "b"]
    dictionary = with_words("aaabbc")
    dictionary.finalize(nwords=5, padding_factor=1)
    assert dictionary.symbols[4:] == ["a"]
    dictionary.finalize(nwords=2, padding_factor=1)
    assert len(dictionary) == 4


def test_dictionaries_are_equal_by_their_numbers_and_travel():
    assert with_words("aab") == with_words("ab")
    assert with_words("ab") != with_words("ba")
    assert state(pickle.loads(pickle.dumps(with_words("ab")))) == state(with_words("ab"))


# -- text --------------------------------------------------------------------------------------------------------------


def test_tokens_become_text_without_bos_and_eos():
    dictionary = with_words(["a", "b@@", "c"])
    assert dictionary.string([0, 4, 5, 6, 3, 1, 2]) == "a b@@ c <unk> <pad>"
    assert dictionary.string(np.array([4, 3]), escape_unk=True) == "a <<unk>>"
    assert dictionary.string([4, 3, 2], unk_string="?", include_eos=True) == "a ? </s>"
    assert dictionary.string([[4, 2], [6, 2]]) == "a\nc"
    assert dictionary.string([4, 5, 6], bpe_symbol="@@ ") == "a bc"
    assert dictionary.string([4, 6], extra_symbols_to_ignore={6}, separator="") == "a"
    assert dictionary.string([]) == ""


def test_torch_tensors_become_text_too():
    torch = pytest.importorskip("torch")
    assert with_words("ab").string(torch.tensor([[4, 5], [5, 2]])) == "a b\nb"


def test_a_line_becomes_tokens():
    dictionary = with_words(["a", "b"])
    line = dictionary.encode_line("a  b c\n", add_if_not_exist=False)
    assert (line.tolist(), line.dtype) == ([4, 5, 3, 2], np.int32)
    assert dictionary.encode_line("a b", reverse_order=True, append_eos=False).tolist() == [5, 4]
    seen = []
    assert dictionary.encode_line("c a", consumer=lambda word, number: seen.append((word, number))).tolist() == [
        6,
        4,
        2,
    ]
    assert seen == [("c", 6), ("a", 4)]
    assert dictionary.count[4] == 3
    assert dictionary.encode_line("", line_tokenizer=list).tolist() == [2]


# -- files -------------------------------------------------------------------------------------------------------------


def test_the_file_is_that_of_fairseq():
    dictionary = with_words(["a", "a", " "])
    dictionary.finalize(padding_factor=4)
    file = io.StringIO()
    dictionary.save(file)
    assert file.getvalue() == "a 2\n  1\nmadeupword0000 0\nmadeupword0001 0\n"


def test_symbols_may_hold_spaces_counts_may_be_negative_and_lines_may_end_in_carriage_returns(tmp_path):
    (tmp_path / "dict.txt").write_bytes(b"a b 3\r\n  999\nc -2")
    dictionary = Dictionary.load(tmp_path / "dict.txt")
    assert (dictionary.symbols[4:], dictionary.count[4:]) == (["a b", " ", "c"], [3, 999, -2])


def test_an_overwriting_line_gives_a_symbol_a_new_number():
    dictionary = Dictionary()
    dictionary.add_from_file(
        io.StringIO(
            "<unk> 999 #fairseq:overwrite\n<s> 999 #fairseq:overwrite\n</s> 999 #fairseq:overwrite\n, 999\n▁de 999\n"
        )
    )
    numbers = [dictionary.index(symbol) for symbol in ("<pad>", "foo", "<unk>", "<s>", "</s>", ",", "▁de")]
    assert numbers == [1, 3, 4, 5, 6, 7, 8]


@pytest.mark.parametrize("flagged", ["", " #fairseq:overwrite"])
def test_a_symbol_that_is_there_already_needs_the_flag(flagged):
    text = f"foo 1\nfoo 2{flagged}\n"
    if flagged:
        assert Dictionary.load(io.StringIO(text)).symbols[4:] == ["foo", "foo"]
    else:
        with pytest.raises(RuntimeError, match="Duplicate word found when loading Dictionary: 'foo'"):
            Dictionary.load(io.StringIO(text))


@pytest.mark.parametrize("line", ["foo", "foo 1.5", "foo\t1", "", "foo 1 #other", "1", "#fairseq:overwrite"])
def test_a_line_that_is_none_is_named(line, tmp_path):
    path = tmp_path / "dict.txt"
    path.write_text(f"a 1\n{line}\nb 2\n")
    with pytest.raises(DictionaryFileError, match=r"dict\.txt: line 2: Incorrect dictionary format"):
        Dictionary.load(path)


def test_a_file_of_another_encoding_is_named(tmp_path):
    path = tmp_path / "dict.txt"
    path.write_bytes("é 1\n".encode("latin1"))
    with pytest.raises(DictionaryFileError, match=r"Incorrect encoding detected in .*byte 0 is not UTF-8"):
        Dictionary.load(path)


words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=4)


@given(
    added=st.lists(st.tuples(words, st.integers(-5, 10**12), st.booleans()), max_size=12),
    special=st.lists(words, min_size=4, max_size=4),
    extra=st.lists(words, max_size=3),
    usual=st.booleans(),
    finalize=st.booleans(),
)
@settings(max_examples=200, deadline=None)
def test_saving_and_loading_gives_the_same_dictionary(added, special, extra, usual, finalize):
    names = {} if usual else dict(zip(("pad", "eos", "unk", "bos"), special, strict=True))
    dictionary = Dictionary(**names, extra_special_symbols=extra)
    for word, count, overwrite in added:
        if overwrite or word not in dictionary.symbols[: dictionary.nspecial]:
            dictionary.add_symbol(word, n=count, overwrite=overwrite)
    if finalize:
        dictionary.finalize(threshold=1, padding_factor=4)
    file = io.StringIO()
    dictionary.save(file)
    assert state(Dictionary.load(io.StringIO(file.getvalue()))) == state(dictionary)


def test_a_file_with_other_special_symbols_is_not_added_to_a_dictionary_without_them(tmp_path):
    path = tmp_path / "new" / "dict.txt"
    masked = with_words("ab", extra_special_symbols=["<mask>"])
    masked.save(path)
    assert state(Dictionary.load(path)) == state(masked)
    same = Dictionary(extra_special_symbols=["<mask>"])
    same.add_from_file(path)
    assert same == masked
    with pytest.raises(DictionaryFileError, match=r"its special symbols are .*'<mask>'.* use Dictionary\.load"):
        Dictionary().add_from_file(path)


def test_a_symbol_that_no_file_can_hold_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"symbol 'a\\nb' holds a line end"):
        with_words(["a\nb"]).save(tmp_path / "dict.txt")
    with pytest.raises(ValueError, match="line 2: the symbol is no valid Unicode"):
        with_words(["a", "\ud800"]).save(tmp_path / "dict.txt")
    assert list(tmp_path.iterdir()) == []


def test_a_path_without_directory_is_fine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with_words("a").save("dict.txt")
    assert Dictionary.load("dict.txt") == with_words("a")


# -- counting ----------------------------------------------------------------------------------------------------------


def test_a_text_file_is_counted_word_by_word_with_an_eos_a_line(tmp_path):
    path = tmp_path / "text"
    path.write_bytes("b a é\na\rc\n\na".encode())
    dictionary = Dictionary()
    Dictionary.add_file_to_dictionary(path, dictionary)
    assert dictionary.symbols[4:] == ["a", "b", "c", "é"]
    assert dictionary.count == [1, 1, 5, 1, 3, 1, 1, 1]


def test_an_unknown_role_in_a_file_is_an_error_that_names_the_line(tmp_path):
    (tmp_path / "dict.txt").write_text("a 5\nb 6 #special:pda\n")
    with pytest.raises(DictionaryFileError, match="line 2: unknown role in '#special:pda'; roles are bos, pad,"):
        Dictionary.load(tmp_path / "dict.txt")
