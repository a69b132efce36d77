from __future__ import annotations

import numpy as np
import pytest

from raydata_ext.text.wrappers.changed_tokens import (
    OffsetTokensDataset,
    PrependDataset,
    ReplaceDataset,
    RollDataset,
)
from raydata_ext.text.wrappers.columns import ListDataset


def frozen(*rows):
    rows = [np.array(row) for row in rows]
    for row in rows:
        row.flags.writeable = False
    return rows


def tokens(*rows):
    return ListDataset(frozen(*rows), [len(row) for row in rows])


def test_offset_is_added_to_each_token():
    dataset = OffsetTokensDataset(ListDataset([np.array([250, 3], np.uint8)], [2]), 10)
    assert (dataset[0].tolist(), dataset.size(0)) == ([260, 13], 2)


@pytest.mark.parametrize("shifts", [-5, -1, 0, 1, 2, 7])
def test_items_are_turned_round_as_by_torch(shifts):
    torch = pytest.importorskip("torch")
    assert RollDataset(tokens([1, 2, 3]), shifts)[0].tolist() == torch.roll(torch.tensor([1, 2, 3]), shifts).tolist()


def test_tokens_are_replaced_past_an_offset_and_the_child_stays():
    child = tokens([5, 6, 5, 5])
    assert ReplaceDataset(child, {5: 9}, [1])[0].tolist() == [5, 6, 9, 9]
    assert ReplaceDataset(child, {5: 9}, [-1])[0].tolist() == [9, 6, 9, 5]
    assert ReplaceDataset(child, {5: 6, 6: 7}, [0])[0].tolist() == [7, 7, 7, 7]
    assert child[0].tolist() == [5, 6, 5, 5]


def test_each_part_of_a_tuple_has_its_offset_and_further_parts_stay():
    child = ListDataset([tuple(frozen([5, 5], [5, 5], [5]))])
    item = ReplaceDataset(child, {5: 9}, [1, 0])[0]
    assert [part.tolist() for part in item] == [[5, 9], [9, 9], [5]]


def test_replacing_with_nothing_or_parts_that_are_not_there_is_an_error():
    with pytest.raises(ValueError, match="replace_map is empty"):
        ReplaceDataset(tokens([5]), {}, [0])
    with pytest.raises(ValueError, match="2 offsets, but item 0 has 1 parts"):
        ReplaceDataset(tokens([5]), {5: 6}, [0, 0])[0]


def test_the_first_token_is_replaced_by_one_that_depends_on_the_row():
    child = tokens([0, 5], [0, 6])
    dataset = PrependDataset(child, lambda dataset, row: 100 + row + len(dataset), ensure_first_token_is=0)
    assert [dataset[row].tolist() for row in range(2)] == [[102, 5], [103, 6]]
    assert child[0].tolist() == [0, 5]
    pairs = ListDataset([(np.array([0, 5]), "rest")])
    first, rest = PrependDataset(pairs, lambda *_: 7)[0]
    assert (first.tolist(), rest) == ([7, 5], "rest")


def test_another_first_token_is_an_error_that_names_row_and_token():
    with pytest.raises(ValueError, match="first token of item 1 is 4; it must be 0"):
        PrependDataset(tokens([0], [4]), lambda *_: 7, 0)[1]
    with pytest.raises(ValueError, match="first token of item 0 is none"):
        PrependDataset(tokens([]), lambda *_: 7)[0]
