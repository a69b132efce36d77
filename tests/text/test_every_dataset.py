"""What holds for every dataset, with no row, with one and with many, whatever it does to its rows."""

from __future__ import annotations

import inspect
import pickle
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext import text
from raydata_ext.table import InMemoryTable
from raydata_ext.text.contract.sizes import longest

PAD, EOS, BOS, MASK, FULL = 1, 2, 0, 60, 61
ROWS = st.lists(st.lists(st.integers(4, 40), max_size=7), max_size=7)


def dictionary():
    vocabulary = text.Dictionary()
    for number in range(4, FULL):
        vocabulary.add_symbol(f"w{number}")
    return vocabulary


VOCABULARY = dictionary()


def leaf(rows):
    return text.ArrowTokenDataset(InMemoryTable(pa.table({"input_ids": pa.array(rows, pa.list_(pa.uint16()))})))


def sentences(rows):
    """Each row begins with bos and ends with eos."""
    return leaf([[BOS, *row, EOS] for row in rows])


def pairs(rows, **options):
    targets = leaf([[*row[::-1], EOS] for row in rows])
    return text.LanguagePairDataset(sentences(rows), None, VOCABULARY, targets, None, VOCABULARY, **options)


def blocks(rows, **options):
    return text.TokenBlockDataset(leaf(rows), None, 5, PAD, EOS, **options)


def monolingual(rows, **options):
    child = blocks(rows, include_targets=True)
    return text.MonolingualDataset(child, None, VOCABULARY, VOCABULARY, targets=["future"], **options)


def nested(rows):
    tokens = leaf(rows)
    return text.NestedDictionaryDataset(
        {
            "id": text.IdDataset(),
            "net_input": {"src_tokens": text.LeftPadDataset(tokens, PAD), "src_lengths": text.NumelDataset(tokens)},
            "both": [text.RightPadDataset(tokens, PAD), None, text.PadDataset(tokens, PAD, False)],
            "nsentences": text.NumSamplesDataset(),
            "label": text.RawLabelDataset(list(range(len(rows)))),
        },
        sizes=[tokens.sizes],
    )


def backtranslation(rows):
    def translate(batch):
        return [[{"tokens": row}] for row in np.asarray(batch["net_input"]["src_tokens"])]

    targets = text.TransformEosDataset(pairs(rows), EOS, remove_eos_from_tgt=True)
    return text.BacktranslationDataset(targets, VOCABULARY, backtranslation_fn=translate)


def denoising(rows):
    options = SimpleNamespace(mask=0.3, insert=0.2, rotate=0.5, permute_sentences=0.5)
    return text.DenoisingDataset(sentences(rows), None, VOCABULARY, MASK, None, True, 1, options)


def masked(rows):
    return text.MaskTokensDataset(leaf(rows), VOCABULARY, PAD, MASK, mask_prob=0.5)


def padded(rows):
    """Their own batch is a matrix."""
    return text.PadDataset(leaf(rows), PAD, left_pad=False)


MAKE = {
    "AppendTokenDataset": lambda rows: text.AppendTokenDataset(padded(rows), EOS),
    "ArrowTokenDataset": leaf,
    "BacktranslationDataset": backtranslation,
    "BucketPadLengthDataset": lambda rows: text.BucketPadLengthDataset(padded(rows), None, 3, PAD, left_pad=True),
    "ColorizeDataset": lambda rows: text.ColorizeDataset(pairs(rows), lambda _, row: row % 2),
    "ConcatDataset": lambda rows: text.ConcatDataset([padded(rows), padded(rows[1:])], [1.5, 2]),
    "ConcatSentencesDataset": lambda rows: text.ConcatSentencesDataset(padded(rows), leaf(rows)),
    "DenoisingDataset": denoising,
    "DictDataset": lambda rows: text.DictDataset({"a": pairs(rows), "b": padded([*rows, [4]])}),
    "LMContextWindowDataset": lambda rows: text.LMContextWindowDataset(monolingual(rows), 5, 3, PAD),
    "LRUCacheDataset": lambda rows: text.LRUCacheDataset(padded(rows)),
    "LanguagePairDataset": pairs,
    "LanguagePairDataset in buckets": lambda rows: pairs(rows, num_buckets=2, constraints=rows),
    "LeftPadDataset": lambda rows: text.LeftPadDataset(leaf(rows), PAD),
    "ListDataset": lambda rows: text.ListDataset(rows, [len(row) for row in rows]),
    "MaskTokensDataset": masked,
    "MonolingualDataset": monolingual,
    "MonolingualDataset with bos": lambda rows: monolingual(rows, add_bos_token=True, shuffle=True),
    "MultiCorpusSampledDataset": lambda rows: text.MultiCorpusSampledDataset(
        {"a": pairs([*rows, [4]]), "b": pairs([[5, 6]])}
    ),
    "NestedDictionaryDataset": nested,
    "NoisingDataset": lambda rows: text.NoisingDataset(
        padded(rows), VOCABULARY, 1, max_word_shuffle_distance=3, word_dropout_prob=0.0, word_blanking_prob=0.3
    ),
    "NumelDataset": lambda rows: text.NumelDataset(leaf(rows)),
    "OffsetTokensDataset": lambda rows: text.OffsetTokensDataset(padded(rows), 7),
    "PadDataset": padded,
    "PrependDataset": lambda rows: text.PrependDataset(sentences(rows), lambda _, row: row, BOS),
    "PrependTokenDataset": lambda rows: text.PrependTokenDataset(padded(rows), BOS),
    "ReplaceDataset": lambda rows: text.ReplaceDataset(padded(rows), {5: 6, 6: 7}, [1]),
    "ResamplingDataset": lambda rows: text.ResamplingDataset(padded(rows), size_ratio=1.7),
    "RightPadDataset": lambda rows: text.RightPadDataset(leaf(rows), PAD),
    "RollDataset": lambda rows: text.RollDataset(padded(rows), 1),
    "RoundRobinZipDatasets": lambda rows: text.RoundRobinZipDatasets(
        {"a": pairs([*rows, [4]]), "b": pairs([[5, 6], [7]])}
    ),
    "SortDataset": lambda rows: text.SortDataset(padded(rows), [-number for number in range(len(rows))]),
    "StripTokenDataset": lambda rows: text.StripTokenDataset(padded(rows), 5),
    "SubsampleDataset": lambda rows: text.SubsampleDataset(padded(rows), 0.6, shuffle=True),
    "TLMDataset": lambda rows: text.TLMDataset(padded(rows), leaf(rows), BOS, EOS),
    "TokenBlockDataset": blocks,
    "TransformEosDataset": lambda rows: text.TransformEosDataset(pairs(rows), EOS, remove_eos_from_src=True),
    "TransformEosLangPairDataset": lambda rows: text.TransformEosLangPairDataset(
        pairs(rows), EOS, new_src_eos=50, tgt_bos=EOS, new_tgt_bos=51
    ),
    "TruncateDataset": lambda rows: text.TruncateDataset(padded(rows), 3),
    "XlcoDataset": lambda rows: text.XlcoDataset(sentences(rows), VOCABULARY),
}
NEEDS_NO_ROW_OF_ITS_OWN = {"IdDataset", "NumSamplesDataset", "RawLabelDataset"}  # parts of "NestedDictionaryDataset"
READS_FILES = {
    "IndexedCachedDataset",
    "IndexedDataset",
    "IndexedRawTextDataset",
    "MMapIndexedDataset",
    "ShardedDataset",
}
BASES = {"BaseWrapperDataset", "FairseqDataset"}
CANNOT_TRAVEL = {"BacktranslationDataset", "ColorizeDataset", "PrependDataset"}  # with the functions they have here
BARE_TOKENS = {"ArrowTokenDataset", "MaskTokensDataset", "PrependDataset", "TokenBlockDataset"}  # need one that pads


def test_no_dataset_is_forgotten_here():
    known = {name.partition(" ")[0] for name in MAKE} | NEEDS_NO_ROW_OF_ITS_OWN | READS_FILES | BASES
    public = {name: getattr(text, name) for name in text.__all__}
    datasets = {
        name for name, kind in public.items() if inspect.isclass(kind) and issubclass(kind, text.FairseqDataset)
    }
    assert datasets == known & set(public)


def plain(value):
    """Arrays, tensors and items that hold them as lists, to compare by ==."""
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return value.tolist() if hasattr(value, "tolist") else value


def size_of_row(sizes, row):
    if isinstance(sizes, dict):
        return {key: size_of_row(part, row) for key, part in sizes.items()}
    return tuple(sizes[row].tolist()) if sizes.ndim > 1 else int(sizes[row])


@pytest.mark.parametrize("name", MAKE)
@given(rows=ROWS)
@settings(max_examples=15, deadline=None)
def test_an_item_is_the_same_however_it_is_asked_for(name, rows):
    dataset = MAKE[name](rows)
    dataset.set_epoch(2)
    count = len(dataset)
    items = [plain(dataset[row]) for row in range(count)]
    assert plain(dataset.__getitems__(list(range(count)))) == items
    assert plain(dataset.__getitems__(list(range(count))[::-1])) == items[::-1]
    assert [plain(dataset[row - count]) for row in range(count)] == items
    assert [plain(dataset[row]) for row in reversed(range(count))] == items[::-1]
    for beyond in (count, -count - 1):
        with pytest.raises(IndexError):
            dataset[beyond]


@pytest.mark.parametrize("name", MAKE)
@given(rows=ROWS)
@settings(max_examples=15, deadline=None)
def test_all_that_tells_of_sizes_agrees(name, rows):
    dataset = MAKE[name](rows)
    count = len(dataset)
    numbers = np.arange(count)
    one_by_one = [dataset.size(row) for row in range(count)]
    assert one_by_one == [size_of_row(dataset.sizes, row) for row in range(count)]
    assert dataset.num_tokens_vec(numbers).tolist() == [dataset.num_tokens(row) for row in range(count)]
    assert longest(dataset.sizes_at(numbers[::-1])).tolist() == dataset.num_tokens_vec(numbers).tolist()[::-1]


@pytest.mark.parametrize("name", MAKE)
@given(rows=ROWS, max_tokens=st.integers(40, 90), multiple=st.sampled_from([1, 2]))
@settings(max_examples=15, deadline=None)
def test_batches_hold_each_row_once_keep_within_limits_and_are_equal_as_arrays_and_as_tensors(
    name, rows, max_tokens, multiple
):
    pytest.importorskip("torch")
    dataset = MAKE[name](rows)
    order = dataset.ordered_indices()
    assert order.dtype == np.int64
    assert sorted(order.tolist()) == list(range(len(dataset)))
    batches = dataset.batch_by_size(
        order, max_tokens=max_tokens, max_sentences=4, required_batch_size_multiple=multiple
    )
    assert [row for batch in batches for row in batch.tolist()] == order.tolist()
    for batch in batches:
        assert len(batch) <= 4
        assert len(batch) * max(dataset.num_tokens(row) for row in batch) <= max_tokens
        if name in BARE_TOKENS:
            continue
        samples = dataset.__getitems__(batch.tolist())
        arrays = dataset.collater(samples, return_tensors="np")
        assert plain(dataset.collater(samples, return_tensors="pt")) == plain(arrays)


@pytest.mark.parametrize("name", MAKE)
@given(rows=ROWS)
@settings(max_examples=10, deadline=None)
def test_what_is_read_leaves_the_child_as_it_was_and_a_copy_in_another_process_is_equal(name, rows):
    dataset = MAKE[name](rows)
    before = [plain(list(child)) for child in getattr(dataset, "children", ())]
    items = [plain(dataset[row]) for row in range(len(dataset))]
    if name not in BARE_TOKENS and items:
        dataset.collater([dataset[0]])
    assert [plain(list(child)) for child in getattr(dataset, "children", ())] == before
    if name not in CANNOT_TRAVEL:
        copy = pickle.loads(pickle.dumps(dataset))
        assert [plain(copy[row]) for row in range(len(copy))] == items


@pytest.mark.parametrize("name", MAKE)
def test_rows_too_long_are_told_from_others(name):
    dataset = MAKE[name]([[5] * length for length in (1, 9, 2, 30, 4, 7, 3, 1)])
    rows = np.arange(len(dataset))
    kept, ignored = dataset.filter_indices_by_size(rows, None if isinstance(dataset.sizes, dict) else 12)
    if not isinstance(dataset.sizes, dict):
        assert all(dataset.num_tokens(row) <= 12 for row in kept)
        assert all(dataset.num_tokens(row) > 12 for row in ignored)
    assert sorted([*kept.tolist(), *ignored]) == rows.tolist()
