"""Hugging Face's features while columns change."""

from __future__ import annotations

from pathlib import Path

import datasets

from raydata_ext.dataset import Dataset


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
