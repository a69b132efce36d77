from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.text.pair_batch import collate

PAD, EOS = 1, 2
SENTENCE = st.lists(st.integers(4, 50), max_size=9).map(lambda words: [*words, EOS])


def samples_of(pairs, alignments=None):
    samples = []
    for number, (source, target) in enumerate(pairs):
        sample = {"id": number, "source": np.array(source), "target": None if target is None else np.array(target)}
        samples.append(
            sample if alignments is None else {**sample, "alignment": np.array(alignments[number], np.int32)}
        )
    return samples


def padded(rows, left):
    width = max(map(len, rows))
    return [[PAD] * (width - len(row)) + row if left else row + [PAD] * (width - len(row)) for row in rows]


@given(st.lists(st.tuples(SENTENCE, SENTENCE), min_size=1, max_size=30), st.booleans(), st.booleans(), st.booleans())
@settings(max_examples=100, deadline=None)
def test_a_batch_equals_a_plain_loop(pairs, left_source, left_target, feeding):
    batch = collate(samples_of(pairs), PAD, EOS, left_source, left_target, feeding, return_tensors="np")
    order = sorted(range(len(pairs)), key=lambda row: -len(pairs[row][0]))
    sources, targets = [pairs[row][0] for row in order], [pairs[row][1] for row in order]
    assert batch["id"].tolist() == order
    assert (batch["nsentences"], batch["ntokens"]) == (len(pairs), sum(map(len, targets)))
    assert batch["net_input"]["src_tokens"].tolist() == padded(sources, left_source)
    assert batch["net_input"]["src_lengths"].tolist() == [len(source) for source in sources]
    assert batch["target"].tolist() == padded(targets, left_target)
    if feeding:
        shifted = [[EOS, *target[:-1]] for target in targets]
        assert batch["net_input"]["prev_output_tokens"].tolist() == padded(shifted, left_target)
    else:
        assert "prev_output_tokens" not in batch["net_input"]


def test_torch_and_numpy_batches_are_equal():
    torch = pytest.importorskip("torch")
    samples = samples_of([([5, 6, 2], [7, 2]), ([5, 2], [7, 8, 2])], [[0, 0], [0, 1]])
    arrays, tensors = collate(samples, PAD, EOS, return_tensors="np"), collate(samples, PAD, EOS)
    assert tensors["net_input"].keys() == arrays["net_input"].keys()
    flat = [(key, tensors[key], arrays[key]) for key in ("id", "target", "alignments", "align_weights")]
    flat += [(key, tensors["net_input"][key], arrays["net_input"][key]) for key in arrays["net_input"]]
    for key, tensor, array in flat:
        assert isinstance(tensor, torch.Tensor), key
        assert tensor.tolist() == array.tolist(), key
    assert tensors["id"].dtype == tensors["target"].dtype == torch.int64
    assert tensors["align_weights"].dtype == torch.float32


def test_rows_that_are_filled_up_already_count_and_align_without_their_padding():
    samples = samples_of([([5, 6, 2], [7, 8, 2]), ([5, 2], [7, 2])], [[0, 0, 1, 1], [0, 0]])
    expected = collate(samples, PAD, EOS, return_tensors="np")
    samples[0]["source"], samples[1]["source"] = np.array([5, 6, 2]), np.array([PAD, 5, 2])
    samples[0]["target"], samples[1]["target"] = np.array([7, 8, 2]), np.array([7, 2, PAD])
    batch = collate(samples, PAD, EOS, return_tensors="np")
    for key in ("ntokens", "target", "alignments", "align_weights"):
        assert np.array_equal(batch[key], expected[key]), key
    for key in ("src_tokens", "src_lengths"):
        assert np.array_equal(batch["net_input"][key], expected["net_input"][key]), key


def test_constraints_are_filled_up_with_zeros_in_the_order_of_the_rows():
    samples = samples_of([([5, 2], [7, 2]), ([5, 6, 2], [7, 2])])
    samples[0]["constraints"], samples[1]["constraints"] = np.array([2, 7, 0, 8, 0]), np.array([0])
    batch = collate(samples, PAD, EOS, return_tensors="np")
    assert batch["id"].tolist() == [1, 0]
    assert batch["constraints"].tolist() == [[0, 0, 0, 0, 0], [2, 7, 0, 8, 0]]


def test_ties_keep_their_order_however_many_there_are():
    batch = collate(samples_of([([5, 2], [6, 2])] * 40), PAD, EOS, return_tensors="np")
    assert batch["id"].tolist() == list(range(40))


def test_alignments_count_padded_source_positions_and_flat_target_positions():
    pairs = [([5, 6, 2], [7, 8, 9, 2]), ([5, 6, 7, 8, 2], [7, 2])]
    alignments = [[0, 0, 1, 1, 1, 2], [0, 0, 3, 0]]
    batch = collate(samples_of(pairs, alignments), PAD, EOS, return_tensors="np")
    assert batch["alignments"].tolist() == [[0, 0], [3, 0], [2, 4], [3, 5], [3, 6]]
    assert batch["align_weights"].tolist() == [0.5, 0.5, 1, 1, 1]
    right_left = collate(samples_of(pairs, alignments), PAD, EOS, False, True, return_tensors="np")
    assert right_left["alignments"].tolist() == [[0, 2], [3, 2], [0, 4], [1, 5], [1, 6]]


def test_an_alignment_past_its_sentence_is_left_out_with_a_warning_and_an_empty_one_without(caplog):
    pairs = [([5, 6, 2], [7, 2]), ([5, 2], [7, 2]), ([5, 2], [7, 2])]
    batch = collate(samples_of(pairs, [[0, 0], [1, 0], []]), PAD, EOS, return_tensors="np")
    assert batch["alignments"].tolist() == [[0, 0]]
    assert [record.getMessage() for record in caplog.records] == [
        "sample 1: its alignment goes up to (1, 0), past its source and target of (2, 2) tokens; it is left out"
    ]
    assert "alignments" not in collate(samples_of(pairs[:1], [[]]), PAD, EOS)


def test_without_targets_source_tokens_are_counted():
    batch = collate(samples_of([([5, 2], None), ([5, 6, 2], None)]), PAD, EOS, return_tensors="np")
    assert (batch["ntokens"], batch["target"]) == (5, None)
    assert set(batch["net_input"]) == {"src_tokens", "src_lengths"}


def test_padding_that_a_source_brings_along_is_not_counted_in_its_length():
    batch = collate(samples_of([([1, 1, 5, 2], None), ([4, 5, 2], None)]), PAD, EOS, return_tensors="np")
    assert batch["net_input"]["src_lengths"].tolist() == [3, 2]
    assert batch["id"].tolist() == [1, 0]


def test_widths_can_be_set():
    batch = collate(
        samples_of([([5, 2], [6, 2])]), PAD, EOS, pad_to_length={"source": 5}, pad_to_multiple=4, return_tensors="np"
    )
    assert (batch["net_input"]["src_tokens"].shape, batch["target"].shape) == ((1, 8), (1, 4))


def test_small_types_become_int64():
    sample = {"id": 0, "source": np.array([5, 2], np.uint16), "target": np.array([6, 2], np.int32)}
    batch = collate([sample], PAD, EOS, return_tensors="np")
    assert {batch["target"].dtype, batch["net_input"]["src_tokens"].dtype} == {np.dtype(np.int64)}


def test_no_samples_are_an_empty_batch():
    assert collate([], PAD, EOS) == {}
