"""Data sets that are saved in an object store, and what opens them."""

from __future__ import annotations

import json
import logging
import os
import pickle
from typing import TYPE_CHECKING

import datasets
import pytest
import s3fs
import yaml

import raydata_ext as rdx
from raydata_ext.errors import CorruptFileError, StoreError
from raydata_ext.job.reading import read_job_file
from raydata_ext.job.running import run_job

if TYPE_CHECKING:
    from pathlib import Path

ROWS = [{"n": number, "text": f"row {number}"} for number in range(3_000)]


@pytest.fixture(autouse=True)
def copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where this machine keeps its copies."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "copies"


@pytest.fixture
def saved(bucket: str) -> str:
    """URL of a data set of several files."""
    rdx.Dataset.from_list(ROWS).save_to_disk(f"{bucket}/saved", max_shard_bytes="20KB", executor="inline")
    return f"{bucket}/saved"


def sizes(directory: Path) -> list[int]:
    return [path.stat().st_size for path in directory.glob("*.arrow")]


def test_a_saved_data_set_is_opened_without_a_copy_and_each_file_is_copied_once(saved: str, copies: Path) -> None:
    data = rdx.load_from_disk(saved)
    assert (data.num_rows, data.column_names) == (3_000, ["n", "text"])
    assert len(data.cache_files) > 2
    assert data.cache_files[0]["filename"].startswith(f"{saved}/data-00000-of-")
    assert not copies.exists()
    assert data[0] == ROWS[0]
    assert len(sizes(copies)) == 1
    assert data.to_list() == ROWS
    before = {path: path.stat().st_ino for path in copies.glob("*.arrow")}
    assert pickle.loads(pickle.dumps(data))[::-1] == data[::-1]
    assert rdx.load_from_disk(saved).to_list() == ROWS
    assert {path: path.stat().st_ino for path in copies.glob("*.arrow")} == before


def test_a_copy_of_the_files_makes_room_for_the_next(saved: str, copies: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAYDATA_EXT_MAX_LOCAL_BYTES", "45000")
    data = rdx.load_from_disk(saved)
    assert list(data) == ROWS
    assert data.shuffle(seed=1).sort("n")["n"][:] == [row["n"] for row in ROWS]
    assert sum(sizes(copies)) <= 45_000


def test_what_hugging_face_saved_is_opened_too(saved: str, bucket: str, s3, tmp_path: Path) -> None:
    theirs = datasets.Dataset.from_list(ROWS)
    theirs.save_to_disk(str(tmp_path / "theirs"), num_shards=4)
    s3.put(str(tmp_path / "theirs"), f"{bucket}/theirs", recursive=True)
    data = rdx.load_from_disk(f"{bucket}/theirs", cache_dir=f"{bucket}/cache")
    assert (data.fingerprint, data.num_rows, len(data.cache_files)) == (theirs._fingerprint, 3_000, 4)
    assert data.to_list() == ROWS
    local = rdx.load_from_disk(tmp_path / "theirs", cache_dir=tmp_path / "cache")
    keys = [[shard.identity(shard.hash_piece) for shard in one.shards] for one in (data, local)]
    assert keys[0] == keys[1]
    mapped = data.map(lambda row: {"n": -row["n"]}, executor="inline")
    assert mapped["n"][:] == [-row["n"] for row in ROWS]


def test_a_file_that_was_replaced_is_never_mapped(saved: str, s3) -> None:
    data = rdx.load_from_disk(saved)
    path = data.cache_files[1]["filename"]
    content = bytearray(s3.cat(path))
    content[-20] ^= 1
    s3.pipe(path, bytes(content))
    assert data[0] == ROWS[0]
    with pytest.raises(CorruptFileError, match=rf"{path}: what was fetched is not \d+ bytes of checksum"):
        list(data)
    s3.pipe(path, bytes(content[:-1]))
    s3.invalidate_cache()
    with pytest.raises(StoreError, match=r"shard file data-00001-of-.* bytes, not .* as manifest.json says"):
        rdx.load_from_disk(saved)


def test_a_manifest_cannot_lead_out_of_its_directory(saved: str, bucket: str, s3) -> None:
    manifest = json.loads(s3.cat(f"{saved}/manifest.json"))
    for name in ("../secret.arrow", "/etc/passwd"):
        manifest["shards"][0]["name"] = name
        s3.pipe(f"{saved}/manifest.json", json.dumps(manifest).encode())
        s3.invalidate_cache()
        with pytest.raises(StoreError, match="leads out of the directory"):
            rdx.load_from_disk(saved)


@pytest.fixture
def options(s3_endpoint: str, bucket: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """How the server is reached where the environment does not say so."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name)
    s3fs.S3FileSystem.clear_instance_cache()
    return {"key": "a", "secret": "hunter2", "endpoint_url": s3_endpoint}


def everything_below(directory: Path) -> str:
    files = [path for path in directory.rglob("*") if path.is_file()]
    return "".join(path.read_bytes().decode("latin1") for path in files)


def test_options_reach_source_cache_and_output_and_are_written_nowhere(
    options, bucket: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="raydata_ext")
    store = s3fs.S3FileSystem(**options)
    store.pipe(f"{bucket}/c/a.jsonl", "".join(json.dumps(row) + "\n" for row in ROWS).encode())
    data = rdx.load_dataset(f"{bucket}/c", cache_dir=f"{bucket}/cache", storage_options=options, executor="inline")
    doubled = data.map(lambda row: {"n": 2 * row["n"]}, executor="inline")
    doubled.save_to_disk(f"{bucket}/out", executor="inline")
    loaded = rdx.load_from_disk(f"{bucket}/out", storage_options=options, cache_dir=tmp_path / "cache")
    assert pickle.loads(pickle.dumps(loaded)).to_list() == [{**row, "n": 2 * row["n"]} for row in ROWS]
    store.invalidate_cache()
    objects = "".join(content.decode("latin1") for content in store.cat(store.find(bucket)).values())
    shown = caplog.text + repr(data) + repr(data.parts) + repr(data.parts.workspace) + repr(data.shards)
    assert "hunter2" not in objects + shown + everything_below(tmp_path)
    with_other_secret = rdx.Workspace(f"{bucket}/cache", storage_options={**options, "secret": "other"})
    again = rdx.load_dataset(f"{bucket}/c", cache_dir=with_other_secret, executor="inline")
    assert again.cache_files == data.cache_files


def test_a_job_file_says_how_its_urls_are_reached(
    options, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    s3fs.S3FileSystem(**options).pipe(f"{bucket}/c/a.jsonl", b'{"n": 1}\n{"n": 2}\n')
    monkeypatch.setenv("KEEP_THIS", str(options["secret"]))
    job = {
        "name": "on_s3",
        "source": {"paths": f"{bucket}/c"},
        "output": {"path": f"{bucket}/out"},
        "run": {
            "cache_dir": f"{bucket}/cache",
            "executor": "inline",
            "storage_options": {"s3": {**options, "secret": "${KEEP_THIS}"}},
            "local_dir": str(tmp_path / "nvme"),
            "max_local_bytes": "1MB",
            "report_dir": str(tmp_path / "report"),
        },
    }
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(job))
    loaded = read_job_file(tmp_path / "job.yaml")
    report = run_job(loaded)
    assert (report.status, report.output["rows"]) == ("complete", 2)
    assert sizes(tmp_path / "nvme")
    assert not (tmp_path / "copies").exists()
    assert "hunter2" not in everything_below(tmp_path) + repr(loaded) + "".join(capfd.readouterr())
    assert os.environ["KEEP_THIS"] == "hunter2"


def test_exports_go_to_a_bucket_and_replace_older_ones(bucket: str, s3, tmp_path: Path) -> None:
    rows = rdx.Dataset.from_list([{"n": number, "ids": [number, number + 1]} for number in range(3_000)])
    rows.to_parquet(f"{bucket}/parquet", max_file_bytes="10KB", executor="inline")
    paths = rows.to_parquet(f"{bucket}/parquet", max_file_bytes="20KB", executor="inline")
    assert len(paths) > 1
    assert sorted(f"s3://{path}" for path in s3.ls(f"{bucket}/parquet")) == paths
    assert rdx.load_dataset(paths, executor="inline").to_list() == rows.to_list()

    for name, write in (("megatron", rows.to_megatron), ("mds", rows.select_columns(["n"]).to_mds)):
        options = {"column": "ids"} if name == "megatron" else {}
        write(f"{bucket}/{name}/out", executor="inline", **options)
        write(tmp_path / name / "out", executor="inline", **options)
        here = {str(path.relative_to(tmp_path)): path.read_bytes() for path in (tmp_path / name).rglob("*.*")}
        assert {path: s3.cat_file(f"{bucket}/{path}") for path in here} == here
        assert len(here) == 2
        assert len(s3.find(f"{bucket}/{name}")) == 2
