"""Types of columns in a job file: of the source, of the result of a step, and by a cast."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

import raydata_ext as rdx
from raydata_ext.errors import SchemaError
from raydata_ext.job import read_job_file, run_job

STEPS = """
def measure(row):
    return {"size": len(row["text"]), "first": row["tags"][:1] if row["tags"] else None}
"""


@pytest.fixture
def typed(job):
    """The job over JSON lines of which only the last has tags."""
    rows = [{"id": 1, "text": "one"}, {"id": 2, "text": "two", "tags": ["a", "b"]}]
    (job.path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf8")
    job.write_steps(STEPS)
    job.settings["source"] = {"paths": ["rows.jsonl"], "schema": {"id": "int32", "text": "string", "tags": ["string"]}}
    job.settings["steps"] = []
    return job


def schema_of(job):
    job.write_job()
    run_job(read_job_file(job.job_file))
    return rdx.load_from_disk(job.output).schema.remove_metadata()


def test_the_source_has_the_types_that_the_job_names(typed):
    assert schema_of(typed) == pa.schema({"id": pa.int32(), "text": pa.string(), "tags": pa.list_(pa.string())})


def test_a_step_and_a_cast_give_the_types_that_they_name(typed):
    result = {"id": "int64", "text": "large_string", "tags": ["string"], "size": "int16", "first": ["string"]}
    typed.settings["steps"] = [{"map": {"function": f"{typed.module}:measure", "schema": result}}]
    kept = schema_of(typed)
    assert (kept.field("size").type, kept.field("text").type) == (pa.int16(), pa.large_string())
    typed.settings["steps"].append({"cast": {**result, "size": "float32"}})
    assert schema_of(typed) == kept.set(3, pa.field("size", pa.float32()))


def test_a_type_that_is_none_is_refused_by_name(typed):
    typed.settings["source"]["schema"]["tags"] = ["strnig"]
    with pytest.raises(SchemaError, match=r"tags.*strnig"):
        schema_of(typed)
