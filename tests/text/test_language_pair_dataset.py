from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.text.dictionary import Dictionary
from raydata_ext.text.language_pair_dataset import LanguagePairDataset


def vocabulary(size=40):
    dictionary = Dictionary()
    for number in range(size):
        dictionary.add_symbol(f"w{number}")
    return dictionary


def arrays(rows):
    return [np.array(row) for row in rows]


def pairs(sources, targets=None, **options):
    dictionary = vocabulary()
    sizes = [len(row) for row in sources]
    if targets is None:
        return LanguagePairDataset(arrays(sources), sizes, dictionary, **options)
    target_sizes = [len(row) for row in targets]
    return LanguagePairDataset(arrays(sources), sizes, dictionary, arrays(targets), target_sizes, dictionary, **options)


def test_items_hold_id_source_and_target():
    item = pairs([[5, 6, 2]], [[7, 2]])[-1]
    assert {key: np.asarray(value).tolist() for key, value in item.items()} == {
        "id": 0,
        "source": [5, 6, 2],
        "target": [7, 2],
    }
    assert pairs([[5, 2]])[0]["target"] is None


@pytest.mark.parametrize(
    ("flags", "source", "target", "expected"),
    [
        ({"append_eos_to_target": True}, [5, 2], [7], ([5, 2], [7, 2])),
        ({"append_eos_to_target": True}, [5, 2], [7, 2], ([5, 2], [7, 2])),
        ({"remove_eos_from_source": True}, [5, 2], [7, 2], ([5], [7, 2])),
        ({"remove_eos_from_source": True}, [5, 6], [7, 2], ([5, 6], [7, 2])),
        ({"append_bos": True}, [5, 2], [7, 2], ([0, 5, 2], [0, 7, 2])),
        ({"append_bos": True}, [0, 5, 2], [0, 7, 2], ([0, 5, 2], [0, 7, 2])),
        ({"append_bos": True, "append_eos_to_target": True}, [5, 2], [7], ([0, 5, 2], [0, 7, 2])),
        ({"append_bos": True, "remove_eos_from_source": True}, [5, 2], [7, 2], ([0, 5], [0, 7, 2])),
    ],
)
def test_symbols_at_the_ends_are_added_and_removed_once(flags, source, target, expected):
    dataset = pairs([source], [target], **flags)
    item = dataset[0]
    assert (item["source"].tolist(), item["target"].tolist()) == expected
    assert (dataset.src[0].tolist(), dataset.tgt[0].tolist()) == (source, target)


def test_a_batch_is_sorted_padded_and_fed_as_asked():
    dataset = pairs([[5, 2], [5, 6, 2]], [[7, 8, 2], [9, 2]])
    batch = dataset.collater([dataset[0], dataset[1]], return_tensors="np")
    assert batch["id"].tolist() == [1, 0]
    assert batch["net_input"]["src_tokens"].tolist() == [[5, 6, 2], [1, 5, 2]]
    assert batch["net_input"]["prev_output_tokens"].tolist() == [[2, 9, 1], [2, 7, 8]]
    assert batch["target"].tolist() == [[9, 2, 1], [7, 8, 2]]
    assert dataset.collater([]) == {}


def test_languages_widths_and_another_first_symbol_go_into_batches():
    dataset = pairs([[5, 2]], [[7, 2]], src_lang_id=3, tgt_lang_id=4, pad_to_multiple=8, eos=9)
    batch = dataset.collater([dataset[0]], return_tensors="np")
    assert (batch["net_input"]["src_lang_id"].tolist(), batch["tgt_lang_id"].tolist()) == ([[3]], [[4]])
    assert batch["target"].shape == (1, 8)
    assert batch["net_input"]["prev_output_tokens"][0, 0] == 9


def test_widths_can_be_asked_for_with_the_batch():
    dataset = pairs([[5, 6, 2]], [[7, 2]])
    batch = dataset.collater([dataset[0]], {"source": 5, "target": 3}, return_tensors="np")
    assert batch["net_input"]["src_tokens"].tolist() == [[1, 1, 5, 6, 2]]
    assert batch["target"].tolist() == [[7, 2, 1]]
    assert batch["net_input"]["prev_output_tokens"].tolist() == [[2, 7, 1]]


def test_in_buckets_rows_are_filled_up_to_few_lengths_which_are_the_shapes_of_batches():
    sources = [[5] * length + [2] for length in (1, 2, 3, 6, 9)]
    targets = [[7] * length + [2] for length in (4, 1, 2, 6, 8)]
    dataset = pairs(sources, targets, num_buckets=2, shuffle=False, left_pad_target=True)
    assert dataset.sizes.tolist() == [[4, 5], [4, 5], [4, 5], [10, 9], [10, 9]]
    assert dataset[0]["source"].tolist() == [1, 1, 5, 2]
    assert dataset[1]["target"].tolist() == [1, 1, 1, 7, 2]
    assert dataset.get_batch_shapes() == [(None, 5), (None, 10)]
    batches = dataset.batch_by_size(dataset.ordered_indices(), max_tokens=20)
    assert [batch.tolist() for batch in batches] == [[0, 1, 2], [3, 4]]
    batch = dataset.collater([dataset[row] for row in batches[0]], return_tensors="np")
    assert batch["net_input"]["src_tokens"].shape == (3, 4)
    assert batch["net_input"]["src_lengths"].tolist() == [4, 3, 2]
    assert batch["ntokens"] == 5 + 2 + 3
    assert batch["target"].tolist() == [[1, 1, 7, 7, 2], [1, 1, 1, 7, 2], [7, 7, 7, 7, 2]]
    assert batch["net_input"]["prev_output_tokens"].tolist() == [[2, 1, 1, 7, 7], [2, 1, 1, 1, 7], [2, 7, 7, 7, 7]]


@given(
    rows=st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), max_size=40),
    num_buckets=st.integers(1, 5),
    max_tokens=st.integers(31, 200),
    append_bos=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_in_buckets_batches_have_few_widths_and_the_tokens_that_they_have_without(
    rows, num_buckets, max_tokens, append_bos
):
    sources, targets = [[5] * source + [2] for source, _ in rows], [[7] * target + [2] for _, target in rows]
    bucketed = pairs(sources, targets, num_buckets=num_buckets)
    plain = pairs(sources, targets)
    batches = bucketed.batch_by_size(bucketed.ordered_indices(), max_tokens=max_tokens)
    assert sorted(row for batch in batches for row in batch.tolist()) == list(range(len(rows)))
    widths = set()
    for batch in batches:
        found = bucketed.collater(bucketed.__getitems__(batch.tolist()), return_tensors="np")
        expected = plain.collater(plain.__getitems__(batch.tolist()), return_tensors="np")
        assert max(found["net_input"]["src_tokens"].shape[1], found["target"].shape[1]) * len(batch) <= max_tokens
        widths.add(found["net_input"]["src_tokens"].shape[1])
        assert found["id"].tolist() == expected["id"].tolist()
        assert found["ntokens"] == expected["ntokens"]
        for row, tokens in zip(found["target"], expected["target"], strict=True):
            assert row[row != 1].tolist() == tokens[tokens != 1].tolist()
    assert len(widths) <= num_buckets
    longer = pairs(sources, targets, num_buckets=num_buckets, append_bos=append_bos)
    assert [longer[row]["source"][longer[row]["source"] != 1].tolist() for row in range(len(rows))] == [
        [0] * append_bos + source for source in sources
    ]


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), max_size=60), st.booleans())
@settings(max_examples=60, deadline=None)
def test_the_order_is_fairseqs_permutation_then_two_stable_sorts(sizes, shuffle):
    dataset = pairs([[5] * source for source, _ in sizes], [[6] * target for _, target in sizes], shuffle=shuffle)
    np.random.seed(dataset.seed)  # noqa: NPY002 - it is the reference
    order = np.random.permutation(len(sizes)) if shuffle else np.arange(len(sizes))  # noqa: NPY002
    assert dataset.ordered_indices().tolist() == sorted(order.tolist(), key=lambda row: sizes[row])


def test_sizes_are_source_and_target_and_the_longer_counts():
    dataset = pairs([[5, 2], [5, 6, 7, 2]], [[7, 8, 2], [2]])
    assert (dataset.size(0), dataset.size(1)) == ((2, 3), (4, 1))
    assert (dataset.num_tokens(0), dataset.num_tokens_vec([1, 0]).tolist()) == (3, [4, 3])
    assert dataset.sizes.tolist() == [[2, 3], [4, 1]]
    assert pairs([[5, 2]]).size(0) == (2, 0)
    assert pairs([[5, 2]]).num_tokens(0) == 2


def test_rows_too_long_on_one_side_are_found():
    dataset = pairs([[5, 2], [5, 6, 7, 2]], [[7, 8, 2], [2]])
    kept, ignored = dataset.filter_indices_by_size(np.arange(2), (4, 2))
    assert (kept.tolist(), ignored) == ([1], [0])


def test_sizes_of_the_sides_are_taken_where_none_are_given():
    side = pairs([[5, 2], [5, 6, 2]])

    class Tokens(list):
        sizes = (2, 3)

    dataset = LanguagePairDataset(Tokens(side.src), None, vocabulary())
    assert dataset.src_sizes.tolist() == [2, 3]
    assert dataset.tgt_sizes is None


def test_alignments_come_with_items_and_are_put_into_batches():
    dataset = pairs([[5, 6, 2]], [[7, 8, 2]], align_dataset=[np.array([0, 1], np.int32)])
    assert dataset[0]["alignment"].tolist() == [0, 1]
    assert dataset.collater([dataset[0]], return_tensors="np")["alignments"].tolist() == [[0, 1]]


def test_what_does_not_fit_together_is_an_error_that_says_what():
    with pytest.raises(ValueError, match="2 sources, but the target side has 1 rows"):
        pairs([[5, 2], [6, 2]], [[7, 2]])
    with pytest.raises(ValueError, match="alignments need a target side"):
        pairs([[5, 2]], align_dataset=[[0, 0]])
    other = Dictionary(extra_special_symbols=None, add_special_symbols=False)
    for symbol in ("<s>", "</s>", "<pad>", "<unk>"):
        other.add_symbol(symbol)
    with pytest.raises(ValueError, match="pad is 1 in the source dictionary and 2 in that of the target"):
        LanguagePairDataset([], [], vocabulary(), [], [], other)


def test_no_rows_are_fine():
    dataset = pairs([], [])
    assert (len(dataset), dataset.ordered_indices().tolist(), dataset.sizes.shape) == (0, [], (0, 2))
    with pytest.raises(IndexError, match="LanguagePairDataset: index 0"):
        dataset[0]


def test_children_are_told_of_epochs_and_prefetching():
    told = []

    class Child(list):
        supports_prefetch = True

        def set_epoch(self, epoch):
            told.append(("epoch", epoch))

        def prefetch(self, indices):
            told.append(("prefetch", list(indices)))

    dataset = LanguagePairDataset(Child([np.array([5, 2])]), [2], vocabulary())
    dataset.set_epoch(3)
    assert dataset.supports_prefetch
    dataset.prefetch([0])
    assert told == [("epoch", 3), ("prefetch", [0])]


def test_it_travels_to_another_process():
    copy = pickle.loads(pickle.dumps(pairs([[5, 2]], [[7, 2]])))
    assert copy[0]["target"].tolist() == [7, 2]


def test_a_row_asked_for_from_the_end_among_others_has_its_own_number():
    dataset = pairs([[5, 2], [6, 2]], [[7, 2], [8, 2]])
    assert [sample["id"] for sample in dataset.__getitems__([-1, -2])] == [1, 0]


@pytest.mark.parametrize("name", ["align_dataset", "constraints"])
def test_what_belongs_to_rows_must_have_as_many(name):
    rows = [np.array([0, 0])] * 3
    with pytest.raises(ValueError, match=f"2 sources, but {name} has 3 rows"):
        pairs([[5, 2], [6, 2]], [[7, 2], [8, 2]], **{name: rows})
