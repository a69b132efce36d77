"""A job file that is right is read as it says; one that is wrong is refused with line, key and what is expected."""

from __future__ import annotations

import sysconfig
import textwrap

import pytest

from raydata_ext.errors import JobFileError
from raydata_ext.job import read_job_file

SOUND = """
name: small
source:
  paths: [corpus/*.jsonl]
  format: jsonl
  max_shard_bytes: 2MB
steps:
  - filter: {function: "steps:keep"}
  - map: {function: "steps:Tokenize", batched: true}
output: {path: out}
run:
  workers: {min: 1, max: 4}
"""


@pytest.fixture
def job_file(tmp_path):
    def write(text):
        path = tmp_path / "job.yaml"
        path.write_text(textwrap.dedent(text), encoding="utf8")
        return path

    return write


def test_every_section_is_read_and_sizes_are_bytes(job_file):
    job = read_job_file(job_file(SOUND))
    assert (job.name, job.source.paths, job.source.max_shard_bytes) == ("small", ["corpus/*.jsonl"], 2_000_000)
    assert job.steps[0].filter.function == "steps:keep"
    assert (job.steps[1].map.batched, job.steps[1].map.batch_size) == (True, 1000)
    assert (job.output.path, job.run.workers.max, job.run.on_error) == ("out", 4, "raise")


def test_settings_replace_what_the_file_says_at_any_depth(job_file):
    overrides = ["run.workers.max=8", "steps.1.map.batch_size=null", "source.format=text", "run.on_error=quarantine"]
    job = read_job_file(job_file(SOUND), overrides)
    assert (job.run.workers.max, job.steps[1].map.batch_size) == (8, None)
    assert (job.source.format, job.run.on_error) == ("text", "quarantine")


def test_variables_stand_for_the_environment_and_the_standard_library(job_file, monkeypatch):
    monkeypatch.setenv("CORPUS", "/data/größe")
    text = SOUND.replace("corpus/*.jsonl", "'${CORPUS}/*.jsonl'").replace("out}", "'${stdlib}/out'}")
    job = read_job_file(job_file(text))
    assert job.source.paths == ["/data/größe/*.jsonl"]
    assert job.output.path == f"{sysconfig.get_paths()['stdlib']}/out"


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("format: jsonl", "format: jsonlines", r"line 5: source\.format: .*unknown format 'jsonlines'"),
        ("format: jsonl", "fromat: jsonl", r"line 5: source\.fromat: unknown key; the keys here are .*'format'"),
        ("max_shard_bytes: 2MB", "max_shard_bytes: much", r"line 6: source\.max_shard_bytes: .*256MB"),
        ("  - filter:", "  - filtre:", r"line 8: steps\[0\]\.filtre: unknown key; the keys here are .*'filter'"),
        ("  format: jsonl", "  schema: [id]", r"line 5: source\.schema: .*types by column"),
        ("batched: true", "batchd: true", r"unknown key; the keys here are .*'schema'"),
        ("batched: true", "batched: perhaps", r"line 9: steps\[1\]\.map\.batched: .*batches in place of rows"),
        ("output: {path: out}", "output: {}", r"line 10: output\.path: .*directory, file or prefix"),
        ("output: {path: out}", "", r"line 1: output: .*where the result goes"),
        ("min: 1, max: 4", "min: 0", r"line 12: run\.workers\.min: .*workers at least"),
        ("run:\n", "run:\n  on_error: ignore\n", r"line 12: run\.on_error: .*raise or quarantine"),
    ],
)
def test_what_is_wrong_is_named_with_its_line_key_and_meaning(job_file, before, after, message):
    assert before in SOUND
    path = job_file(SOUND.replace(before, after))
    with pytest.raises(JobFileError, match=message) as caught:
        read_job_file(path)
    assert str(path) in str(caught.value)


def test_all_that_is_wrong_is_said_at_once(job_file):
    with pytest.raises(JobFileError) as caught:
        read_job_file(job_file(SOUND.replace("name: small", "nmae: small").replace("2MB", "much")))
    assert [text in str(caught.value) for text in ("name", "nmae", "max_shard_bytes")] == [True, True, True]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1", "not YAML"),
        ("- 1\n- 2", "a job file is a mapping"),
        ("", "a job file is a mapping"),
        (SOUND.replace("path: out", 'path: "${NO_SUCH_VARIABLE}"'), "no environment variable NO_SUCH_VARIABLE"),
        (SOUND.replace("- filter:", "- select_columns: [a]\n    filter:"), r"a step is exactly one of .*'map'"),
    ],
)
def test_a_file_that_is_no_job_is_refused(job_file, text, message):
    with pytest.raises(JobFileError, match=message):
        read_job_file(job_file(text))


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("run.workers", "expected is key.path=value"),
        ("=3", "expected is key.path=value"),
        ("steps.7.map.batched=true", "there is no '7'"),
        ("name.x=3", "there is no 'x' in 'small'"),
        ("run.colour=red", r"run\.colour: unknown key"),
    ],
)
def test_a_setting_that_fits_nowhere_is_refused(job_file, override, message):
    with pytest.raises(JobFileError, match=message):
        read_job_file(job_file(SOUND), [override])


def test_a_missing_file_and_one_that_is_not_text_are_named(tmp_path):
    with pytest.raises(JobFileError, match=r"none\.yaml: cannot be read: No such file"):
        read_job_file(tmp_path / "none.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"name: caf\xe9\n")
    with pytest.raises(JobFileError, match=r"latin\.yaml: not YAML"):
        read_job_file(tmp_path / "latin.yaml")
