"""Ray Data both ways."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import raydata_ext as rdx
from raydata_ext.dataset import Dataset

pytestmark = pytest.mark.usefixtures("ray_session")


@pytest.fixture
def ray_data(ray_session):
    import ray.data

    ray.data.DataContext.get_current().enable_progress_bars = False
    return ray.data


def test_ray_data_reads_the_rows_in_their_order(ray_data, any_dataset):
    context = ray_data.DataContext.get_current()
    before, context.execution_options.preserve_order = context.execution_options.preserve_order, True
    try:
        ray_dataset = any_dataset.select([5, 3, 20]).to_ray_dataset()
        assert [row["text"] for row in ray_dataset.take_all()] == ["row 5", "row 3", "row 20"]
    finally:
        context.execution_options.preserve_order = before


def test_each_shard_is_read_by_one_task_of_which_ray_knows_rows_and_columns(ray_data, dataset):
    from raydata_ext.dataset.ray_data import ShardDatasource

    source = ShardDatasource(dataset.shards, dataset.schema)
    tasks = source.get_read_tasks(100)
    assert [task.metadata.num_rows for task in tasks] == [7, 12, 4]
    assert [sum(block.num_rows for block in task()) for task in tasks] == [7, 12, 4]
    ray_dataset = dataset.to_ray_dataset()
    assert ray_dataset.count() == 23
    assert ray_dataset.columns() == dataset.column_names


def test_blocks_are_views_of_the_mapped_file(dataset):
    from raydata_ext.dataset.ray_data import ShardDatasource

    task = ShardDatasource(dataset.shards, dataset.schema).get_read_tasks(1)[0]
    before = pa.total_allocated_bytes()
    blocks = list(task())
    assert pa.total_allocated_bytes() == before
    assert blocks[0].column("id").to_pylist() == list(range(7))


def test_a_pipeline_goes_through_both(ray_data, dataset, tmp_path):
    ours = dataset.map(lambda row: {"n": row["id"] + 1})
    theirs = ours.to_ray_dataset().map_batches(lambda batch: {"m": batch["n"] * 2})
    back = rdx.from_ray_dataset(theirs, cache_dir=tmp_path / "back")
    assert list(back["m"]) == [2 * (number + 1) for number in range(23)]
    assert back.filter(lambda row: row["m"] > 40)["m"] == [42, 44, 46]


def test_rows_of_ray_data_come_in_their_order_and_lie_in_the_cache(ray_data, tmp_path):
    made = ray_data.range(1000, override_num_blocks=7).map(lambda row: {"id": row["id"], "text": f"{row['id']}"})
    dataset = rdx.from_ray_dataset(made, cache_dir=tmp_path / "cache")
    assert list(dataset["id"]) == list(range(1000))
    assert dataset[-1] == {"id": 999, "text": "999"}
    assert all(str(tmp_path / "cache") in file["filename"] for file in dataset.cache_files)
    assert made.context.execution_options.preserve_order is False, "the user's settings are as they were"
    again = rdx.from_ray_dataset(made, cache_dir=tmp_path / "cache")
    assert again.fingerprint == dataset.fingerprint
    assert again.map(lambda row: {"n": row["id"]})["n"][5] == 5


def test_tensors_become_lists(ray_data, tmp_path):
    made = ray_data.from_numpy(np.arange(12).reshape(3, 2, 2))
    dataset = rdx.from_ray_dataset(made, cache_dir=tmp_path)
    assert dataset.to_list() == [{"data": [[4 * n, 4 * n + 1], [4 * n + 2, 4 * n + 3]]} for n in range(3)]


def test_python_objects_are_refused_since_they_would_be_pickles(ray_data, tmp_path):
    made = ray_data.range(2).map(lambda row: {"o": complex(1, 2)})
    with pytest.raises(Exception, match="column 'o' holds Python objects"):
        rdx.from_ray_dataset(made, cache_dir=tmp_path)


def test_no_rows_keep_their_columns(ray_data, any_dataset, tmp_path):
    empty = ray_data.from_arrow(pa.table({"a": pa.array([], pa.int32())}))
    dataset = rdx.from_ray_dataset(empty, cache_dir=tmp_path)
    assert (len(dataset), dataset.schema.names) == (0, ["a"])
    assert any_dataset.select([]).to_ray_dataset().count() == 0


def test_types_that_differ_between_blocks_are_widened(ray_data, tmp_path):
    made = ray_data.from_arrow([pa.table({"a": [1]}), pa.table({"a": [0.5], "b": ["x"]})])
    dataset = rdx.from_ray_dataset(made, cache_dir=tmp_path)
    assert dataset.to_list() == [{"a": 1.0, "b": None}, {"a": 0.5, "b": "x"}]


def test_a_data_set_in_memory_needs_no_files_for_ray_data(ray_data, tmp_path):
    dataset = Dataset.from_dict({"a": [1, 2, 3]}, cache_dir=tmp_path / "cache")
    assert dataset.to_ray_dataset().sum("a") == 6
    assert not (tmp_path / "cache").exists()
