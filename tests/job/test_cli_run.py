"""The command `raydata-ext` on real files, in processes of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import raydata_ext as rdx


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-c", "from raydata_ext.cli import main; main()", *map(str, arguments)]


def run(*arguments: object, expect: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(command(*arguments), capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == expect, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture
def background():
    """Starts the command as a process of its own, which does not outlive the test."""
    started = []

    def start(*arguments: object) -> subprocess.Popen[str]:
        started.append(subprocess.Popen(command(*arguments), stderr=subprocess.PIPE, text=True))
        return started[-1]

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
            process.communicate()


def totals(job) -> dict:
    return json.loads((job.report / "report.json").read_text())["totals"]


def test_a_job_writes_data_report_and_summary(job):
    done = run("run", job.job_file)
    dataset = rdx.load_from_disk(job.output)
    figures = totals(job)
    assert figures["rows_in"] == 40
    assert figures["rows_in"] == figures["rows_out"] + figures["filtered"] + figures["quarantined"]
    assert len(dataset) == figures["rows_out"]
    assert dataset.column_names == ["path", "input_ids"]
    assert (job.report / "report.html").read_text().lower().startswith("<!doctype html>")
    for expected in ("40", "rows out", "too short", "tokens", "computed", "output"):
        assert expected in done.stdout


def test_the_second_run_finds_every_shard_and_rewrites_nothing(job):
    run("run", job.job_file)
    written = {path: path.stat().st_mtime_ns for path in job.output.iterdir()}
    done = run("run", job.job_file)
    assert totals(job)["computed"] == 0
    assert totals(job)["cached"] == totals(job)["shards"] > 1
    assert "unchanged" in done.stdout
    assert {path: path.stat().st_mtime_ns for path in job.output.iterdir()} == written


def test_editing_one_file_computes_the_shard_that_holds_it(job):
    run("run", job.job_file)
    edited = job.corpus / "part1" / "doc13.txt"
    edited.write_text(edited.read_text() + "one more line\n")
    run("run", job.job_file)
    assert totals(job)["computed"] == 1


def test_adding_a_file_leaves_the_shards_of_others_alone(job):
    run("run", job.job_file)
    shards = totals(job)["shards"]
    (job.corpus / "part2" / "doc98.txt").write_text("a new document that is long enough to be kept by the filter\n")
    run("run", job.job_file)
    assert totals(job)["rows_in"] == 41
    assert totals(job)["computed"] <= 2
    assert totals(job)["cached"] >= shards - 1


def test_moving_and_touching_the_corpus_computes_nothing(job, tmp_path):
    run("run", job.job_file)
    moved = tmp_path / "elsewhere" / "corpus"
    moved.parent.mkdir()
    job.corpus.rename(moved)
    for path in moved.rglob("*.txt"):
        os.utime(path)
    job.settings["source"]["paths"] = [str(moved / "**" / "*.txt")]
    job.write_job()
    run("run", job.job_file)
    assert totals(job)["computed"] == 0


def test_a_changed_constant_recomputes_all_and_a_comment_none(job):
    run("run", job.job_file)
    text = job.steps_file.read_text()
    job.write_steps(text.replace("# a comment", "# another comment,\n    # longer"))
    run("run", job.job_file)
    assert totals(job)["computed"] == 0
    job.write_steps(text.replace("self.shift = 3", "self.shift = 4"))
    explained = run("explain", job.job_file).stdout
    assert "constant 3 became 4" in explained
    assert "0 hits" in explained
    run("run", job.job_file)
    assert totals(job)["cached"] == 0


def test_a_global_that_a_step_reads_is_part_of_it(job):
    run("run", job.job_file)
    job.write_steps(job.steps_file.read_text().replace("LIMIT = 70", "LIMIT = 71"))
    run("run", job.job_file)
    assert totals(job)["cached"] == 0


def test_one_worker_two_workers_and_inline_give_the_same_bytes(job):
    outputs = []
    for number, options in enumerate((("inline", 1), ("ray", 1), ("ray", 2))):
        executor, workers = options
        out, cache = job.path / f"out{number}", job.path / f"cache{number}"
        settings = [f"run.executor={executor}", f"output.path={out}", f"run.cache_dir={cache}"]
        run("run", job.job_file, *(word for setting in settings for word in ("--set", setting)), "--workers", workers)
        outputs.append({path.name: path.read_bytes() for path in out.glob("*.arrow")})
    assert outputs[0] == outputs[1] == outputs[2]
    assert outputs[0]


@pytest.mark.parametrize("executor", ["inline", "ray"])
def test_an_exception_in_a_step_ends_the_job_and_names_file_row_and_step(job, executor):
    broken = job.steps_file.read_text().replace(
        "    # a comment\n", "    if 'doc13' in row['path']:\n        raise ValueError('bad document')\n"
    )
    job.write_steps(broken)
    done = run("run", job.job_file, "--set", f"run.executor={executor}", expect=1)
    for expected in ("step 1 `long_enough`", "doc13.txt: row 0", "ValueError: bad document", "in long_enough"):
        assert expected in done.stderr
    report = json.loads((job.report / "report.json").read_text())
    assert report["status"] == "failed"
    assert "bad document" in report["error"]
    assert report["totals"]["complete"] == len(report["shards"]) < report["source"]["shards"]
    assert not list(job.output.glob("manifest.json"))


def test_a_killed_driver_leaves_no_partial_file_and_the_rerun_goes_on(job, wait_until, background):
    gate = job.path / "gate"
    slow = job.steps_file.read_text().replace(
        "    # a comment\n",
        "    import os, time\n"
        f"    while 'doc00' in row['path'] and not os.path.exists({str(gate)!r}):\n        time.sleep(0.05)\n",
    )
    job.write_steps(slow)
    process = background("run", job.job_file, "--set", "run.executor=ray")
    receipts = lambda: list(job.cache.glob("??/*.json"))
    wait_until(receipts, "a first finished shard", 120)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    finished = len(receipts())
    assert not job.output.exists()
    for receipt in receipts():
        described = json.loads(receipt.read_text())
        assert receipt.with_name(described["file"]).stat().st_size == described["num_bytes"]
    gate.touch()
    run("run", job.job_file)
    assert totals(job)["cached"] >= finished > 0
    assert totals(job)["rows_in"] == 40


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_ends_the_run_in_seconds_and_says_how_to_go_on(job, wait_until, background, number, status):
    blocked = job.steps_file.read_text().replace(
        "    # a comment\n", "    import time\n    while 'doc00' in row['path']:\n        time.sleep(0.05)\n"
    )
    job.write_steps(blocked)
    process = background("run", job.job_file, "--set", "run.executor=ray", "--set", "source.max_shard_bytes=400")
    # A worker has two shards in hand, so the driver knows of the first of four.
    wait_until(lambda: len(list(job.cache.glob("??/*.json"))) >= 4, "four finished shards", 120)
    process.send_signal(number)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == status, errors
    assert "run the same command again" in errors
    report = json.loads((job.report / "report.json").read_text())
    assert report["status"] == "cancelled"
    assert 0 < report["totals"]["complete"] < report["source"]["shards"]
    assert report["totals"]["rows_in"] == report["totals"]["rows_out"] + report["totals"]["filtered"] > 0


def test_two_identical_jobs_at_once_both_end_well_with_one_valid_result(job, background):
    runs = [background("run", job.job_file, "--set", f"output.path={job.path}/out{number}") for number in range(2)]
    for process in runs:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    first, second = (rdx.load_from_disk(job.path / f"out{number}") for number in range(2))
    assert list(first) == list(second)
    assert first.fingerprint == second.fingerprint
    run("verify", job.cache)


def test_an_empty_match_fails_at_once_and_names_the_pattern(job):
    job.settings["source"]["paths"] = [str(job.corpus / "**" / "*.jsonl")]
    job.write_job()
    done = run("run", job.job_file, expect=1)
    assert "*.jsonl" in done.stderr
    assert "Traceback" not in done.stderr


def test_inspect_shows_columns_and_rows_of_a_directory_and_of_a_file(job):
    run("run", job.job_file)
    shown = run("inspect", job.output, "--rows", 1).stdout
    assert "input_ids" in shown
    assert "list<" in shown
    file = next(job.output.glob("*.arrow"))
    assert "path" in run("inspect", file).stdout


def test_hugging_face_opens_the_output_with_equal_rows(job):
    datasets = pytest.importorskip("datasets")
    run("run", job.job_file)
    theirs, ours = datasets.load_from_disk(str(job.output)), rdx.load_from_disk(job.output)
    assert theirs.column_names == ours.column_names
    assert list(theirs) == list(ours)
    assert theirs.features["input_ids"].feature.dtype == "int32"


def test_python_does_the_same_as_the_job(job, monkeypatch):
    run("run", job.job_file)
    monkeypatch.syspath_prepend(str(job.path))
    steps = __import__(job.module)
    dataset = (
        rdx.scan_dataset(str(job.corpus / "**" / "*.txt"), format="text", unit="file", path_column="path",
                         max_shard_bytes="20KB", cache_dir=job.cache)
        .filter(steps.long_enough)
        .map(steps.Tokenize, batched=True, batch_size=4, remove_columns="text")
        .collect()
    )  # fmt: skip
    assert list(dataset) == list(rdx.load_from_disk(job.output))
    assert dataset[-1]["path"] == "part3/doc39.txt"
    assert len(dataset[:3]["input_ids"]) == 3


def test_the_wheel_ships_what_the_report_needs():
    files = {path.name for path in Path(rdx.__file__).parent.joinpath("engine").iterdir()}
    assert "report_page.html" in files
