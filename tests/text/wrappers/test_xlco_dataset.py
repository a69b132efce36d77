from __future__ import annotations

import numpy as np
import pytest

from raydata_ext.text.dictionary import Dictionary
from raydata_ext.text.wrappers.columns import ListDataset
from raydata_ext.text.wrappers.xlco_dataset import XlcoDataset

VOCAB = Dictionary()
LINES = [[0, 4, 5, 2], [0, 14, 2], [0, 6, 2], [0, 16, 17, 18, 2]]


def pairs(lines=LINES, **options):
    return XlcoDataset(ListDataset([np.array(line) for line in lines], [len(line) for line in lines]), VOCAB, **options)


def mixed(mode, *, remove_bos=True):
    sources, targets = [LINES[0], LINES[2]], [LINES[1], LINES[3]]
    if mode & 1:
        sources.reverse()
    if mode & 2:
        targets.reverse()
    both = [first + (second[1:] if remove_bos else second) for first, second in (sources, targets)]
    return tuple(reversed(both)) if mode & 4 else tuple(both)


@pytest.mark.parametrize("remove_bos", [True, False])
def test_pairs_are_mixed_as_infoxlm_draws(remove_bos):
    dataset = pairs(remove_bos_of_item2=remove_bos, seed=3)
    seen = set()
    for epoch in range(40):
        dataset.set_epoch(epoch)
        np.random.seed(int(hash((3, epoch, 0)) % 1e6))  # noqa: NPY002 - it is the reference
        mode = np.random.randint(8)  # noqa: NPY002
        seen.add(mode)
        item = dataset[0]
        assert (item["source"].tolist(), item["target"].tolist()) == mixed(mode, remove_bos=remove_bos)
    assert seen == set(range(8))


def test_a_batch_has_an_input_for_each_side():
    dataset = pairs(LINES * 2)
    batch = dataset.collater([dataset[1], dataset[0]], return_tensors="np")
    assert (batch["id"].tolist(), batch["nsentences"]) == ([1, 0], 2)
    for side, key in (("src_net_input", "source"), ("tgt_net_input", "target")):
        rows = [dataset[1][key].tolist(), dataset[0][key].tolist()]
        width = max(map(len, rows))
        assert batch[side]["src_tokens"].tolist() == [row + [1] * (width - len(row)) for row in rows]
        assert batch[side]["src_lengths"].tolist() == [len(row) for row in rows]
    assert batch["ntokens"] == sum(batch[side]["src_lengths"].sum() for side in ("src_net_input", "tgt_net_input"))
    assert dataset.collater([]) == {}


def test_four_lines_make_a_row_and_the_longer_side_counts():
    dataset = pairs([*LINES, *LINES, LINES[0]])
    assert (len(dataset), dataset.sizes.tolist(), dataset.num_tokens(1)) == (2, [8, 8], 8)
    with pytest.raises(IndexError, match="XlcoDataset: index 2"):
        dataset[2]
