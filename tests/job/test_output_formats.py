"""Jobs whose result is for other trainers."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import raydata_ext as rdx
from raydata_ext.errors import JobFileError
from raydata_ext.job import read_job_file, run_job
from raydata_ext.text import MMapIndexedDataset


def test_a_job_writes_token_files_for_megatron_and_says_so(job):
    job.settings["output"] |= {"path": str(job.output / "corpus"), "format": "megatron", "options": {"dtype": "uint16"}}
    job.settings["run"]["report_dir"] = str(job.report)
    job.write_job()
    done = subprocess.run(
        [sys.executable, "-c", "from raydata_ext.cli import main; main()", "run", str(job.job_file)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads((job.report / "report.json").read_text())
    written = MMapIndexedDataset(job.output / "corpus")
    assert len(written) == report["output"]["rows"] == report["totals"]["rows_out"] > 0
    assert report["output"]["files"] == 2
    assert report["output"]["bytes"] == sum(path.stat().st_size for path in job.output.iterdir())


def test_a_job_writes_parquet_up_to_the_size_that_it_names(job):
    job.settings["output"] |= {"format": "parquet", "max_shard_bytes": "1KB", "options": {"compression": "snappy"}}
    job.write_job()
    report = run_job(read_job_file(job.job_file))
    assert report.output["files"] == len(list(job.output.iterdir())) > 1
    assert len(rdx.load_dataset(str(job.output), format="parquet")) == report.output["rows"]


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ({"format": "mds", "options": {"colums": ["text"]}}, "format 'mds' has no option 'colums'"),
        ({"format": "megatron", "max_shard_bytes": "1GB"}, "max_shard_bytes is for arrow, parquet, json, csv"),
        ({"format": "arrow", "options": {"column": "x"}}, "format arrow takes no options"),
        ({"format": "orc"}, "format"),
    ],
)
def test_an_output_that_makes_no_sense_is_refused_before_anything_runs(job, output, message):
    job.settings["output"] |= output
    job.write_job()
    with pytest.raises(JobFileError, match=message):
        read_job_file(job.job_file)
