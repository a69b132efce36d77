from __future__ import annotations

import numpy as np
import pytest

from raydata_ext.text.dictionary import Dictionary
from raydata_ext.text.wrappers.columns import ListDataset, NumelDataset
from raydata_ext.text.wrappers.mask_tokens_dataset import MaskTokensDataset
from raydata_ext.text.wrappers.nested_dictionary_dataset import NestedDictionaryDataset
from raydata_ext.text.wrappers.pad_dataset import RightPadDataset

PAD = 1


def vocabulary():
    dictionary = Dictionary()
    for number in range(95):
        dictionary.add_symbol(f"w{number}", number + 1)
    dictionary.add_symbol("<mask>")
    return dictionary


VOCAB = vocabulary()
MASK = VOCAB.index("<mask>")
ROWS = [np.random.default_rng(number).integers(4, 99, 30 + number) for number in range(12)]
CHILD = ListDataset(ROWS, [len(row) for row in ROWS])


def masks(**options):
    return MaskTokensDataset(CHILD, VOCAB, PAD, MASK, **options)


def by_the_global_generator(item, seed, epoch, index, target, weights, *, kept=0.1, randomised=0.1, word_starts=None):
    """What fairseq does with `np.random`, step by step."""
    np.random.seed(int(hash((seed, epoch, index)) % 1e6))  # noqa: NPY002 - it is the reference
    starts = np.flatnonzero(word_starts[item]) if word_starts is not None else np.arange(len(item))
    lengths = np.diff(np.append(starts, len(item)))
    chosen = np.full(len(starts), False)
    count = int(0.15 * len(starts) + np.random.rand())  # noqa: NPY002
    chosen[np.random.choice(len(starts), count, replace=False)] = True  # noqa: NPY002
    if target:
        expanded = np.repeat(chosen, lengths)
        return np.where(expanded, item, PAD)
    changed = chosen & (np.random.rand(len(starts)) < kept + randomised)  # noqa: NPY002
    unmask, randoms = changed, np.full(len(starts), False)
    if kept == 0:
        unmask, randoms = randoms, changed
    elif randomised:
        decision = np.random.rand(len(starts)) < kept / (kept + randomised)  # noqa: NPY002
        unmask, randoms = changed & decision, changed & ~decision
    masked, randoms = np.repeat(chosen ^ unmask, lengths), np.repeat(randoms, lengths)
    result = np.where(masked, MASK, item)
    if randoms.any():
        result[randoms] = np.random.choice(len(VOCAB), randoms.sum(), p=weights)  # noqa: NPY002
    return result


def weights_of(by_frequency):
    weights = np.array(VOCAB.count, np.float64) if by_frequency else np.ones(len(VOCAB))
    weights[:4] = 0
    return weights / weights.sum()


@pytest.mark.parametrize("target", [False, True])
@pytest.mark.parametrize("by_frequency", [False, True])
@pytest.mark.parametrize(("kept", "randomised"), [(0.1, 0.1), (0.5, 0.0), (0.0, 0.5)])
def test_items_are_those_of_fairseq(target, by_frequency, kept, randomised):
    dataset = masks(
        return_masked_tokens=target,
        seed=7,
        freq_weighted_replacement=by_frequency,
        leave_unmasked_prob=kept,
        random_token_prob=randomised,
    )
    weights = weights_of(by_frequency)
    for epoch in (1, 2):
        dataset.set_epoch(epoch)
        for row in range(len(ROWS)):
            expected = by_the_global_generator(
                ROWS[row], 7, epoch, row, target, weights, kept=kept, randomised=randomised
            )
            assert dataset[row].tolist() == expected.tolist()
        assert [item.tolist() for item in dataset.__getitems__([3, 0])] == [dataset[3].tolist(), dataset[0].tolist()]


@pytest.mark.parametrize("target", [False, True])
def test_whole_words_are_those_of_fairseq(target):
    word_starts = np.arange(len(VOCAB)) % 3 == 0
    items = [np.append([6], row) for row in ROWS]
    dataset = MaskTokensDataset(
        items, VOCAB, PAD, MASK, return_masked_tokens=target, seed=3, mask_whole_words=word_starts.astype(np.uint8)
    )
    for row, item in enumerate(items):
        expected = by_the_global_generator(item, 3, 0, row, target, weights_of(False), word_starts=word_starts)
        assert dataset[row].tolist() == expected.tolist()


@pytest.mark.parametrize("compat", [True, False])
def test_source_and_target_go_together(compat):
    source, target = MaskTokensDataset.apply_mask(CHILD, VOCAB, PAD, MASK, seed=5, compat=compat)
    for row, item in enumerate(ROWS):
        chosen = target[row] != PAD
        assert (target[row][chosen] == item[chosen]).all()
        assert (source[row][~chosen] == item[~chosen]).all()
        assert abs(chosen.sum() - 0.15 * len(item)) <= 1
    assert source.sizes.tolist() == target.sizes.tolist() == CHILD.sizes.tolist()


@pytest.mark.parametrize("compat", [True, False])
def test_masks_change_with_the_epoch_even_in_a_small_set_and_come_back(compat):
    source, _ = MaskTokensDataset.apply_mask(CHILD, VOCAB, PAD, MASK, compat=compat)
    seen = []
    for epoch in (1, 2, 1):
        source.set_epoch(epoch)
        seen.append([source[row].tolist() for row in range(3)])
    assert seen[0] != seen[1]
    assert seen[0] == seen[2]


def test_a_batch_and_single_items_are_masked_alike():
    dataset = masks(compat=False)
    rows = [5, 0, -1, 5]
    assert [item.tolist() for item in dataset.__getitems__(rows)] == [dataset[row].tolist() for row in rows]
    assert dataset.__getitems__([]) == []


@pytest.mark.parametrize("compat", [True, False])
def test_a_batch_for_a_masked_language_model_is_made(compat):
    source, target = MaskTokensDataset.apply_mask(CHILD, VOCAB, PAD, MASK, compat=compat)
    dataset = NestedDictionaryDataset(
        {
            "net_input": {"src_tokens": RightPadDataset(source, PAD), "src_lengths": NumelDataset(source)},
            "target": RightPadDataset(target, PAD),
            "ntokens": NumelDataset(source, reduce=True),
        },
        sizes=[source.sizes],
    )
    dataset.return_tensors = "np"
    at_once, one_by_one = (
        dataset.collater(samples) for samples in (dataset.__getitems__([2, 0]), [dataset[2], dataset[0]])
    )
    assert at_once["net_input"]["src_tokens"].tolist() == one_by_one["net_input"]["src_tokens"].tolist()
    assert at_once["target"].tolist() == one_by_one["target"].tolist()
    assert at_once["net_input"]["src_lengths"].tolist() == [32, 30]
    assert at_once["ntokens"] == 62


@pytest.mark.parametrize("compat", [True, False])
def test_the_child_is_left_as_it_is_and_empty_items_are_fine(compat):
    item = np.array([5, 6, 7], np.uint16)
    item.flags.writeable = False
    dataset = MaskTokensDataset([item, item[:0]], VOCAB, PAD, MASK, mask_prob=1.0, random_token_prob=0.9, compat=compat)
    assert len(dataset[0]) == 3
    assert dataset[1].tolist() == []
    assert item.tolist() == [5, 6, 7]


@pytest.mark.parametrize("compat", [True, False])
def test_an_item_with_the_mask_is_an_error_that_names_it(compat):
    dataset = MaskTokensDataset([ROWS[0], np.array([5, MASK])], VOCAB, PAD, MASK, compat=compat)
    with pytest.raises(ValueError, match=f"item 1 already holds the mask, token {MASK}"):
        dataset.__getitems__([0, 1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mask_prob": 1.5}, "mask_prob is 1.5"),
        ({"leave_unmasked_prob": -0.1}, "leave_unmasked_prob is -0.1"),
        ({"leave_unmasked_prob": 0.6, "random_token_prob": 0.6}, "is 1.2"),
    ],
)
def test_shares_that_are_none_are_errors(options, message):
    with pytest.raises(ValueError, match=message):
        masks(**options)
