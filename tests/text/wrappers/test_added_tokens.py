from __future__ import annotations

import numpy as np
import pytest

from raydata_ext.text.wrappers.added_tokens import AppendTokenDataset, PrependTokenDataset
from raydata_ext.text.wrappers.columns import ListDataset


def tokens(rows, dtype=np.int64):
    rows = [np.array(row, dtype) for row in rows]
    for row in rows:
        row.flags.writeable = False
    return ListDataset(rows, [len(row) for row in rows])


def test_a_token_is_put_in_front_or_at_the_end_and_counted():
    for dataset, items in (
        (PrependTokenDataset(tokens([[5, 6], []]), 0), [[0, 5, 6], [0]]),
        (AppendTokenDataset(tokens([[5, 6], []]), 2), [[5, 6, 2], [2]]),
    ):
        assert [dataset[row].tolist() for row in range(2)] == items
        assert (dataset.sizes.tolist(), dataset.size(1), dataset.num_tokens(0)) == ([3, 1], 1, 3)


@pytest.mark.parametrize("kind", [PrependTokenDataset, AppendTokenDataset])
def test_no_token_changes_nothing(kind):
    dataset = kind(tokens([[5, 6]]))
    assert (dataset[0].tolist(), dataset.size(0)) == ([5, 6], 2)


def test_a_token_that_the_items_type_cannot_hold_is_right():
    assert PrependTokenDataset(tokens([[5]], np.uint16), 250_001)[0].tolist() == [250_001, 5]
    assert AppendTokenDataset(tokens([[5]], np.uint8), 250_001)[0].tolist() == [5, 250_001]


def test_sizes_of_small_types_do_not_wrap():
    child = ListDataset([None], np.array([65_535], np.uint16))
    assert PrependTokenDataset(child, 0).size(0) == 65_536
