"""Directories of MDS shards. The bytes were made by the writer of MosaicML Streaming 0.13."""

from __future__ import annotations

import hashlib
import json
import struct

import fsspec
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from raydata_ext.dataset import Dataset
from raydata_ext.dataset.mds_export import cut
from raydata_ext.errors import SchemaError, StoreError

CONFIG = (
    b'{"column_encodings": ["int", "ndarray:uint16", "json", "str"], "column_names": ["id", "ids", "meta", "text"],'
    b' "column_sizes": [8, null, null, null], "compression": null, "format": "mds", "hashes": ["sha1", "xxh64"],'
    b' "size_limit": 310, "version": 2}'
)
LAST = struct.pack("<3I", 1, 260, 296) + CONFIG + struct.pack("<3Iq", 4, 9, 3, 3) + b'\4\1\7\0{"a": []}xyz'
SHA1 = {
    "index.json": "c6281928904b94db3cff650818ec63e3720c5367",
    "shard.00000.mds": "47932ad00fb308df7353300346f020e4955e0a37",
    "shard.00001.mds": "35625b81d5faf4d9a68643d2bca1d27db8068128",
    "shard.00002.mds": "386b5003569806294006bdf14e2c2f454c5b8868",
}


@pytest.fixture
def samples(tmp_path):
    schema = pa.schema(
        {
            "meta": pa.struct({"a": pa.list_(pa.int64())}),
            "id": pa.int64(),
            "text": pa.string(),
            "ids": pa.list_(pa.uint16()),
        }
    )
    rows = [
        {"id": -1, "text": "é", "ids": [1, 2, 300], "meta": {"a": [1, None]}},
        {"id": 2**40, "text": "", "ids": [0, 1], "meta": None},
        {"id": 3, "text": "xyz", "ids": [7], "meta": {"a": []}},
    ]
    return Dataset.from_list(rows, schema=schema, cache_dir=tmp_path / "cache")


def files(directory):
    return {path.name: path.read_bytes() for path in sorted(directory.iterdir())}


def test_the_files_are_those_of_mosaicml_to_the_byte(samples, tmp_path):
    paths = samples.to_mds(tmp_path / "out", hashes=["xxh64", "sha1"], size_limit=310)
    written = files(tmp_path / "out")
    assert paths == [str(tmp_path / "out" / name) for name in [*sorted(SHA1)[1:], "index.json"]]
    assert written["shard.00002.mds"] == LAST
    assert {name: hashlib.sha1(content).hexdigest() for name, content in written.items()} == SHA1


def test_the_bytes_are_the_same_whoever_writes_them(ray_session, large, tmp_path):
    shuffled = large.shuffle(seed=1)
    for executor in ("ray", "inline"):
        shuffled.to_mds(tmp_path / executor, size_limit="1MB", executor=executor, workers=2)
    assert files(tmp_path / "ray") == files(tmp_path / "inline")
    index = json.loads((tmp_path / "ray" / "index.json").read_bytes())
    assert sum(shard["samples"] for shard in index["shards"]) == 8000
    assert all(shard["raw_data"]["bytes"] <= 1_000_000 for shard in index["shards"])


def test_shards_may_be_compressed(samples, tmp_path):
    samples.to_mds(tmp_path / "out", compression="zstd:7", hashes=["sha1"])
    index = json.loads((tmp_path / "out" / "index.json").read_bytes())
    raw, packed = (index["shards"][0][part] for part in ("raw_data", "zip_data"))
    assert (raw["basename"], packed["basename"]) == ("shard.00000.mds", "shard.00000.mds.zstd")
    content = (tmp_path / "out" / packed["basename"]).read_bytes()
    plain = pa.decompress(content, raw["bytes"], "zstd", asbytes=True)
    for data, told in ((content, packed), (plain, raw)):
        assert (len(data), hashlib.sha1(data).hexdigest()) == (told["bytes"], told["hashes"]["sha1"])


@given(st.lists(st.integers(0, 40), max_size=40), st.integers(20, 60), st.integers(1, 7))
def test_shards_are_filled_one_after_the_other(sizes, limit, step):
    parts = [np.array(sizes[at : at + step], np.uint32) for at in range(0, len(sizes), step)]
    expected, room = [], 0
    for size in sizes:  # as the writer of MosaicML does it, but for its empty shard before one that is too large
        if not expected or size + 4 > room:
            expected.append(0)
            room = limit - 8
        expected[-1] += 1
        room -= size + 4
    assert list(cut(parts, limit, 8)) == expected


def test_no_rows_are_an_index_without_shards(samples, tmp_path):
    samples.select([]).to_mds(tmp_path / "out")
    assert files(tmp_path / "out") == {"index.json": b'{"shards": [], "version": 2}'}


def test_an_older_export_is_replaced_and_other_files_are_left_alone(samples, tmp_path):
    samples.to_mds(tmp_path / "out", size_limit=310)
    samples.to_mds(tmp_path / "out", columns=["id"])
    assert list(files(tmp_path / "out")) == ["index.json", "shard.00000.mds"]
    (tmp_path / "out" / "thesis.tex").touch()
    with pytest.raises(StoreError, match=r"holds other files, such as thesis\.tex"):
        samples.to_mds(tmp_path / "out")


def test_a_row_that_cannot_be_written_is_named_and_the_older_export_stays(samples, tmp_path):
    samples.to_mds(tmp_path / "out")
    before = files(tmp_path / "out")
    bad = Dataset.from_dict({"x": ["a"] * 1500 + [None]}, cache_dir=tmp_path / "cache")
    with pytest.raises(SchemaError, match="row 1500: column 'x' is null"):
        bad.to_mds(tmp_path / "out")
    assert files(tmp_path / "out") == before
    bad.to_mds(tmp_path / "out", columns={"x": "json"})
    assert files(tmp_path / "out") != before


def test_shards_go_to_a_url_as_well(samples, tmp_path):
    samples.to_mds(tmp_path / "out")
    samples.to_mds("memory://mds/out")
    store = fsspec.filesystem("memory")
    assert {path.rpartition("/")[2]: store.cat(path) for path in store.ls("/mds/out", detail=False)} == files(
        tmp_path / "out"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"compression": "gz"}, "compression is 'gz'"),
        ({"hashes": ["crc"]}, "hashes has 'crc'"),
        ({"size_limit": "4GiB"}, "size_limit is 4294967296 bytes"),
        ({"columns": ["nope"]}, "there is no column 'nope'"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(samples, tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        samples.to_mds(tmp_path / "out", **options)


def test_mosaicml_streaming_opens_what_we_write(samples, tmp_path):
    streaming = pytest.importorskip("streaming")
    samples.to_mds(tmp_path / "out", size_limit=310, hashes=["sha1"])
    theirs = streaming.LocalDataset(str(tmp_path / "out"))
    rows = [{**row, "ids": row["ids"].tolist()} for row in (theirs[number] for number in range(len(theirs)))]
    assert rows == samples.to_list()
