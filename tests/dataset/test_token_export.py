"""Tokens as Megatron's and fairseq's files."""

from __future__ import annotations

import struct

import fsspec
import numpy as np
import pyarrow as pa
import pytest

from raydata_ext import load_dataset
from raydata_ext.dataset import Dataset
from raydata_ext.errors import SchemaError, StoreError, WriteError
from raydata_ext.text import MMapIndexedDataset

ROWS = [[5, 6, 2], [], [7]]
MEGATRON = b"MMIDIDX\0\0" + struct.pack("<QBQQ3i3q4q", 1, 8, 3, 4, 3, 0, 1, 0, 6, 6, 0, 1, 2, 3)
FAIRSEQ = b"MMIDIDX\0\0" + struct.pack("<QBQ3i3q", 1, 8, 3, 3, 0, 1, 0, 6, 6)


@pytest.fixture
def tokens(tmp_path):
    """Three rows, each in a file of its own."""
    parts = [
        Dataset.from_dict({"input_ids": [row]}, schema=SCHEMA).save_to_disk(tmp_path / str(n))
        for n, row in enumerate(ROWS)
    ]
    return Dataset.from_files([part.file_path(part.files[0]) for part in parts], cache_dir=tmp_path / "cache")


SCHEMA = pa.schema([("input_ids", pa.list_(pa.int64()))])


def files(directory):
    return {path.name: path.read_bytes() for path in sorted(directory.iterdir())}


def test_the_files_are_those_of_megatron_to_the_byte(tokens, tmp_path):
    assert tokens.to_megatron(tmp_path / "out" / "x") == [str(tmp_path / "out" / "x")]
    assert files(tmp_path / "out") == {"x.bin": struct.pack("<4H", 5, 6, 2, 7), "x.idx": MEGATRON}


def test_the_files_are_those_of_fairseq_to_the_byte(tokens, tmp_path):
    tokens.to_fairseq(tmp_path / "out" / "x")
    assert files(tmp_path / "out") == {"x.bin": struct.pack("<4H", 5, 6, 2, 7), "x.idx": FAIRSEQ}


def test_no_rows_are_an_empty_pair(tokens, tmp_path):
    tokens.select([]).to_megatron(tmp_path / "out" / "x")
    written = MMapIndexedDataset(tmp_path / "out" / "x")
    assert (len(written), written.document_indices.tolist(), written.dtype) == (0, [0], np.uint16)


@pytest.mark.parametrize("method", ["to_megatron", "to_fairseq"])
def test_our_readers_open_them(any_dataset, rows, tmp_path, method):
    shuffled = any_dataset.shuffle(seed=3)
    (prefix,) = getattr(shuffled, method)(tmp_path / "out" / "x", column="tokens")
    assert [item.tolist() for item in MMapIndexedDataset(prefix)] == shuffled["tokens"]
    assert load_dataset(f"{prefix}.bin", cache_dir=tmp_path / "read")["input_ids"] == shuffled["tokens"]


def test_the_bytes_are_the_same_whoever_writes_them(ray_session, large, tmp_path):
    dataset = large.map(lambda row: {"input_ids": [[row["n"]] * (row["n"] % 5), [1]]}, remove_columns=["n", "text"])
    dataset = Dataset.from_dict({"input_ids": dataset["input_ids"]}, cache_dir=tmp_path / "cache")
    parts = [dataset.shard(7, number).save_to_disk(tmp_path / f"part{number}") for number in range(7)]
    mapped = Dataset.from_files([part.file_path(part.files[0]) for part in parts], cache_dir=tmp_path / "cache")
    for executor in ("ray", "inline"):
        mapped.to_megatron(tmp_path / executor / "x", executor=executor, workers=2)
    dataset.to_megatron(tmp_path / "memory" / "x")
    assert files(tmp_path / "ray") == files(tmp_path / "inline") == files(tmp_path / "memory")
    assert len(MMapIndexedDataset(tmp_path / "ray" / "x")) == 16_000


def test_sentences_make_up_documents(tmp_path):
    rows = [[[1, 2], [3]], [], [[4]]]
    dataset = Dataset.from_dict({"input_ids": rows}, schema=pa.schema([("input_ids", pa.list_(pa.list_(pa.int32())))]))
    (prefix,) = dataset.to_megatron(tmp_path / "x")
    written = MMapIndexedDataset(prefix)
    assert ([item.tolist() for item in written], written.document_indices.tolist()) == (
        [[1, 2], [3], [4]],
        [0, 2, 2, 3],
    )
    flat = Dataset.from_dict({"input_ids": [[1, 2], [3], [4]], "first": [True, False, True]}, cache_dir=tmp_path / "c")
    (prefix,) = flat.to_megatron(tmp_path / "y", documents="first")
    assert MMapIndexedDataset(prefix).document_indices.tolist() == [0, 2, 3]


def test_several_pairs_hold_the_rows_one_after_the_other(tokens, tmp_path):
    prefixes = tokens.to_megatron(tmp_path / "out" / "x", num_shards=2)
    assert prefixes == [str(tmp_path / "out" / f"x-{number:05d}-of-00002") for number in range(2)]
    assert [[item.tolist() for item in MMapIndexedDataset(prefix)] for prefix in prefixes] == [ROWS[:2], ROWS[2:]]


@pytest.mark.parametrize(
    ("largest", "options", "dtype"),
    [
        (65_498, {}, np.uint16),
        (65_499, {}, np.int32),
        (2**31, {}, np.int64),
        (1, {"vocab_size": 32_000}, np.uint16),
        (1, {"vocab_size": 128_256}, np.int32),
        (1, {"dtype": "int64"}, np.int64),
    ],
)
def test_the_type_is_the_smallest_that_fits_or_the_one_asked_for(tmp_path, largest, options, dtype):
    dataset = Dataset.from_dict({"input_ids": [[0], [largest]]}, schema=SCHEMA)
    (prefix,) = dataset.to_megatron(tmp_path / "x", **options)
    written = MMapIndexedDataset(prefix)
    assert (written.dtype, written[1].tolist()) == (dtype, [largest])


def test_a_token_that_does_not_fit_is_named_and_leaves_no_file(tokens, tmp_path):
    dataset = Dataset.from_dict({"input_ids": [[1]] * 3 + [[2, 70_000]]}, cache_dir=tmp_path / "cache")
    for options in ({"dtype": "uint16"}, {"vocab_size": 50_257}):
        with pytest.raises(ValueError, match="row 3: token 70000 does not fit uint16"):
            dataset.to_megatron(tmp_path / "out" / "x", **options)
    assert list((tmp_path / "out").iterdir()) == []


def test_a_failed_export_leaves_an_older_one_whole_and_another_replaces_it(tokens, tmp_path):
    tokens.to_megatron(tmp_path / "out" / "x")
    before = files(tmp_path / "out")
    with pytest.raises(ValueError, match="row 1: column 'input_ids' is null"):
        Dataset.from_dict({"input_ids": [[5], None]}).to_megatron(tmp_path / "out" / "x")
    assert files(tmp_path / "out") == before
    tokens.select([2]).to_megatron(tmp_path / "out" / "x")
    assert MMapIndexedDataset(tmp_path / "out" / "x")[0].tolist() == [7]


def test_pairs_go_to_a_url_as_well(tokens):
    assert tokens.to_megatron("memory://tokens/x", num_shards=1) == ["memory://tokens/x-00000-of-00001"]
    store = fsspec.filesystem("memory")
    assert store.cat("/tokens/x-00000-of-00001.idx") == MEGATRON


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"dtype": "uint16", "vocab_size": 5}, ValueError, "both dtype and vocab_size"),
        ({"dtype": "uint32"}, ValueError, "dtype is uint32, of which megatron has no tokens"),
        ({"dtype": "float32"}, ValueError, "dtype is float32"),
        ({"num_shards": 0}, ValueError, "num_shards is 0"),
        ({"num_shards": 2, "documents": "first"}, ValueError, "num_shards would cut documents"),
        ({"column": "text"}, SchemaError, "column 'text' is string"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(dataset, tmp_path, options, error, message):
    with pytest.raises(error, match=message):
        dataset.to_megatron(tmp_path / "x", **{"column": "tokens", **options})


def test_a_prefix_is_a_path_without_suffix(tokens, tmp_path):
    with pytest.raises(ValueError, match=r"without \.bin and \.idx"):
        tokens.to_megatron(tmp_path / "x.bin")
    (tmp_path / "file").touch()
    with pytest.raises((StoreError, WriteError)):
        tokens.to_megatron(tmp_path / "file" / "x")


def test_megatron_opens_what_we_write(tokens, tmp_path):
    indexed = pytest.importorskip("megatron.core.datasets.indexed_dataset")
    (prefix,) = tokens.to_megatron(tmp_path / "x")
    theirs = indexed.IndexedDataset(prefix)
    assert [theirs[number].tolist() for number in (0, 2)] == [ROWS[0], ROWS[2]]
    assert theirs.document_indices.tolist() == [0, 1, 2, 3]
