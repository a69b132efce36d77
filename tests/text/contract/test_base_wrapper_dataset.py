from __future__ import annotations

import numpy as np
import pytest

from raydata_ext.text.contract.base_wrapper_dataset import BaseWrapperDataset
from raydata_ext.text.contract.fairseq_dataset import FairseqDataset


class Child(FairseqDataset):
    """A child that notes what it is told, and answers each question in a way of its own."""

    name = "child"

    def __init__(self):
        self.sizes = [2, 1, 3]
        self.epochs, self.prefetched = [], []

    def __getitem__(self, index):
        return np.full(int(self.sizes[index]), index)

    def __len__(self):
        return 3

    def collate_arrays(self, samples):
        return {"rows": np.concatenate(samples)}

    def ordered_indices(self):
        return np.array([1, 0, 2])

    @property
    def supports_prefetch(self):
        return True

    def prefetch(self, indices):
        self.prefetched.append(list(indices))

    def set_epoch(self, epoch):
        self.epochs.append(epoch)

    def get_batch_shapes(self):
        return [(2, 3)]

    @property
    def can_reuse_epoch_itr_across_epochs(self):
        return False


class OneMore(BaseWrapperDataset):
    def transform(self, item, index):
        return item + index


def test_a_wrapper_is_in_all_things_like_its_child():
    child = Child()
    wrapper = BaseWrapperDataset(BaseWrapperDataset(child))
    assert (len(wrapper), wrapper[1].tolist(), wrapper[-1].tolist()) == (3, [1], [2, 2, 2])
    assert (wrapper.sizes.tolist(), wrapper.size(2), wrapper.num_tokens(0)) == ([2, 1, 3], 3, 2)
    assert wrapper.ordered_indices().tolist() == [1, 0, 2]
    assert wrapper.collater([np.array([5])], return_tensors="np")["rows"].tolist() == [5]
    assert wrapper.get_batch_shapes() == [(2, 3)]
    assert wrapper.attr("name", 0) == "child"
    assert not wrapper.can_reuse_epoch_itr_across_epochs
    assert wrapper.supports_prefetch
    wrapper.prefetch([2, 0])
    wrapper.set_epoch(4)
    assert (child.prefetched, child.epochs) == ([[2, 0]], [4])


def test_transform_is_given_the_number_of_the_row_one_by_one_and_at_once():
    wrapper = OneMore(Child())
    assert [item.tolist() for item in wrapper] == [[0, 0], [2], [4, 4, 4]]
    assert [item.tolist() for item in wrapper.__getitems__([2, -2])] == [[4, 4, 4], [2]]
    with pytest.raises(IndexError, match="OneMore: index 3"):
        wrapper[3]


def test_anything_with_rows_can_be_wrapped():
    wrapper = BaseWrapperDataset([np.array([1, 2]), np.array([3, 4])])
    assert wrapper[1].tolist() == [3, 4]
    assert wrapper.ordered_indices().tolist() == [0, 1]
    assert wrapper.collater([wrapper[0], wrapper[1]], return_tensors="np").tolist() == [[1, 2], [3, 4]]
    assert not wrapper.supports_prefetch
    assert wrapper.get_batch_shapes() is None
    wrapper.set_epoch(3)
    wrapper.prefetch([0])
    with pytest.raises(TypeError, match="list does not know the sizes"):
        wrapper.size(0)


def test_a_child_with_a_list_of_sizes_and_torch_batches_of_its_own_can_be_wrapped():
    torch = pytest.importorskip("torch")

    class Foreign(torch.utils.data.Dataset):
        sizes = (2, 4)

        def __getitem__(self, index):
            return torch.full((self.sizes[index],), index)

        def __len__(self):
            return 2

        def collater(self, samples):
            return {"x": torch.cat(samples)}

    wrapper = BaseWrapperDataset(Foreign())
    assert (wrapper.size(1), wrapper.num_tokens(0)) == (4, 2)
    assert isinstance(wrapper.collater([wrapper[0]])["x"], torch.Tensor)
    assert isinstance(wrapper.collater([wrapper[0]], return_tensors="np")["x"], np.ndarray)


def test_batches_are_of_the_kind_that_the_child_makes_unless_told_otherwise():
    child = Child()
    child.return_tensors = "np"
    wrapper = BaseWrapperDataset(child)
    assert wrapper.return_tensors == "np"
    assert isinstance(wrapper.collater([child[0]])["rows"], np.ndarray)
    wrapper.return_tensors = "pt"
    assert (wrapper.return_tensors, child.return_tensors) == ("pt", "np")


def test_an_overridden_collater_of_a_child_is_used():
    class Own(Child):
        def collater(self, samples):
            return len(samples)

    assert BaseWrapperDataset(Own()).collater([1, 2, 3]) == 3
