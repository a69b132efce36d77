"""Jobs that read from, keep results in, and write to an object store."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import datasets
import pytest
import yaml

import raydata_ext as rdx
from raydata_ext.errors import StoreError
from raydata_ext.job.reading import read_job_file
from raydata_ext.job.running import run_job
from raydata_ext.store import read_dataset_directory, verify_dataset_directory

ROWS = [{"n": number, "text": f"row {number}"} for number in range(400)]


@pytest.fixture
def job_file(s3, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A job of two shards, in a working directory of its own."""
    for name, rows in (("a", ROWS[:200]), ("b", ROWS[200:])):
        s3.pipe(f"{bucket}/in/{name}.jsonl", "".join(json.dumps(row) + "\n" for row in rows).encode())
    job = {
        "name": "on_s3",
        "source": {"paths": f"{bucket}/in", "max_shard_bytes": "6KB"},
        "steps": [{"rename_columns": {"text": "content"}}],
        "output": {"path": f"{bucket}/out", "max_shard_bytes": "1KB"},
        "run": {"cache_dir": f"{bucket}/cache", "executor": "inline"},
    }
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(job))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "job.yaml"


def rows_at(url: str, tmp_path: Path) -> list[dict[str, object]]:
    return list(rdx.load_dataset(url, cache_dir=tmp_path / "reading", executor="inline"))


EXPECTED = [{"n": row["n"], "content": row["text"]} for row in ROWS]


def test_cache_and_output_may_both_be_remote(s3, job_file: Path, bucket: str, tmp_path: Path) -> None:
    report = run_job(read_job_file(job_file))
    assert (report.status, report.output["rows"], report.output["path"]) == ("complete", 400, f"{bucket}/out")
    assert (tmp_path / "on_s3.run" / "report.json").exists()
    names = [path.rpartition("/")[2] for path in s3.find(f"{bucket}/out")]
    assert names == [
        *[f"data-{number:05}-of-{len(names) - 3:05}.arrow" for number in range(len(names) - 3)],
        "dataset_info.json",
        "manifest.json",
        "state.json",
    ]
    assert list(verify_dataset_directory(f"{bucket}/out")) == []
    assert rows_at(f"{bucket}/out", tmp_path) == EXPECTED


def test_the_output_is_a_data_set_of_hugging_face(s3, job_file: Path, bucket: str, tmp_path: Path) -> None:
    run_job(read_job_file(job_file))
    s3.get(f"{bucket}/out", str(tmp_path / "got"), recursive=True)
    assert list(datasets.load_from_disk(str(tmp_path / "got"))) == EXPECTED


def test_an_output_that_stands_is_not_written_again_and_another_takes_its_place(
    job_file: Path, bucket: str, s3
) -> None:
    assert run_job(read_job_file(job_file)).output["written"]
    assert not run_job(read_job_file(job_file)).output["written"]
    report = run_job(read_job_file(job_file, ["output.max_shard_bytes=1GB"]))
    assert report.output["files"] == 1
    s3.invalidate_cache()
    assert len([path for path in s3.find(f"{bucket}/out") if path.endswith(".arrow")]) == 1
    assert read_dataset_directory(f"{bucket}/out").manifest is not None


def test_foreign_objects_are_left_alone(job_file: Path, bucket: str, s3) -> None:
    s3.pipe(f"{bucket}/out/mine.txt", b"x")
    with pytest.raises(StoreError, match=r"s3://.*/out holds files that are no part of a dataset \(mine\.txt\)"):
        run_job(read_job_file(job_file))
    assert s3.cat(f"{bucket}/out/mine.txt") == b"x"


def test_a_missing_bucket_of_the_output_is_named(job_file: Path, s3) -> None:
    with pytest.raises(StoreError, match=r"writing s3://no-such-bucket/out/data-.*; make the bucket first"):
        run_job(read_job_file(job_file, ["output.path=s3://no-such-bucket/out"]))
    assert not s3.exists("no-such-bucket")


def test_workers_on_ray_read_and_write_it_too(job_file: Path, bucket: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from raydata_ext.cli import main; main()", "run", str(job_file)]
    command += ["--workers", "2", "--set", "run.executor=ray"]
    environment = {**os.environ, "PYTHONPATH": str(Path(rdx.__file__).parents[1]), "RAY_AUTH_MODE": "disabled"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=240, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads((tmp_path / "on_s3.run" / "report.json").read_text())["executors"] == ["ray"]
    assert rows_at(f"{bucket}/out", tmp_path) == EXPECTED
