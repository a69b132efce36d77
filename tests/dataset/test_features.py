"""Hugging Face's features while columns change."""

from __future__ import annotations

from pathlib import Path

import datasets
import pyarrow as pa
import pytest

from raydata_ext.dataset import Dataset
from raydata_ext.dataset.features import as_schema


def test_features_of_hugging_face_are_types_too(dataset, tmp_path):
    label = datasets.ClassLabel(names=["no", "yes"])
    numbered = dataset.map(lambda row: {"label": row["id"] % 2}, remove_columns=dataset.column_names)
    for feature in (label, {"_type": "ClassLabel", "names": ["no", "yes"]}):
        assert numbered.cast_column("label", feature).features["label"]["names"] == ["no", "yes"]
    labelled = numbered.cast(datasets.Features({"label": label}))
    assert labelled.features["label"]["names"] == ["no", "yes"]
    renamed = labelled.rename_column("label", "y")
    renamed.save_to_disk(tmp_path / "out")
    assert datasets.load_from_disk(str(tmp_path / "out")).features["y"] == label


def test_features_inside_of_structs_stay_when_they_become_columns(tmp_path):
    features = datasets.Features(
        {"s": {"label": datasets.ClassLabel(names=["no", "yes"]), "n": datasets.Value("int64")}}
    )
    datasets.Dataset.from_dict({"s": [{"label": 1, "n": 2}]}, features=features).save_to_disk(str(tmp_path / "hf"))
    flat = Dataset.from_file(next(Path(tmp_path / "hf").glob("*.arrow"))).flatten()
    assert flat.features["s.label"]["names"] == ["no", "yes"]
    assert flat[0] == {"s.label": 1, "s.n": 2}


def test_what_a_feature_holds_are_its_attributes_too(dataset):
    features = dataset.features
    assert features["text"].dtype == "string"
    assert features["tokens"].feature.dtype == "int32"
    assert features["tokens"] == {"feature": {"dtype": "int32", "_type": "Value"}, "_type": "List"}
    with pytest.raises(AttributeError, match="has no 'names'"):
        _ = features["text"].names


def test_classes_have_names_and_numbers_as_in_hugging_face(dataset):
    label = {"_type": "ClassLabel", "names": ["no", "yes"]}
    ours = Dataset.from_dict({"y": [0, 1]}, {"y": label}).features["y"]
    theirs = datasets.ClassLabel(names=["no", "yes"])
    assert ours.num_classes == theirs.num_classes == 2
    assert (ours.int2str(1), ours.str2int("no")) == (theirs.int2str(1), theirs.str2int("no")) == ("yes", 0)
    assert (ours.int2str([1, 0]), ours.str2int(["yes"])) == (["yes", "no"], [1])


def test_features_may_be_ours_with_some_of_hugging_face(dataset):
    wanted = {**dataset.features, "id": datasets.Value("int16")}
    for features in (wanted, datasets.Features(wanted)):
        assert dataset.cast(features).features["id"].dtype == "int16"
    nested = dataset.cast_column("tokens", datasets.List(datasets.Value("int64")))
    assert nested.features["tokens"].feature.dtype == "int64"


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ("int16", pa.int16()),
        (pa.decimal128(20, 0), pa.decimal128(20, 0)),
        (["string"], pa.list_(pa.string())),
        ([["uint16"]], pa.list_(pa.list_(pa.uint16()))),
        ({"lang": "string", "_type": pa.int8()}, pa.struct({"lang": pa.string(), "_type": pa.int8()})),
        ({"feature": "int32", "_type": "List"}, pa.list_(pa.int32())),
        ({"names": ["no", "yes"], "_type": "ClassLabel"}, pa.int64()),
        (datasets.List(datasets.Value("float32")), pa.list_(pa.float32())),
        ([datasets.ClassLabel(names=["a"])], pa.list_(pa.int64())),
    ],
)
def test_types_are_given_by_name_as_arrow_types_or_as_features(given, kind):
    assert as_schema({"column": given}).field("column").type == kind
