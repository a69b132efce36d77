"""A plan whose results are kept in an object store."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import raydata_ext as rdx
from raydata_ext.plan import Workspace

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def corpus(s3, bucket: str) -> str:
    for name in "abc":
        rows = [{"n": number, "text": f"{name} {number}"} for number in range(100)]
        s3.pipe(f"{bucket}/c/{name}.jsonl", "".join(json.dumps(row) + "\n" for row in rows).encode())
    return f"{bucket}/c"


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.fixture
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Make this process that of a node with a local disk of its own."""

    def node(name: str) -> None:
        monkeypatch.setenv("RAYDATA_EXT_LOCAL_DIR", str(tmp_path / name))

    return node


def twice(row: dict[str, object]) -> dict[str, object]:
    return {"n": 2 * row["n"]}


def test_what_one_node_computed_another_reads(corpus: str, bucket: str, node) -> None:
    plan = rdx.scan_dataset(corpus, cache_dir=f"{bucket}/cache", max_shard_bytes=1000).map(twice)
    node("one")
    first = plan.collect(executor="inline")
    assert first["n"][:3] == [0, 2, 4]
    node("two")
    again = rdx.scan_dataset(corpus, cache_dir=f"{bucket}/cache", max_shard_bytes=1000).map(twice)
    assert "0 of" not in str(again.explain())
    assert again.collect(executor="inline")[:] == first[:]


def test_results_are_computed_once(s3, corpus: str, bucket: str) -> None:
    plan = rdx.scan_dataset(corpus, cache_dir=f"{bucket}/cache").map(twice)
    plan.collect(executor="inline")
    before = {path: info["ETag"] for path, info in s3.find(f"{bucket}/cache", detail=True).items()}
    changed = {path: info["LastModified"] for path, info in s3.find(f"{bucket}/cache", detail=True).items()}
    assert len(before) >= 2
    plan.collect(executor="inline")
    s3.invalidate_cache()
    after = s3.find(f"{bucket}/cache", detail=True)
    assert {path: info["LastModified"] for path, info in after.items()} == changed


def test_a_plan_of_several_parts_goes_on_from_remote_results(corpus: str, bucket: str) -> None:
    plan = rdx.scan_dataset(corpus, cache_dir=f"{bucket}/cache").filter(lambda row: row["n"] % 2 == 0)
    data = plan.map(lambda row, number: {"number": number}, with_indices=True).collect(executor="inline")
    assert data["number"][:] == list(range(150))


def test_memories_of_a_url_are_local_and_apart(bucket: str, tmp_path: Path) -> None:
    one, other, local = Workspace(f"{bucket}/a/"), Workspace(f"{bucket}/b"), Workspace(tmp_path / "cache")
    assert (one.path, one.local_directory) == (f"{bucket}/a", "")
    assert local.path == local.local_directory == str(tmp_path / "cache")
    assert one.index.directory.is_relative_to(tmp_path / "home")
    assert len({space.index.directory for space in (one, other, local)}) == 3


@pytest.mark.parametrize("executor", ["inline", "ray"])
def test_a_result_in_memory_goes_through_the_bucket_and_leaves_nothing_there(
    ray_session, s3, s3_endpoint: str, bucket: str, tmp_path: Path, executor: str
) -> None:
    options = {"key": "a", "secret": "b", "endpoint_url": s3_endpoint}
    rows = rdx.Dataset.from_dict({"n": list(range(100))}, cache_dir=Workspace(f"{bucket}/cache", options))
    kept = rows.map(twice, keep_in_memory=True, executor=executor)
    assert kept["n"][:] == list(range(0, 200, 2))
    assert kept.cache_files == []
    assert s3.find(f"{bucket}/cache") == []
    for copy in (tmp_path / "copies").glob("*.arrow"):
        copy.unlink()
    assert kept["n"][-1] == 198
    assert len(list((tmp_path / "home").rglob("of_urls/*"))) <= 1
