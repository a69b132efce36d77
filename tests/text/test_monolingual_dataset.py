from __future__ import annotations

import numpy as np
import pytest

from raydata_ext.text.dictionary import Dictionary
from raydata_ext.text.monolingual_dataset import MonolingualDataset
from raydata_ext.text.token_block_dataset import TokenBlockDataset
from raydata_ext.text.wrappers.columns import ListDataset


def vocabulary(size):
    dictionary = Dictionary()
    for number in range(size - len(dictionary)):
        dictionary.add_symbol(f"w{number}")
    return dictionary


VOCAB = vocabulary(40)


def blocks(rows, block_size, mode="none", targets=True):
    rows = [np.array(row) for row in rows]
    return TokenBlockDataset(
        ListDataset(rows, [len(row) for row in rows]), None, block_size, 1, 2, mode, include_targets=targets
    )


def monolingual(child, targets, **options):
    options = {"add_eos_for_other_targets": False, "shuffle": False, **options}
    return MonolingualDataset(child, None, VOCAB, options.pop("tgt_vocab", VOCAB), targets=targets, **options)


def test_without_targets_items_are_sentences_and_batches_predict_the_source():
    dataset = MonolingualDataset(
        ListDataset([np.array([5, 6, 2]), np.array([7, 2])]), [3, 2], VOCAB, VOCAB, False, False
    )
    assert dataset[0]["target"] is None
    batch = dataset.collater([dataset[1], dataset[0]], return_tensors="np")
    assert batch["id"].tolist() == [1, 0]
    assert batch["net_input"]["src_tokens"].tolist() == [[7, 2, 1], [5, 6, 2]]
    assert batch["net_input"]["src_lengths"].tolist() == [2, 3]
    assert batch["target"] is batch["net_input"]["src_tokens"]
    assert (batch["nsentences"], batch["ntokens"]) == (2, 5)
    assert dataset.collater([]) == {}


def test_one_target_is_an_array_and_several_a_list_in_the_order_asked_for():
    child = blocks([[5, 6, 7, 2]], 4)
    assert monolingual(child, ["future"])[0]["target"].tolist() == [5, 6, 7, 2]
    item = monolingual(child, ["past", "self", "future"])[0]
    assert [target.tolist() for target in item["target"]] == [[1, 2, 5, 6], [2, 5, 6, 7], [5, 6, 7, 2]]
    batch = monolingual(child, ["past", "self"]).collater([item], return_tensors="np")
    assert [target.tolist() for target in batch["target"]] == [[[1, 2, 5, 6]], [[2, 5, 6, 7]], [[5, 6, 7, 2]]]


def test_an_end_of_sentence_is_added_where_self_or_past_are_wanted():
    item = monolingual(blocks([[5, 6, 7]], 3), ["self", "future", "past"], add_eos_for_other_targets=True)[0]
    assert item["source"].tolist() == [2, 5, 6, 2]
    assert [target.tolist() for target in item["target"]] == [[2, 5, 6, 2], [5, 6, 7, 1], [1, 2, 5, 6]]
    assert monolingual(blocks([[5, 6, 7]], 3), ["future"], add_eos_for_other_targets=True)[0]["source"].tolist() == [
        2,
        5,
        6,
    ]


def test_symbols_that_the_target_vocabulary_lacks_become_unknown_in_targets_alone():
    child = blocks([[14, 15, 16, 17, 18, 19, 2]], 3)
    dataset = monolingual(child, ["future"], tgt_vocab=vocabulary(16))
    assert [dataset[row]["source"].tolist() for row in range(3)] == [[2, 14, 15], [16, 17, 18], [19]]
    assert [dataset[row]["target"].tolist() for row in range(3)] == [[14, 15, 3], [3, 3, 3], [2]]
    own = monolingual(child, ["self"], tgt_vocab=vocabulary(16))[1]
    assert (own["source"].tolist(), own["target"].tolist()) == ([16, 17, 18], [3, 3, 3])


def test_the_beginning_of_sentence_is_counted_in_sizes():
    dataset = monolingual(blocks([[5, 6, 2]], 3), ["future"], add_bos_token=True)
    assert dataset[0]["source"].tolist() == [0, 2, 5, 6]
    assert dataset[0]["target"].tolist() == [0, 5, 6, 2]
    assert (dataset.size(0), dataset.num_tokens(0), dataset.sizes.tolist()) == (4, 4, [4])


@pytest.mark.parametrize("shuffle", [False, True])
def test_the_order_is_that_of_fairseqs_lexsort(shuffle):
    sizes = np.random.default_rng(0).integers(1, 5, 50)
    dataset = MonolingualDataset(ListDataset([None] * 50), sizes, VOCAB, VOCAB, False, shuffle)
    np.random.seed(dataset.seed)  # noqa: NPY002 - it is the reference
    first = np.random.permutation(50) if shuffle else np.arange(50)  # noqa: NPY002
    assert dataset.ordered_indices().tolist() == np.lexsort([first, sizes]).tolist()


def test_batches_can_have_fixed_shapes():
    dataset = MonolingualDataset(
        ListDataset([np.array([5, 2])]), [2], VOCAB, VOCAB, False, False, fixed_pad_length=4, pad_to_bsz=2
    )
    batch = dataset.collater([dataset[0]], return_tensors="np")
    assert batch["net_input"]["src_tokens"].tolist() == [[5, 2, 1, 1], [1, 1, 1, 1]]


def test_unknown_targets_and_sizes_that_do_not_fit_are_errors():
    with pytest.raises(ValueError, match="no target 'next'; targets are self, future, past"):
        monolingual([], ["next"])
    with pytest.raises(ValueError, match="2 sizes for 1 rows"):
        MonolingualDataset([np.array([2])], [1, 2], VOCAB, VOCAB, False, False)
    with pytest.raises(ValueError, match=r"shape \(1, 2\); give one number a row"):
        MonolingualDataset([np.array([2])], [[1, 2]], VOCAB, VOCAB, False, False)


def test_no_targets_at_all_are_like_none():
    assert monolingual([np.array([5, 2])], [])[0]["target"] is None


def test_torch_and_numpy_batches_are_equal():
    torch = pytest.importorskip("torch")
    dataset = monolingual(blocks([[5, 6, 7, 2], [8, 2]], 4), ["self", "past"])
    samples = [dataset[0], dataset[1]]
    arrays, tensors = dataset.collater(samples, return_tensors="np"), dataset.collater(samples)
    assert isinstance(tensors["target"][1], torch.Tensor)
    assert [target.tolist() for target in tensors["target"]] == [target.tolist() for target in arrays["target"]]
    assert tensors["net_input"]["src_tokens"].tolist() == arrays["net_input"]["src_tokens"].tolist()


def test_sizes_of_few_bits_do_not_wrap_where_a_token_is_added():
    child = ListDataset([np.arange(255)], [255])
    dataset = MonolingualDataset(child, np.array([255], np.uint8), VOCAB, add_bos_token=True)
    assert (dataset.size(0), len(dataset[0]["source"])) == (256, 256)
