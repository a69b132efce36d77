"""A column of a data set as `.bin` and `.idx`."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import raydata_ext as rdx
from raydata_ext.text.indexed.from_dataset import write_indexed_dataset
from raydata_ext.text.indexed.mmap_indexed_dataset import MMapIndexedDataset

ROWS = [[5, 6, 2], [], [7]]


@pytest.mark.parametrize("kind", [pa.list_, pa.large_list])
def test_each_row_becomes_an_item(tmp_path, kind):
    dataset = rdx.Dataset.from_dict({"ids": ROWS}, schema=pa.schema([("ids", kind(pa.uint16()))]))
    write_indexed_dataset(dataset, tmp_path / "x", column="ids")
    written = MMapIndexedDataset(tmp_path / "x")
    assert (written.dtype, [item.tolist() for item in written]) == (np.uint16, ROWS)


def test_rows_of_several_shards_come_in_order_and_may_get_another_type(tmp_path):
    (tmp_path / "rows.jsonl").write_text("".join(f'{{"ids": [{number}, 1]}}\n' for number in range(200)))
    dataset = rdx.load_dataset(tmp_path / "rows.jsonl", max_shard_bytes=500)
    write_indexed_dataset(dataset, tmp_path / "x", column="ids", dtype=np.uint8)
    assert [item.tolist() for item in MMapIndexedDataset(tmp_path / "x")] == [[number, 1] for number in range(200)]


def test_a_token_that_does_not_fit_leaves_no_files(tmp_path):
    dataset = rdx.Dataset.from_dict({"input_ids": [[1], [300]]})
    with pytest.raises(ValueError, match="token 300 does not fit uint8"):
        write_indexed_dataset(dataset, tmp_path / "x", dtype=np.uint8)
    assert list(tmp_path.iterdir()) == []
