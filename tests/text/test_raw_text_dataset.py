from __future__ import annotations

import numpy as np
import pytest

from raydata_ext.errors import ReadError
from raydata_ext.text.dictionary import Dictionary
from raydata_ext.text.raw_text_dataset import IndexedRawTextDataset


@pytest.fixture
def dictionary():
    dictionary = Dictionary()
    for word in ("the", "cat", "sat"):
        dictionary.add_symbol(word)
    return dictionary


def test_lines_become_tokens_and_unknown_words_stay_unknown(tmp_path, dictionary):
    path = tmp_path / "text"
    path.write_text("the cat\n\nthe dog sat\nsat")
    dataset = IndexedRawTextDataset(path, dictionary)
    assert [item.tolist() for item in dataset] == [[4, 5, 2], [2], [4, 3, 6, 2], [6, 2]]
    assert dataset.sizes.tolist() == [3, 1, 4, 2]
    assert (dataset.size(2), dataset.num_tokens(-1), len(dictionary)) == (4, 2, 7)
    assert dataset.get_original_text(2) == "the dog sat"
    assert dataset[0].dtype == np.int64


def test_words_can_be_turned_round_and_the_end_left_out(tmp_path, dictionary):
    path = tmp_path / "text"
    path.write_text("the cat sat\n")
    assert IndexedRawTextDataset(path, dictionary, append_eos=False, reverse_order=True)[0].tolist() == [6, 5, 4]


def test_only_newlines_end_lines(tmp_path, dictionary):
    path = tmp_path / "text"
    path.write_bytes("the\rcat\x0bsat\u2028the\r\ncat\n".encode())
    dataset = IndexedRawTextDataset(path, dictionary)
    assert [item.tolist() for item in dataset] == [[4, 5, 6, 4, 2], [5, 2]]


def test_an_empty_file_has_no_rows(tmp_path, dictionary):
    path = tmp_path / "text"
    path.write_bytes(b"")
    dataset = IndexedRawTextDataset(path, dictionary)
    assert (len(dataset), list(dataset)) == (0, [])
    assert IndexedRawTextDataset.exists(path)
    assert not IndexedRawTextDataset.exists(tmp_path / "other")


def test_bytes_that_are_no_text_are_an_error_that_names_the_line(tmp_path, dictionary):
    path = tmp_path / "text"
    path.write_bytes(b"the\ncat \xff\n")
    with pytest.raises(ReadError, match="line 2: not UTF-8 at byte 4"):
        IndexedRawTextDataset(path, dictionary)


def test_a_byte_order_mark_is_no_part_of_the_first_word(tmp_path):
    dictionary = Dictionary()
    dictionary.add_symbol("a")
    (tmp_path / "text").write_bytes(b"\xef\xbb\xbfa\r\na\r\n")
    dataset = IndexedRawTextDataset(tmp_path / "text", dictionary)
    assert [item.tolist() for item in dataset] == [[4, 2], [4, 2]]
