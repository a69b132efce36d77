"""The rows of a generator, kept like any result."""

from __future__ import annotations

import pyarrow as pa
import pytest

from raydata_ext.dataset import Dataset
from raydata_ext.errors import SchemaError


def count_up(files, step=1):
    for file in files:
        for number in range(3):
            yield {"file": file, "n": step * number}


def test_a_generator_is_called_once_for_each_shard_and_not_again(tmp_path):
    calls = tmp_path / "calls"

    def numbers(files):
        with calls.open("a") as log:
            log.write(f"{files[0]} ")
        yield from ({"file": file, "n": number} for file in files for number in range(2))

    for _ in range(2):
        dataset = Dataset.from_generator(
            numbers, gen_kwargs={"files": ["a", "b"]}, version="1", cache_dir=tmp_path / "cache", executor="inline"
        )
    assert dataset.to_list() == [{"file": file, "n": number} for file in "ab" for number in range(2)]
    assert calls.read_text() == "a b "


def test_a_generator_runs_again_for_other_arguments_or_another_schema(tmp_path):
    made = [
        Dataset.from_generator(count_up, gen_kwargs={"files": ["a"], **more}, schema=schema, cache_dir=tmp_path)
        for more, schema in (
            ({}, None),
            ({"step": 2}, None),
            ({}, pa.schema([("n", pa.int8()), ("file", pa.string())])),
        )
    ]
    assert [list(one["n"]) for one in made] == [[0, 1, 2], [0, 2, 4], [0, 1, 2]]
    assert len({one.fingerprint for one in made}) == 3
    assert made[2].schema.types == [pa.int8(), pa.string()]


def test_generators_run_on_ray(ray_session, tmp_path):
    arguments = {"gen_kwargs": {"files": ["a", "b"]}, "num_proc": 1}
    on_ray = Dataset.from_generator(count_up, **arguments, cache_dir=tmp_path / "ray")
    inline = Dataset.from_generator(count_up, **arguments, executor="inline", cache_dir=tmp_path / "inline")
    assert on_ray.to_list() == inline.to_list()


@pytest.mark.parametrize("gen_kwargs", [{"files": ["a"], "step": [1, 2]}, {"files": []}])
def test_lists_of_shards_must_fit_together(tmp_path, gen_kwargs):
    with pytest.raises(ValueError, match="gen_kwargs"):
        Dataset.from_generator(count_up, gen_kwargs=gen_kwargs, cache_dir=tmp_path)


def test_an_error_of_a_generator_names_it(tmp_path):
    def broken():
        yield {"a": 1}
        raise RuntimeError("no more")

    with pytest.raises(Exception, match=r"generator broken\[0\]: RuntimeError: no more"):
        Dataset.from_generator(broken, cache_dir=tmp_path)


def test_rows_of_a_generator_that_do_not_go_together_are_named(tmp_path):
    with pytest.raises(SchemaError, match=r"generator .*\[0\]: rows from 0 on: .*'a'"):
        Dataset.from_generator(lambda: iter([{"a": 1}, {"a": "x"}]), cache_dir=tmp_path)


def test_a_generator_of_no_rows_gives_no_rows(tmp_path):
    schema = pa.schema([("a", pa.int64())])
    empty = Dataset.from_generator(lambda: iter(()), schema=schema, cache_dir=tmp_path)
    assert (len(empty), empty.schema.names) == (0, ["a"])
    assert len(Dataset.from_generator(lambda: iter(()), cache_dir=tmp_path)) == 0
