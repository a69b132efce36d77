from __future__ import annotations

from argparse import Namespace

import numpy as np
import pytest

from raydata_ext.text.dictionary import Dictionary
from raydata_ext.text.wrappers.columns import ListDataset
from raydata_ext.text.wrappers.denoising_dataset import DenoisingDataset, DenoisingOptions

VOCAB = Dictionary()
for number in range(50):
    VOCAB.add_symbol(f"w{number}")
MASK = VOCAB.add_symbol("<mask>")
ROWS = [np.array([0, *range(4, 4 + length), 2]) for length in (9, 3, 6)]
OPTIONS = DenoisingOptions(
    mask=0.3,
    mask_random=0.1,
    insert=0.1,
    rotate=0.5,
    permute_sentences=1.0,
    mask_length="span-poisson",
    replace_length=1,
)


def denoising(rows=ROWS, options=OPTIONS, shuffle=False, **more):
    child = ListDataset(rows, [len(row) for row in rows])
    return DenoisingDataset(child, None, VOCAB, MASK, None, shuffle, 7, options, **more)


def test_the_target_is_the_text_and_the_source_is_noisy_by_seed_epoch_and_row():
    dataset = denoising()
    first = [dataset[row] for row in range(3)]
    assert [item["target"].tolist() for item in first] == [row.tolist() for row in ROWS]
    assert [item["id"] for item in first] == [0, 1, 2]
    assert [denoising()[row]["source"].tolist() for row in (2, 0)] == [
        first[2]["source"].tolist(),
        first[0]["source"].tolist(),
    ]
    dataset.set_epoch(1)
    assert any(dataset[row]["source"].tolist() != first[row]["source"].tolist() for row in range(3))
    assert all((item["source"][0], item["source"][-1]) == (0, 2) for item in first)


def test_without_noise_source_and_target_are_equal():
    item = denoising(options=DenoisingOptions())[0]
    assert item["source"].tolist() == item["target"].tolist()


def test_a_batch_counts_sentences_and_feeds_the_last_token_first():
    dataset = denoising(options=DenoisingOptions())
    batch = dataset.collater([dataset[1], dataset[0]], return_tensors="np")
    assert (batch["nsentences"], batch["ntokens"], batch["id"].tolist()) == (2, 16, [0, 1])
    assert batch["net_input"]["prev_output_tokens"][1].tolist() == [2, 0, 4, 5, 6, 1, 1, 1, 1, 1, 1]
    assert dataset.collater([]) == {}


def test_options_of_a_command_line_are_taken():
    args = Namespace(mask=0.3, replace_length=0, mask_length="word", unrelated=1, bpe="gpt2")
    dataset = denoising(options=args)
    assert dataset.options == DenoisingOptions(mask=0.3, replace_length=0, bpe="gpt2")
    assert dataset.full_stop_index == VOCAB.index("13")


def test_items_can_be_transformed_further():
    dataset = denoising(
        options=DenoisingOptions(), item_transform_func=lambda source, target: (source[1:], target[:-1])
    )
    assert (dataset[1]["source"].tolist(), dataset[1]["target"].tolist()) == ([4, 5, 6, 2], [0, 4, 5, 6])


def test_rows_come_from_short_to_long():
    assert denoising().ordered_indices().tolist() == [1, 2, 0]
    assert denoising(shuffle=True).ordered_indices().tolist() == [1, 2, 0]


def test_a_text_that_does_not_begin_and_end_as_it_must_is_an_error_that_names_it():
    with pytest.raises(ValueError, match=r"item 1 of 2 tokens must begin with 0 and end with 2.*\[4, 2\]"):
        denoising(rows=[ROWS[0], np.array([4, 2])])[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mask": 2.0}, "mask is 2.0"),
        ({"insert": -1.0}, "insert is -1.0"),
        ({"mask_length": "letter"}, "mask_length=letter"),
        ({"replace_length": 2}, "replace_length=2"),
        ({"mask_length": "subword", "replace_length": -1}, "replace_length=-1"),
    ],
)
def test_options_that_are_none_are_errors(options, message):
    with pytest.raises(ValueError, match=message):
        DenoisingOptions(**options)
