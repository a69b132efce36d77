"""Files of other formats."""

from __future__ import annotations

import io
import json
import socket
from pathlib import Path

import fsspec
import pandas as pd
import pyarrow.parquet as pq
import pytest

from raydata_ext.engine import Engine
from raydata_ext.errors import StoreError


def test_one_parquet_file_holds_all_rows_in_order(any_dataset, rows, tmp_path):
    path = tmp_path / "new" / "x.parquet"
    assert any_dataset.select([5, 3]).to_parquet(path) == [str(path)]
    assert pq.read_table(path).to_pylist() == [rows[5], rows[3]]
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(("method", "suffix"), [("to_parquet", ".parquet"), ("to_json", ".jsonl"), ("to_csv", ".csv")])
def test_a_directory_gets_as_many_files_as_it_takes(large, tmp_path, method, suffix):
    paths = getattr(large, method)(tmp_path / "out", max_file_bytes="2MB")
    assert paths == [str(tmp_path / "out" / f"data-{n:05d}-of-00004{suffix}") for n in range(4)]
    assert sorted(map(str, (tmp_path / "out").iterdir())) == paths
    again = getattr(large.take(10), method)(tmp_path / "out")
    assert again == [str(tmp_path / "out" / f"data-00000-of-00001{suffix}")]
    assert list(map(str, (tmp_path / "out").iterdir())) == again, "files of the older export are gone"


@pytest.mark.parametrize("method", ["to_parquet", "to_json"])
def test_files_go_to_a_url_as_well(any_dataset, rows, method):
    paths = getattr(any_dataset, method)(f"memory://exports/{method}")
    file_system = fsspec.filesystem("memory")
    assert [f"/exports/{method}/{path.rpartition('/')[2]}" for path in paths] == file_system.ls(
        f"/exports/{method}", detail=False
    )
    (content,) = file_system.cat(file_system.ls(f"/exports/{method}", detail=False)).values()
    read = (
        pq.read_table(io.BytesIO(content)).to_pylist()
        if method == "to_parquet"
        else list(map(json.loads, content.splitlines()))
    )
    assert read == rows


def test_ray_and_the_calling_process_write_the_same(ray_session, large, tmp_path):
    for executor in ("ray", "inline"):
        large.shuffle(seed=1).to_json(tmp_path / executor, max_file_bytes="2MB", executor=executor, workers=1)
    files = [sorted((tmp_path / executor).iterdir()) for executor in ("ray", "inline")]
    assert [path.name for path in files[0]] == [path.name for path in files[1]]
    assert [path.read_bytes() for path in files[0]] == [path.read_bytes() for path in files[1]]


class NotingHomes(Engine):
    """Works in this process, and notes where the pool on Ray would rather do each task."""

    def __init__(self):
        super().__init__("inline")
        self.homes = []

    def run(self, program, tasks, *args):
        self.homes += [task.home for task in tasks]
        return super().run(program, tasks, *args)


@pytest.mark.parametrize(
    ("method", "arguments", "num_tasks"),
    [
        ("save_to_disk", {"max_shard_bytes": "2MB"}, 4),
        ("save_to_disk", {"num_shards": 3}, 3),
        ("to_parquet", {"max_file_bytes": "2MB"}, 4),
        ("to_json", {"max_file_bytes": "2MB"}, 4),
        ("to_csv", {"max_file_bytes": "2MB"}, 4),
        ("to_mds", {"size_limit": "4MB"}, 4),  # one finds the sizes of samples, three write them
        ("to_megatron", {"column": "tokens"}, 2),  # one counts tokens, one writes them
    ],
)
def test_every_task_knows_the_host_that_is_likely_to_have_its_rows(large, tmp_path, method, arguments, num_tasks):
    mapped = large.map(lambda row: {"tokens": [row["n"]]}, executor="inline")
    with NotingHomes() as engine:
        getattr(mapped.remove_columns("tokens") if method == "to_csv" else mapped, method)(
            tmp_path / "out", executor=engine, **arguments
        )
    assert engine.homes == [socket.gethostname()] * num_tasks


def test_the_files_of_a_directory_may_be_compressed(any_dataset, tmp_path):
    (path,) = any_dataset.to_json(tmp_path / "out", compression="gzip")
    assert path.endswith("/data-00000-of-00001.jsonl.gz")
    assert pd.read_json(path, lines=True)["id"].tolist() == list(range(23))


def test_no_rows_are_a_file_with_the_columns(any_dataset, tmp_path):
    empty = any_dataset.select([]).remove_columns("tokens")
    assert pq.read_schema(empty.to_parquet(tmp_path / "x.parquet")[0]).names == ["id", "text"]
    assert Path(empty.to_csv(tmp_path / "x.csv")[0]).read_text() == '"id","text"\n'
    assert Path(empty.to_json(tmp_path / "x.jsonl")[0]).read_bytes() == b""
    assert len(empty.to_parquet(tmp_path / "out")) == 1


def test_a_directory_with_other_files_is_left_alone(any_dataset, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").touch()
    with pytest.raises(StoreError, match=r"holds other files, such as thesis\.tex"):
        any_dataset.to_parquet(tmp_path / "out")
    with pytest.raises(
        StoreError, match=r"is a file; give a directory as the output, or a file that ends in \.parquet"
    ):
        any_dataset.to_parquet(tmp_path / "out" / "thesis.tex")


@pytest.mark.parametrize(
    ("path", "compression", "message"),
    [("x.jsonl.gz", "zstd", "compression is 'zstd', but .*x.jsonl.gz says gzip"), ("out", "rar", "choose one of")],
)
def test_compressions_that_contradict_or_are_not_known_are_refused(dataset, tmp_path, path, compression, message):
    with pytest.raises(ValueError, match=message):
        dataset.to_json(tmp_path / path, compression=compression)


def test_what_hugging_face_writes_by_default_may_be_asked_for_by_its_names(any_dataset, tmp_path):
    (json_file,) = any_dataset.to_json(tmp_path / "x.jsonl", orient="records", lines=True, num_proc=1)
    assert pd.read_json(json_file, lines=True)["id"].tolist() == list(range(23))
    (csv_file,) = any_dataset.remove_columns("tokens").to_csv(tmp_path / "x.csv", index=False, num_proc=1)
    assert pd.read_csv(csv_file).columns.tolist() == ["id", "text"]


@pytest.mark.parametrize(
    ("method", "arguments", "error", "message"),
    [
        ("to_json", {"orient": "split"}, ValueError, r"an object a line.*to_pandas\(\)\.to_json"),
        ("to_json", {"lines": False}, ValueError, r"an object a line.*to_pandas\(\)\.to_json"),
        ("to_csv", {"index": True}, ValueError, r"no index.*to_pandas\(\)\.to_csv"),
        ("to_csv", {"sep": ";"}, TypeError, "it is called delimiter"),
        ("to_csv", {"delimeter": ";"}, TypeError, "delimeter"),
        ("to_parquet", {"batch_size": 10}, TypeError, "leave it out"),
        ("to_parquet", {"compresion": "zstd"}, TypeError, "compresion"),
        ("to_parquet", {"workers": 1, "num_proc": 2}, ValueError, "mean the same"),
    ],
)
def test_other_arguments_are_refused_with_the_remedy_before_a_file_is_made(
    dataset, tmp_path, method, arguments, error, message
):
    with pytest.raises(error, match=message):
        getattr(dataset, method)(tmp_path / "out", **arguments)
    assert not (tmp_path / "out").exists()
