from __future__ import annotations

import json
import os
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from raydata_ext.errors import StoreError
from raydata_ext.store.manifest import Manifest, ShardFile, check_member_name

SCHEMA = pa.schema([pa.field("ids", pa.list_(pa.int32()), nullable=False)], metadata={"huggingface": "{}"})

counts = st.integers(0, 2**53)
shard_files = st.builds(
    ShardFile,
    name=st.integers(0, 10**6).map(lambda number: f"data-{number:05d}-of-99999.arrow"),
    num_bytes=counts,
    rows=counts,
    checksum=st.integers(0, 2**128 - 1).map(lambda number: f"{number:032x}"),
)


@given(
    shards=st.lists(shard_files, max_size=5).map(tuple),
    fingerprint=st.text(max_size=40),
    split=st.none() | st.text(max_size=8),
    lineage=st.dictionaries(st.text(max_size=5), st.lists(counts | st.text(max_size=5), max_size=3), max_size=3),
)
def test_a_manifest_is_the_same_after_writing_and_reading(shards, fingerprint, split, lineage):
    manifest = Manifest(shards, SCHEMA, fingerprint, lineage, split)
    again = Manifest.from_json(manifest.to_json())
    assert again == manifest
    assert again.schema.equals(SCHEMA, check_metadata=True)


def test_a_manifest_can_be_read_by_people():
    manifest = Manifest((ShardFile("a.arrow", 10, 2, "0" * 32), ShardFile("b.arrow", 20, 3, "1" * 32)), SCHEMA, "f")
    content = json.loads(manifest.to_json())
    assert (content["rows"], content["num_bytes"]) == (5, 30)
    assert content["columns"] == [{"name": "ids", "type": "list<item: int32>"}]
    assert content["shards"][1] == {"name": "b.arrow", "num_bytes": 20, "rows": 3, "checksum": "1" * 32}


@given(st.text(alphabet="./a\\\0~b ", max_size=12))
@example("..")
@example("a/../../b")
@example("//etc")
def test_a_name_that_is_accepted_stays_inside_of_its_directory(name):
    try:
        check_member_name(name)
    except StoreError:
        return
    root = "/data/set"
    assert os.path.normpath(f"{root}/{name}").startswith(root)
    assert str(Path(root, name)).startswith(root)


@pytest.mark.parametrize("name", ["data-00000-of-00001.arrow", "part/data.arrow", "a..b", "~user"])
def test_names_below_the_directory_are_accepted(name):
    assert check_member_name(name) == name


@pytest.mark.parametrize("change", [{"rows": -1}, {"rows": None}, {"num_bytes": "3"}, {"surprise": 1}])
def test_a_shard_with_an_impossible_count_is_damage(change):
    content = json.loads(Manifest((ShardFile("a.arrow", 10, 2, "0" * 32),), SCHEMA, "f").to_json())
    content["shards"][0].update(change)
    with pytest.raises(StoreError, match=r"manifest\.json is damaged"):
        Manifest.from_json(json.dumps(content))
