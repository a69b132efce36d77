from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import datasets
import pyarrow as pa
import pytest

from raydata_ext.errors import StoreError
from raydata_ext.store.dataset_directory import (
    data_file_name,
    prepare_dataset_directory,
    read_dataset_directory,
    verify_dataset_directory,
    write_dataset_directory,
)
from raydata_ext.store.huggingface_files import FormatState
from raydata_ext.store.manifest import ShardFile
from raydata_ext.table.ipc_writer import ShardWriter, temporary_name
from raydata_ext.table.metadata import with_huggingface_metadata

FINGERPRINT = "0123456789abcdef0123456789abcdef"

DEAD_PROCESS_ID = 2**22 + 1  # above the highest that Linux gives


def write_shards(path, tables):
    files = []
    for index, table in enumerate(tables):
        name = data_file_name(index, len(tables))
        with ShardWriter(path / name, table.schema) as writer:
            for batch in table.to_batches():
                writer.write(batch)
            summary = writer.finish()
        files.append(ShardFile(name, summary.num_bytes, summary.rows, summary.checksum))
    return files


def write_dataset(path, tables, *, fingerprint=FINGERPRINT, **options):
    prepare_dataset_directory(path)
    return write_dataset_directory(
        path,
        write_shards(path, tables),
        schema=tables[0].schema,
        fingerprint=fingerprint,
        lineage={"sources": ["a.jsonl"]},
        **options,
    )


def number_tables(*counts):
    return [pa.table({"n": range(count), "text": ["x"] * count}) for count in counts]


def test_hugging_face_opens_the_directory_with_equal_rows_and_features(tmp_path):
    table = pa.table(
        {
            "ids": pa.array([[1, 2], None, []], pa.list_(pa.int32())),
            "text": ["a", None, "c"],
            "meta": pa.array([{"b": 1, "a": "x"}, {"b": None, "a": "y"}, None]),
            "label": pa.array([0, 1, 1], pa.int64()),
        }
    )
    features = datasets.Features(
        {
            "ids": datasets.List(datasets.Value("int32")),
            "text": datasets.Value("string"),
            "meta": {"b": datasets.Value("int64"), "a": datasets.Value("string")},
            "label": datasets.ClassLabel(names=["no", "yes"]),
        }
    )
    table = table.replace_schema_metadata(features.arrow_schema.metadata)
    write_dataset(tmp_path / "out", [table.slice(0, 2), table.slice(2)], split="train")
    loaded = datasets.load_from_disk(str(tmp_path / "out"))
    assert loaded.to_list() == table.to_pylist()
    assert loaded.features == features
    assert list(loaded.features["meta"]) == ["b", "a"]
    assert str(loaded.split) == "train"


def test_the_two_json_files_are_byte_for_byte_those_of_hugging_face(tmp_path):
    theirs = datasets.Dataset.from_dict({"b": [1, 2], "a": [{"z": "x", "c": [1.5]}, None]})
    theirs.save_to_disk(str(tmp_path / "theirs"))
    schema = with_huggingface_metadata(theirs.data.schema)
    prepare_dataset_directory(tmp_path / "ours")
    table = theirs.data.table.cast(schema)
    files = write_shards(tmp_path / "ours", [table])
    write_dataset_directory(tmp_path / "ours", files, schema=schema, fingerprint=theirs._fingerprint, lineage={})
    for name in ("state.json", "dataset_info.json"):
        assert (tmp_path / "ours" / name).read_bytes() == (tmp_path / "theirs" / name).read_bytes()


def test_hugging_face_takes_over_the_format_and_gives_it_back(tmp_path):
    shown = FormatState(type="numpy", columns=("n",), kwargs={}, output_all_columns=True)
    write_dataset(tmp_path / "ours", number_tables(2), format=shown)
    loaded = datasets.load_from_disk(str(tmp_path / "ours"))
    assert loaded.format["type"] == "numpy"
    assert loaded.format["columns"] == ["n"]
    loaded.save_to_disk(str(tmp_path / "theirs"))
    assert read_dataset_directory(tmp_path / "theirs").format == shown
    assert read_dataset_directory(tmp_path / "ours").format == shown


def test_a_directory_is_read_as_it_was_written(tmp_path):
    tables = number_tables(3, 0, 2)
    written = write_dataset(tmp_path / "out", tables, split="test")
    found = read_dataset_directory(tmp_path / "out")
    assert found == written
    assert [file.name for file in found.files] == [f"data-0000{i}-of-00003.arrow" for i in range(3)]
    assert [file.rows for file in found.files] == [3, 0, 2]
    assert found.fingerprint == FINGERPRINT
    assert found.schema.equals(tables[0].schema, check_metadata=True)
    assert found.split == "test"
    assert found.manifest.rows == 5
    assert found.manifest.num_bytes == sum(file.num_bytes for file in found.files)
    assert found.manifest.lineage == {"sources": ["a.jsonl"]}
    assert Path(found.file_path(found.files[2])).stat().st_size == found.files[2].num_bytes


def test_a_directory_of_hugging_face_is_read(tmp_path):
    theirs = datasets.Dataset.from_dict({"a": range(10)}, split="validation")
    theirs.save_to_disk(str(tmp_path / "theirs"), num_shards=3)
    found = read_dataset_directory(tmp_path / "theirs")
    assert [file.name for file in found.files] == [data_file_name(i, 3) for i in range(3)]
    assert all(file.num_bytes > 0 and file.rows is None and file.checksum is None for file in found.files)
    assert found.fingerprint == theirs._fingerprint
    assert found.split == "validation"
    assert found.manifest is None
    assert list(verify_dataset_directory(tmp_path / "theirs")) == []


def test_a_moved_directory_is_still_complete(tmp_path):
    write_dataset(tmp_path / "a", number_tables(3))
    (tmp_path / "a").rename(tmp_path / "b")
    assert read_dataset_directory(tmp_path / "b").fingerprint == FINGERPRINT
    assert datasets.load_from_disk(str(tmp_path / "b"))["n"][:] == [0, 1, 2]


def test_a_dataset_dict_is_refused_with_the_names_of_its_splits(tmp_path):
    one = datasets.Dataset.from_dict({"a": [1]})
    datasets.DatasetDict({"train": one, "test": one}).save_to_disk(str(tmp_path / "splits"))
    with pytest.raises(StoreError, match=r"DatasetDict with the splits train, test.*splits/train"):
        read_dataset_directory(tmp_path / "splits")
    assert len(read_dataset_directory(tmp_path / "splits" / "train").files) == 1


def test_a_path_that_is_no_dataset_says_so(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(StoreError, match=r"empty: there is no state\.json"):
        read_dataset_directory(tmp_path / "empty")
    with pytest.raises(StoreError, match="no such directory"):
        read_dataset_directory(tmp_path / "nowhere")


def test_a_missing_shard_is_named(tmp_path):
    written = write_dataset(tmp_path / "out", number_tables(3, 2))
    Path(written.file_path(written.files[1])).unlink()
    with pytest.raises(StoreError, match=r"data-00001-of-00002\.arrow.*is missing"):
        read_dataset_directory(tmp_path / "out")


def test_a_shard_of_another_size_is_named(tmp_path):
    written = write_dataset(tmp_path / "out", number_tables(3, 2))
    os.truncate(written.file_path(written.files[0]), 10)
    with pytest.raises(StoreError, match=r"data-00000-of-00002\.arrow has 10 bytes, not \d+ as manifest\.json says"):
        read_dataset_directory(tmp_path / "out")


@pytest.mark.parametrize("name", ["../secret.arrow", "/etc/passwd", "a/../../b.arrow", "", None, "a\\b", "a\0b"])
@pytest.mark.parametrize("which", ["manifest.json", "state.json"])
def test_a_name_that_leads_out_of_the_directory_is_refused(tmp_path, name, which):
    write_dataset(tmp_path / "out", number_tables(3))
    content = json.loads((tmp_path / "out" / which).read_text())
    if which == "state.json":
        (tmp_path / "out" / "manifest.json").unlink()
        content["_data_files"][0]["filename"] = name
    else:
        content["shards"][0]["name"] = name
    (tmp_path / "out" / which).write_text(json.dumps(content))
    with pytest.raises(StoreError, match=r"leads out of the directory|is not the name of a file"):
        read_dataset_directory(tmp_path / "out")


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "{}", '{"version": 1}', '{"version": 7}'])
@pytest.mark.parametrize("which", ["manifest.json", "state.json"])
def test_a_damaged_json_file_is_a_store_error_that_names_the_directory(tmp_path, which, text):
    write_dataset(tmp_path / "out", number_tables(3))
    (tmp_path / "out" / which).write_text(text)
    with pytest.raises(StoreError, match=rf"{tmp_path}/out: .*{which}"):
        read_dataset_directory(tmp_path / "out")


def test_a_crash_before_the_manifest_leaves_no_dataset(tmp_path):
    prepare_dataset_directory(tmp_path / "out")
    write_shards(tmp_path / "out", number_tables(3, 2))
    with pytest.raises(StoreError, match=r"there is no state\.json"):
        read_dataset_directory(tmp_path / "out")
    write_dataset(tmp_path / "out", number_tables(3, 2))
    assert read_dataset_directory(tmp_path / "out").fingerprint == FINGERPRINT


def test_an_older_dataset_is_replaced_without_leftovers(tmp_path):
    old = write_dataset(tmp_path / "out", number_tables(1, 1, 1), fingerprint="old")
    with Path(old.file_path(old.files[0])).open("rb") as reader:
        write_dataset(tmp_path / "out", number_tables(5), fingerprint="new")
        assert len(reader.read()) == old.files[0].num_bytes
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "data-00000-of-00001.arrow",
        "dataset_info.json",
        "manifest.json",
        "state.json",
    ]
    assert datasets.load_from_disk(str(tmp_path / "out")).num_rows == 5


def test_an_older_dataset_stops_counting_before_its_files_are_touched(tmp_path):
    write_dataset(tmp_path / "out", number_tables(1, 1))
    prepare_dataset_directory(tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [data_file_name(0, 2), data_file_name(1, 2)]
    with pytest.raises(StoreError):
        read_dataset_directory(tmp_path / "out")


def test_a_directory_with_other_files_is_left_alone(tmp_path):
    write_dataset(tmp_path / "out", number_tables(1))
    (tmp_path / "out" / "thesis.tex").write_text("precious")
    with pytest.raises(StoreError, match=r"thesis\.tex.*give a new or empty directory"):
        prepare_dataset_directory(tmp_path / "out")
    assert read_dataset_directory(tmp_path / "out").fingerprint == FINGERPRINT


def test_a_file_in_the_place_of_the_directory_is_left_alone(tmp_path):
    (tmp_path / "out").write_text("precious")
    with pytest.raises(StoreError, match="is a file"):
        prepare_dataset_directory(tmp_path / "out")


def test_temporary_files_of_dead_processes_go_and_those_of_living_ones_stay(tmp_path):
    prepare_dataset_directory(tmp_path)
    alive = temporary_name(tmp_path / "data-00000-of-00009.arrow")
    dead = alive.with_name(alive.name.replace(f".{os.getpid()}.", f".{DEAD_PROCESS_ID}."))
    alive.touch()
    dead.touch()
    write_dataset(tmp_path, number_tables(1))
    assert alive.exists()
    assert not dead.exists()


def test_the_manifest_of_an_older_dataset_is_not_used_after_hugging_face_wrote_over_it(tmp_path):
    write_dataset(tmp_path / "out", number_tables(1, 1))
    datasets.Dataset.from_dict({"b": [7, 8]}).save_to_disk(str(tmp_path / "out"))
    found = read_dataset_directory(tmp_path / "out")
    assert found.manifest is None
    assert [file.name for file in found.files] == [data_file_name(0, 1)]


def test_a_flipped_byte_is_found_by_verification(tmp_path, flip_byte):
    written = write_dataset(tmp_path / "out", number_tables(3, 2))
    assert list(verify_dataset_directory(tmp_path / "out")) == []
    flip_byte(written.file_path(written.files[1]))
    ((file, problem),) = verify_dataset_directory(tmp_path / "out")
    assert file.name == "data-00001-of-00002.arrow"
    assert "checksum" in str(problem)


def test_a_wrong_row_count_in_the_manifest_is_found_by_verification(tmp_path):
    write_dataset(tmp_path / "out", number_tables(3))
    manifest = tmp_path / "out" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"rows": 3', '"rows": 4'))
    ((_, problem),) = verify_dataset_directory(tmp_path / "out")
    assert "has 3 rows, not 4" in str(problem)


def test_a_shard_that_was_never_written_cannot_be_named(tmp_path):
    prepare_dataset_directory(tmp_path / "out")
    files = write_shards(tmp_path / "out", number_tables(3))
    (tmp_path / "out" / files[0].name).unlink()
    with pytest.raises(StoreError, match="is missing"):
        write_dataset_directory(tmp_path / "out", files, schema=pa.schema([]), fingerprint="f", lineage={})
    assert not (tmp_path / "out" / "manifest.json").exists()


@pytest.mark.parametrize("files", [[], [ShardFile("a.arrow", 3)], [ShardFile("a.arrow", 3, 1)]])
def test_files_without_rows_and_checksum_are_refused(tmp_path, files):
    with pytest.raises(ValueError, match="shard file"):
        write_dataset_directory(tmp_path, files, schema=pa.schema([]), fingerprint="f", lineage={})


def test_a_dataset_without_rows_is_written_and_opened(tmp_path):
    write_dataset(tmp_path / "out", number_tables(0))
    loaded = datasets.load_from_disk(str(tmp_path / "out"))
    assert loaded.num_rows == 0
    assert loaded.column_names == ["n", "text"]


def test_a_type_without_a_feature_does_not_lose_the_dataset(tmp_path, warnings):
    table = pa.table({"between": pa.array([(1, 2, 3)], pa.month_day_nano_interval())})
    write_dataset(tmp_path / "out", [table])
    assert read_dataset_directory(tmp_path / "out").schema.equals(table.schema)
    assert any("holds no features" in text for text in warnings())


def test_two_processes_that_write_the_same_output_leave_one_complete_dataset(tmp_path):
    program = """
import sys, pathlib
import pyarrow as pa
from raydata_ext.store.dataset_directory import *
from raydata_ext.store.manifest import ShardFile
from raydata_ext.table.ipc_writer import ShardWriter
path = pathlib.Path(sys.argv[1])
for _ in range(20):
    prepare_dataset_directory(path)
    files = []
    for i in range(3):
        table = pa.table({"n": range(i, i + 100)})
        writer = ShardWriter(path / data_file_name(i, 3), table.schema)
        writer.write(table.to_batches()[0])
        done = writer.finish()
        files.append(ShardFile(data_file_name(i, 3), done.num_bytes, done.rows, done.checksum))
    write_dataset_directory(path, files, schema=table.schema, fingerprint="f", lineage={}, sync=False)
"""
    started = [subprocess.Popen([sys.executable, "-c", program, str(tmp_path / "out")]) for _ in range(2)]
    assert [process.wait(timeout=60) for process in started] == [0, 0]
    assert read_dataset_directory(tmp_path / "out").fingerprint == "f"
    assert list(verify_dataset_directory(tmp_path / "out")) == []
