from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.text.contract.fairseq_dataset import FairseqDataset


class Rows(FairseqDataset):
    def __init__(self, rows, sizes=None):
        self.rows = rows
        if sizes is not None:
            self.sizes = sizes

    def __getitem__(self, index):
        return self.rows[index]

    def __len__(self):
        return len(self.rows)


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=1, max_size=20))
@settings(max_examples=50, deadline=None)
def test_sizes_size_and_num_tokens_agree(pairs):
    dataset = Rows(list(range(len(pairs))), pairs)
    assert [dataset.size(row) for row in range(len(pairs))] == pairs
    assert [dataset.num_tokens(row) for row in range(len(pairs))] == [max(pair) for pair in pairs]
    assert dataset.num_tokens_vec(np.arange(len(pairs))[::-1]).tolist() == [max(pair) for pair in pairs][::-1]
    assert dataset.sizes.tolist() == [list(pair) for pair in pairs]
    assert dataset.size(-1) == pairs[-1]


def test_rows_outside_are_named():
    with pytest.raises(IndexError, match="Rows: index 2 is out of range for 2 rows"):
        Rows([1, 2], [3, 4]).size(2)


def test_a_dataset_without_sizes_says_so():
    for ask in (lambda rows: rows.sizes, lambda rows: rows.size(0), lambda rows: rows.num_tokens_vec([0])):
        with pytest.raises(TypeError, match="Rows does not know the sizes"):
            ask(Rows([1, 2]))


def test_batches_are_cut_in_the_order_given_within_the_limits():
    dataset = Rows(list(range(4)), [2, 2, 3, 4])
    batches = dataset.batch_by_size(dataset.ordered_indices(), max_tokens=6)
    assert [batch.tolist() for batch in batches] == [[0, 1], [2], [3]]
    with pytest.raises(ValueError, match="3"):
        dataset.batch_by_size([0, 3], max_tokens=3)


def test_batches_by_rows_alone_need_no_sizes():
    batches = Rows(list(range(5))).batch_by_size(np.arange(5), max_sentences=2)
    assert [batch.tolist() for batch in batches] == [[0, 1], [2, 3], [4]]
    unlimited = Rows(list(range(5))).batch_by_size(np.arange(5), max_tokens=-1, max_sentences=4)
    assert [batch.tolist() for batch in unlimited] == [[0, 1, 2, 3], [4]]


def test_sizes_of_other_rows_are_an_error_that_counts_them():
    with pytest.raises(ValueError, match="Rows: 3 sizes for 2 rows"):
        Rows([1, 2], [3, 4, 5])


def test_rows_that_are_too_long_are_parted_from_the_others():
    kept, ignored = Rows(list(range(3)), [(1, 9), (5, 5), (2, 2)]).filter_indices_by_size(np.arange(3), (4, 9))
    assert (kept.tolist(), ignored) == ([0, 2], [1])


def test_batches_are_tensors_or_arrays_of_equal_values():
    torch = pytest.importorskip("torch")
    dataset = Rows([np.array([1, 2]), np.array([3, 4])])
    assert isinstance(dataset.collater([dataset[0]]), torch.Tensor)
    assert isinstance(dataset.collater([dataset[0]], return_tensors="np"), np.ndarray)
    dataset.return_tensors = "np"
    assert dataset.return_tensors == "np"
    assert dataset.collater(dataset.__getitems__([1, 0])).tolist() == [[3, 4], [1, 2]]
    with pytest.raises(ValueError, match="'jax'"):
        dataset.return_tensors = "jax"


def test_the_rest_of_the_contract_has_the_usual_answers():
    dataset = Rows([1, 2])
    assert dataset.ordered_indices().tolist() == [0, 1]
    assert dataset.get_batch_shapes() is None
    assert (dataset.supports_prefetch, dataset.can_reuse_epoch_itr_across_epochs) == (False, True)
    assert dataset.supports_fetch_outside_dataloader
    assert (dataset.attr("rows", 0), dataset.attr("nothing", 0)) == ([1, 2], None)


def test_torchs_data_loader_takes_it_with_its_collater():
    torch = pytest.importorskip("torch")
    dataset = Rows([np.array([1, 2]), np.array([3, 4]), np.array([5, 6])])
    loader = torch.utils.data.DataLoader(dataset, batch_sampler=[[2, 0], [1]], collate_fn=dataset.collater)
    assert [batch.tolist() for batch in loader] == [[[5, 6], [1, 2]], [[3, 4]]]
