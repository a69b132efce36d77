"""How rows are handed out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from raydata_ext import load_from_disk
from raydata_ext.dataset import Dataset


def test_numpy_rows_batches_and_columns(any_dataset):
    formatted = any_dataset.with_format("numpy")
    assert formatted[3]["id"] == np.int64(3)
    assert formatted[3]["tokens"].tolist() == [0, 1, 2]
    assert formatted[2:5]["id"].tolist() == formatted[[2, 3, 4]]["id"].tolist() == [2, 3, 4]
    assert formatted["id"].dtype == np.int64
    assert formatted["id"].tolist() == list(range(23))
    assert [row["id"] for row in formatted] == list(range(23))
    assert [batch["id"].sum() for batch in formatted.iter(10)] == [45, 145, 63]
    assert any_dataset[0]["tokens"] == [], "the data set itself is as it was"


def test_numbers_of_one_record_batch_are_views_of_the_file(dataset):
    batch = dataset.with_format("numpy")[0:5]["id"]
    assert batch.ctypes.data == dataset.to_arrow().column("id").chunk(0).buffers()[1].address


def test_arrow_and_pandas(any_dataset):
    assert any_dataset.with_format("arrow")[[1, -1]].column("id").to_pylist() == [1, 22]
    assert any_dataset.with_format("arrow")[4].to_pylist() == [any_dataset[4]]
    assert isinstance(any_dataset.with_format("arrow")["id"], pa.ChunkedArray)
    frame = any_dataset.with_format("pandas")[:3]
    assert isinstance(frame, pd.DataFrame)
    assert frame["text"].tolist() == ["row 0", "row 1", "row 2"]


def test_only_chosen_columns_are_shown_in_their_order(any_dataset):
    shown = any_dataset.with_format(columns=["text", "id"])
    assert shown[1] == {"text": "row 1", "id": 1}
    assert list(shown[1]) == list(next(iter(shown))) == list(shown[:1]) == ["text", "id"]
    assert shown.column_names == ["id", "text", "tokens"], "the others are still there"
    assert shown["tokens"][3] == [0, 1, 2]
    assert shown.map(lambda row: {"n": len(row["tokens"])})[3] == {"text": "row 3", "id": 3, "n": 3}


def test_the_other_columns_may_follow_as_plain_python(dataset):
    shown = dataset.with_format("numpy", columns=["tokens"], output_all_columns=True)
    assert list(shown[3]) == ["tokens", "id", "text"]
    assert isinstance(shown[3]["tokens"], np.ndarray)
    assert type(shown[3]["id"]) is int
    assert type(shown["id"][3]) is int
    assert list(dataset.with_format(columns=["text"], output_all_columns=True)[0]) == ["text", "id", "tokens"]


def test_the_format_can_be_changed_in_place_and_back(dataset):
    dataset.set_format("numpy", columns=["id"], dtype=np.float32)
    assert dataset[1]["id"].dtype == np.float32
    assert dataset.format == {
        "type": "numpy",
        "format_kwargs": {"dtype": np.float32},
        "columns": ["id"],
        "output_all_columns": False,
    }
    dataset.reset_format()
    assert dataset[1] == {"id": 1, "text": "row 1", "tokens": [0]}
    assert dataset.format == {
        "type": None,
        "format_kwargs": {},
        "columns": dataset.column_names,
        "output_all_columns": False,
    }


def test_the_format_can_be_changed_for_a_block(dataset):
    with dataset.formatted_as("numpy"):
        assert isinstance(dataset[3]["tokens"], np.ndarray)
    assert dataset[3]["tokens"] == [0, 1, 2]


def test_the_format_of_a_block_ends_with_an_error_too(dataset):
    with pytest.raises(KeyError), dataset.formatted_as("numpy"):
        dataset["body"]
    assert dataset[3]["tokens"] == [0, 1, 2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"type": "tensorflow"}, "no format 'tensorflow'"),
        ({"type": "numpy", "columns": ["body"]}, "there is no column 'body'"),
    ],
)
def test_a_format_or_column_that_is_not_there_is_refused_and_changes_nothing(dataset, arguments, message):
    with pytest.raises(ValueError, match=message):
        dataset.set_format(**arguments)
    assert dataset[0] == {"id": 0, "text": "row 0", "tokens": []}


def test_an_option_that_the_format_does_not_have_is_refused(dataset):
    with pytest.raises(TypeError, match="has no option 'device'"):
        dataset.with_format("numpy", device="cpu")


def test_the_format_goes_along_when_rows_and_columns_are_chosen(dataset):
    formatted = dataset.with_format("numpy", columns=["id", "tokens"])
    assert formatted.shuffle(seed=0).format == formatted.format
    assert formatted.rename_column("id", "number").format["columns"] == ["number", "tokens"]
    assert formatted.remove_columns("tokens").format["columns"] == ["id"]
    assert formatted.select_columns(["text", "id"]).format["columns"] == ["id"]
    assert formatted.filter(lambda row: row["id"] > 3).format == formatted.format
    assert formatted.add_column("n", range(23)).format["columns"] == ["id", "tokens", "n"], "as in Hugging Face"


def test_a_batched_function_is_given_batches_in_the_format(dataset):
    doubled = dataset.with_format("numpy").map(lambda batch: {"id": batch["id"] * 2}, batched=True, batch_size=10)
    assert doubled.format["type"] == "numpy"
    assert doubled["id"].tolist() == [number * 2 for number in range(23)]
    assert dataset.with_format("numpy").filter(lambda batch: batch["id"] % 2 == 0, batched=True)["id"].tolist() == [
        *range(0, 23, 2)
    ]


def test_the_format_is_saved_with_the_data_set(dataset, tmp_path):
    dataset.with_format("numpy", columns=["id"], dtype=np.int16).save_to_disk(tmp_path / "out")
    loaded = load_from_disk(tmp_path / "out")
    assert loaded[5]["id"].dtype == np.int16
    assert list(loaded[5]) == ["id"]


def test_an_option_that_cannot_be_stored_is_named_before_anything_is_written(dataset, tmp_path):
    torch = pytest.importorskip("torch")
    formatted = dataset.with_format("torch", dtype=torch.float16)
    with pytest.raises(ValueError, match=r"dtype=torch.float16 of the format cannot be stored; call reset_format\(\)"):
        formatted.save_to_disk(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_torch_rows_and_batches_follow_the_rules_that_users_know(any_dataset):
    torch = pytest.importorskip("torch")
    formatted = any_dataset.with_format("torch", columns=["id", "tokens"])
    assert torch.equal(formatted[:3]["id"], torch.tensor([0, 1, 2]))
    assert formatted[3]["tokens"].dtype == torch.int64
    assert isinstance(formatted[:3]["tokens"], list), "ragged lists are a list of tensors"


def loaded_ids(dataset, start_method, num_workers):
    torch = pytest.importorskip("torch")
    loader = torch.utils.data.DataLoader(
        dataset.with_format("torch", columns=["id"]),
        batch_size=5,
        num_workers=num_workers,
        multiprocessing_context=start_method,
    )
    return torch.cat([batch["id"] for batch in loader]).tolist()


def test_the_loader_of_torch_reads_in_forked_processes(any_dataset):
    shuffled = any_dataset.shuffle(seed=3)
    assert loaded_ids(shuffled, "fork", 2) == list(shuffled["id"])


def test_the_loader_of_torch_reads_in_spawned_processes(dataset):
    shuffled = dataset.shuffle(seed=3)
    assert loaded_ids(shuffled, "spawn", 1) == list(shuffled["id"])


def test_a_format_of_hugging_face_alone_is_left_out_with_a_warning(dataset, tmp_path, caplog):
    dataset.save_to_disk(tmp_path / "out")
    state = tmp_path / "out" / "state.json"
    state.write_text(state.read_text().replace('"_format_type": null', '"_format_type": "jax"'))
    assert load_from_disk(tmp_path / "out")[0]["id"] == 0
    assert "there is no format 'jax'" in caplog.text


def test_in_memory_data_sets_have_formats_too():
    dataset = Dataset.from_dict({"n": [1, 2]}).with_format("numpy")
    assert dataset[:]["n"].sum() == 3


def shouted(batch):
    return {"loud": [text.upper() for text in batch["text"]], "of": [len(batch["text"])] * len(batch["text"])}


def test_a_function_may_make_rows_when_they_are_looked_at(any_dataset):
    loud = any_dataset.with_transform(shouted)
    assert loud[-1] == {"loud": "ROW 22", "of": 1}
    assert loud[[3, 1]] == loud.select([3, 1])[:] == {"loud": ["ROW 3", "ROW 1"], "of": [2, 2]}
    assert [row["loud"] for row in loud] == [f"ROW {number}" for number in range(23)]
    assert next(loud.iter(4)) == {"loud": [f"ROW {number}" for number in range(4)], "of": [4] * 4}
    assert loud.__getitems__([2, 0]) == [{"loud": "ROW 2", "of": 2}, {"loud": "ROW 0", "of": 2}]
    assert loud["text"][:2] == ["row 0", "row 1"]
    assert loud.map(lambda row: {"n": len(row["text"])}).with_format(None)["n"][0] == 5
    assert loud.map(lambda batch: {"n": batch["id"]}, batched=True).reset_format() is None


def test_a_transform_is_set_in_place_and_taken_away(dataset):
    dataset.set_transform(shouted, columns="text")
    assert dataset[0]["loud"] == "ROW 0"
    assert dataset.format["type"] == "custom"
    with pytest.raises(ValueError, match=r"option transform=.* cannot be stored"):
        dataset.save_to_disk("nowhere")
    dataset.reset_format()
    assert dataset[0]["text"] == "row 0"


def test_a_loader_makes_a_batch_with_one_call_of_the_transform(dataset):
    torch = pytest.importorskip("torch")
    loader = torch.utils.data.DataLoader(dataset.with_transform(shouted), batch_size=10, num_workers=2)
    assert [batch["of"].tolist() for batch in loader] == [[10] * 10, [10] * 10, [3] * 3]
