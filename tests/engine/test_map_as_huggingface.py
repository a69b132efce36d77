"""The same functions through `map` and `filter` here and in Hugging Face `datasets`: the same columns, types and rows.

Where we differ on purpose, `test_map_operators` and `test_filter_operators` say how.
"""

from __future__ import annotations

import datasets
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from raydata_ext.dataset import Dataset

COLUMNS = {
    "text": ["a", "bb", "ccc", "dddd", "eeeee"],
    "n": [1, 2, None, 4, 5],
    "tags": [["x"], [], ["y", "z"], None, ["w"]],
    "s": [{"a": 1, "b": "u"}, {"a": 2, "b": None}, {"a": 3, "b": "w"}, {"a": None, "b": "x"}, {"a": 5, "b": "y"}],
}
NAMES = list(COLUMNS)


def set_column(row):
    row["n"] = 7
    return row


def set_new_column(row):
    row["new"] = len(row["text"])
    return row


def set_new_and_return_other(row):
    row["new"] = 1
    return {"other": 2}


def append_in_place(row):
    if row["tags"] is not None:
        row["tags"].append("!")
    return {"k": 1}


def append_in_place_and_return(row):
    append_in_place(row)
    return row


def append_to_value(tags):
    if tags is not None:
        tags.append("!")
    return {"k": 1}


def delete(row):
    del row["n"]
    return row


def pop_and_return_other(row):
    return {"double": (row.pop("n") or 0) * 2}


def set_in_batch(batch):
    batch["n"] = [len(batch["n"])] * len(batch["n"])
    return batch


def change_list_of_batch(batch):
    batch["text"][0] = "changed"
    return {"k": [1] * len(batch["text"])}


async def asynchronous(row):
    return {"length": len(row["text"])}


ROW_CASES = {
    "a new column": (lambda row: {"len": len(row["text"])}, {}),
    "an old column": (lambda row: {"text": row["text"].upper()}, {}),
    "all columns": (lambda row: {**row, "z": 1}, {}),
    "a union": (lambda row: row | {"z": 1}, {}),
    "nothing": (lambda row: {}, {}),
    "None": (lambda row: None, {}),
    "set": (set_column, {}),
    "set new": (set_new_column, {}),
    "set new and return other": (set_new_and_return_other, {}),
    "append in place": (append_in_place, {}),
    "append in place and return": (append_in_place_and_return, {}),
    "delete": (delete, {}),
    "pop": (pop_and_return_other, {}),
    "remove": (lambda row: {"z": row["text"]}, {"remove_columns": ["text"]}),
    "remove and add again": (lambda row: {"z": 1, "text": row["text"]}, {"remove_columns": ["text"]}),
    "remove all and add again": (lambda row: {**row, "z": 1}, {"remove_columns": NAMES}),
    "remove and return union": (lambda row: row | {"z": 1}, {"remove_columns": ["text"]}),
    "remove what is set": (set_column, {"remove_columns": ["n"]}),
    "remove what is read": (set_new_column, {"remove_columns": ["text"]}),
    "remove what is changed in place": (append_in_place, {"remove_columns": ["tags"]}),
    "two input columns": (lambda text, n: {"z": text * (n or 0)}, {"input_columns": ["text", "n"]}),
    "one input column": (lambda text: {"z": text}, {"input_columns": "text"}),
    "input column changed in place": (append_to_value, {"input_columns": ["tags"]}),
    "indices": (lambda row, index: {"i": index}, {"with_indices": True}),
    "keyword arguments": (lambda row, by: {"z": row["text"] * by}, {"fn_kwargs": {"by": 3}}),
    "a deeper struct": (lambda row: {"s": {**row["s"], "c": 1.5}}, {}),
    "numpy scalars": (lambda row: {"z": np.float32(1.5), "y": np.int8(3)}, {}),
    "numpy arrays": (lambda row: {"z": np.arange(3, dtype=np.int16)}, {}),
    "pandas series": (lambda row: {"z": pd.Series([1, 2])}, {}),
    "a coroutine": (asynchronous, {}),
}
BATCH_CASES = {
    "a new column": (lambda b: {"len": [len(text) for text in b["text"]]}, {"batch_size": 2}),
    "all columns": (lambda b: {**b, "z": b["n"]}, {"batch_size": 2}),
    "set": (set_in_batch, {"batch_size": 2}),
    "change a list": (change_list_of_batch, {"batch_size": 2}),
    "more rows": (lambda b: {"c": [c for t in b["text"] for c in t]}, {"batch_size": 2, "remove_columns": NAMES}),
    "fewer rows": (lambda b: {"c": [len(b["n"])]}, {"batch_size": 2, "remove_columns": NAMES}),
    "removed and returned": (lambda b: {**b}, {"remove_columns": ["text"]}),
    "no last batch": (lambda b: {"len": [len(b["n"])] * len(b["n"])}, {"batch_size": 2, "drop_last_batch": True}),
    "one batch": (lambda b: {"len": [len(b["n"])] * len(b["n"])}, {"batch_size": None}),
    "indices": (lambda b, indices: {"i": indices}, {"batch_size": 2, "with_indices": True}),
    "input columns": (lambda text: {"z": [one * 2 for one in text]}, {"input_columns": ["text"]}),
    "a table": (lambda b: pa.table({"q": b["n"]}), {}),
    "a data frame": (lambda b: pd.DataFrame({"q": [len(text) for text in b["text"]]}), {}),
    "a numpy array": (lambda b: {"q": np.arange(len(b["n"]), dtype=np.int32)}, {}),
    "a numpy matrix": (lambda b: {"q": np.ones((len(b["n"]), 2), dtype=np.float32)}, {}),
    "a pandas series": (lambda b: {"q": pd.Series(range(len(b["n"])))}, {}),
}
FILTER_CASES = {
    "a row": (lambda row: len(row["text"]) > 2, {}),
    "input columns": (lambda n: n is not None, {"input_columns": ["n"]}),
    "indices": (lambda row, index: index % 2 == 0, {"with_indices": True}),
    "a batch": (lambda b: [n is not None for n in b["n"]], {"batched": True, "batch_size": 2}),
    "a numpy mask": (lambda b: np.array([len(text) > 2 for text in b["text"]]), {"batched": True}),
    "all rows": (lambda row: True, {}),
}


def shape(names, rows, schema):
    return names, rows, {name: schema.field(name).type for name in names}


def ours(result):
    return shape(result.column_names, result.to_dict(), result.schema)


def theirs(result):
    return shape(result.column_names, result.to_dict(), result.data.schema)


@pytest.mark.parametrize("case", [*ROW_CASES, *(f"batch: {name}" for name in BATCH_CASES)])
def test_map_gives_what_hugging_face_gives(case, tmp_path):
    batched = case.startswith("batch: ")
    function, arguments = BATCH_CASES[case.removeprefix("batch: ")] if batched else ROW_CASES[case]
    expected = datasets.Dataset.from_dict(COLUMNS).map(
        function, batched=batched, keep_in_memory=True, new_fingerprint="x", **arguments
    )
    result = Dataset.from_dict(COLUMNS, cache_dir=tmp_path).map(
        function, batched=batched, executor="inline", **arguments
    )
    assert ours(result) == theirs(expected)


@pytest.mark.parametrize("case", FILTER_CASES)
def test_filter_gives_what_hugging_face_gives(case, tmp_path):
    function, arguments = FILTER_CASES[case]
    expected = datasets.Dataset.from_dict(COLUMNS).filter(
        function, keep_in_memory=True, new_fingerprint="x", **arguments
    )
    result = Dataset.from_dict(COLUMNS, cache_dir=tmp_path).filter(function, executor="inline", **arguments)
    assert ours(result) == shape(expected.column_names, expected.to_dict(), expected.data.schema)


@pytest.mark.parametrize("case", ["tensor a row", "tensor a batch"])
def test_torch_tensors_become_what_they_become_in_hugging_face(case, tmp_path):
    torch = pytest.importorskip("torch")
    function, batched = {
        "tensor a row": (lambda row: {"z": torch.tensor([1.0, 2.0])}, False),
        "tensor a batch": (lambda b: {"z": torch.arange(len(b["n"]))}, True),
    }[case]
    expected = datasets.Dataset.from_dict(COLUMNS).map(
        function, batched=batched, keep_in_memory=True, new_fingerprint="x"
    )
    result = Dataset.from_dict(COLUMNS, cache_dir=tmp_path).map(function, batched=batched, executor="inline")
    assert ours(result) == theirs(expected)


def test_class_labels_of_the_input_are_class_labels_of_the_result(tmp_path):
    features = datasets.Features({"label": datasets.ClassLabel(names=["no", "yes"]), "text": datasets.Value("string")})
    source = datasets.Dataset.from_dict({"label": [0, 1], "text": ["a", "b"]}, features=features)
    source.save_to_disk(tmp_path / "source")
    from raydata_ext.dataset import load_from_disk

    result = load_from_disk(tmp_path / "source", cache_dir=tmp_path / "cache").map(
        lambda row: {"n": len(row["text"])}, executor="inline"
    )
    opened = datasets.Dataset.from_file(result.cache_files[0]["filename"])
    assert opened.features["label"] == features["label"]
    assert opened["n"][:] == [1, 1]
