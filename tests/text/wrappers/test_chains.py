"""Wrappers around wrappers, against the same steps on plain lists; and in torch's data loader."""

from __future__ import annotations

import pickle

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.table import InMemoryTable
from raydata_ext.text import (
    AppendTokenDataset,
    ArrowTokenDataset,
    ConcatDataset,
    ConcatSentencesDataset,
    LRUCacheDataset,
    OffsetTokensDataset,
    PrependTokenDataset,
    ReplaceDataset,
    RollDataset,
    StripTokenDataset,
    SubsampleDataset,
    TruncateDataset,
)

STEPS = {
    "append": (lambda dataset: AppendTokenDataset(dataset, 2), lambda rows: [[*row, 2] for row in rows]),
    "prepend": (lambda dataset: PrependTokenDataset(dataset, 70_000), lambda rows: [[70_000, *row] for row in rows]),
    "strip": (
        lambda dataset: StripTokenDataset(dataset, 5),
        lambda rows: [[token for token in row if token != 5] for row in rows],
    ),
    "truncate": (lambda dataset: TruncateDataset(dataset, 4), lambda rows: [row[:4] for row in rows]),
    "offset": (
        lambda dataset: OffsetTokensDataset(dataset, 3),
        lambda rows: [[token + 3 for token in row] for row in rows],
    ),
    "roll": (lambda dataset: RollDataset(dataset, 1), lambda rows: [row[-1:] + row[:-1] for row in rows]),
    "replace": (
        lambda dataset: ReplaceDataset(dataset, {6: 5, 7: 6}, [1]),
        lambda rows: [row[:1] + [{6: 5, 7: 6}.get(token, token) for token in row[1:]] for row in rows],
    ),
    "cache": (LRUCacheDataset, lambda rows: rows),
    "concat": (
        lambda dataset: ConcatDataset([dataset, dataset], [1, 1.5]),
        lambda rows: rows + (rows + rows)[: int(1.5 * len(rows))],
    ),
    "twice": (lambda dataset: ConcatSentencesDataset(dataset, dataset), lambda rows: [row + row for row in rows]),
    "subsample": (
        lambda dataset: SubsampleDataset(dataset, 0.7, seed=3),
        lambda rows: [
            rows[row] for row in np.random.RandomState(3).permutation(len(rows))[: int(np.ceil(0.7 * len(rows)))]
        ],
    ),
}


@given(
    st.lists(st.lists(st.integers(4, 9), max_size=6), max_size=6),
    st.lists(st.sampled_from(sorted(STEPS)), max_size=5),
)
@settings(max_examples=200, deadline=None)
def test_any_chain_equals_the_same_steps_on_lists(rows, steps):
    column = pa.array(rows, pa.list_(pa.uint16()))
    leaf = ArrowTokenDataset(InMemoryTable(pa.table({"input_ids": column})))
    dataset, expected = leaf, rows
    for step in steps:
        wrap, model = STEPS[step]
        dataset, expected = wrap(dataset), model(expected)
    lengths = [len(row) for row in expected]
    assert len(dataset) == len(expected)
    assert [item.tolist() for item in dataset] == expected
    assert [item.tolist() for item in dataset.__getitems__(range(len(expected)))] == expected
    assert np.asarray(dataset.sizes).tolist() == lengths
    assert [dataset.size(row) for row in range(len(expected))] == lengths
    assert [dataset.num_tokens(row) for row in range(len(expected))] == lengths
    assert dataset.num_tokens_vec(np.arange(len(expected))[::-1]).tolist() == lengths[::-1]
    assert sorted(dataset.ordered_indices().tolist()) == list(range(len(expected)))
    assert [item.tolist() for item in leaf] == rows
    copy = pickle.loads(pickle.dumps(dataset))
    assert [item.tolist() for item in copy] == expected


@pytest.mark.parametrize("workers", [0, 2])
def test_a_masked_language_model_is_fed_by_torchs_data_loader(workers):
    torch = pytest.importorskip("torch")
    from raydata_ext.text import (
        Dictionary,
        MaskTokensDataset,
        NestedDictionaryDataset,
        NumelDataset,
        NumSamplesDataset,
        RightPadDataset,
        TokenBlockDataset,
    )

    vocab = Dictionary()
    for number in range(50):
        vocab.add_symbol(f"w{number}")
    mask = vocab.add_symbol("<mask>")
    rows = [[*np.random.RandomState(number).randint(4, 54, 5 + number), 2] for number in range(20)]
    tokens = ArrowTokenDataset(InMemoryTable(pa.table({"input_ids": pa.array(rows, pa.list_(pa.int32()))})))
    blocks = TokenBlockDataset(TruncateDataset(tokens, 31), None, 31, vocab.pad(), vocab.eos(), "complete")
    source, target = MaskTokensDataset.apply_mask(
        PrependTokenDataset(blocks, vocab.bos()), vocab, vocab.pad(), mask, seed=1, compat=False
    )
    dataset = NestedDictionaryDataset(
        {
            "net_input": {"src_tokens": RightPadDataset(source, vocab.pad()), "src_lengths": NumelDataset(source)},
            "target": RightPadDataset(target, vocab.pad()),
            "nsentences": NumSamplesDataset(),
            "ntokens": NumelDataset(source, reduce=True),
        },
        sizes=[source.sizes],
    )
    batches = dataset.batch_by_size(dataset.ordered_indices(), max_tokens=96)
    loader = torch.utils.data.DataLoader(
        dataset, batch_sampler=[batch.tolist() for batch in batches], collate_fn=dataset.collater, num_workers=workers
    )
    found = list(loader)
    expected = [dataset.collater([dataset[int(row)] for row in batch]) for batch in batches]
    assert sum(batch["nsentences"] for batch in found) == len(blocks)
    for batch, plain in zip(found, expected, strict=True):
        assert batch["net_input"]["src_tokens"].dtype == batch["target"].dtype == torch.int64
        assert torch.equal(batch["net_input"]["src_tokens"], plain["net_input"]["src_tokens"])
        assert torch.equal(batch["target"], plain["target"])
        assert batch["net_input"]["src_tokens"].numel() <= 96
