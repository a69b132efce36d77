from __future__ import annotations

import json

import datasets
import numpy as np
import pyarrow as pa
import pytest
from datasets.features.features import Json
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.errors import SchemaError
from raydata_ext.table.ipc_reader import open_ipc_file
from raydata_ext.table.ipc_writer import ShardWriter
from raydata_ext.table.metadata import (
    features_from_schema,
    read_fingerprint,
    schema_from_features,
    with_huggingface_metadata,
)
from raydata_ext.table.unify import unify_schemas

LEAVES = [
    pa.null(),
    pa.bool_(),
    *(getattr(pa, f"{sign}int{bits}")() for sign in ("", "u") for bits in (8, 16, 32, 64)),
    pa.float16(),
    pa.float32(),
    pa.float64(),
    pa.string(),
    pa.large_string(),
    pa.string_view(),
    pa.binary(),
    pa.large_binary(),
    pa.binary_view(),
    pa.binary(16),
    pa.date32(),
    pa.date64(),
    *(pa.time32(unit) for unit in ("s", "ms")),
    *(pa.time64(unit) for unit in ("us", "ns")),
    *(pa.timestamp(unit) for unit in ("s", "ms", "us", "ns")),
    *(pa.timestamp("us", zone) for zone in ("UTC", "America/New_York", "+01:00")),
    *(pa.duration(unit) for unit in ("s", "ms", "us", "ns")),
    pa.decimal128(10, 2),
    pa.decimal128(5, -2),
    pa.decimal256(50, 10),
    pa.dictionary(pa.int8(), pa.string()),
    pa.json_(),
]
FEATURES = {
    "id": datasets.Value("int64"),
    "label": datasets.ClassLabel(names=["no", "yes"]),
    "image": datasets.Image(),
    "audio": datasets.Audio(sampling_rate=16_000, decode=False),
    "pages": datasets.List(datasets.Image(decode=False)),
    "tokens": datasets.List(datasets.Value("int32"), length=4),
    "spans": datasets.LargeList({"start": datasets.Value("int32"), "tag": datasets.ClassLabel(num_classes=3)}),
    "pair": datasets.Translation(["en", "de"]),
    "pairs": datasets.TranslationVariableLanguages(["en", "de"]),
    "matrix": datasets.Array2D((2, 3), "float32"),
    "video": datasets.Array4D((None, 2, 2, 3), "uint8"),
    "extra": Json(),
    "nested": {"a": {"_type": datasets.Value("string"), "b": datasets.List(datasets.List(datasets.Value("bool")))}},
}


def nested_types():
    return st.recursive(
        st.sampled_from(LEAVES),
        lambda inner: st.one_of(
            inner.map(pa.list_),
            inner.map(pa.large_list),
            inner.map(lambda item: pa.list_(item, 3)),
            st.dictionaries(st.sampled_from(["a", "b", "_type"]), inner, min_size=1).map(pa.struct),
        ),
        max_leaves=5,
    )


def as_json(features):
    """Return what Hugging Face stores of its features."""
    return json.loads(json.dumps(features.to_dict()))


@pytest.mark.parametrize("data_type", LEAVES, ids=str)
def test_a_column_has_the_feature_that_hugging_face_gives_it(data_type):
    schema = pa.schema({"c": data_type})

    assert features_from_schema(schema) == as_json(datasets.Features.from_arrow_schema(schema))


@given(st.dictionaries(st.sampled_from(["x", "y"]), nested_types(), min_size=1).map(pa.schema))
@settings(max_examples=150, deadline=None)
def test_any_schema_has_the_features_that_hugging_face_gives_it_and_they_lead_back(schema):
    theirs = datasets.Features.from_arrow_schema(schema)
    ours = features_from_schema(schema)

    assert ours == as_json(theirs)
    assert list(ours) == list(theirs)
    back = schema_from_features(ours)
    assert back.equals(theirs.arrow_schema)
    assert json.loads(back.metadata[b"huggingface"]) == json.loads(theirs.arrow_schema.metadata[b"huggingface"])


def test_features_of_every_kind_lead_to_the_schema_that_hugging_face_gives_them():
    theirs = datasets.Features(FEATURES)

    ours = schema_from_features(as_json(theirs))

    storage = pa.schema(
        [
            pa.field(field.name, field.type.storage_type if field.name in ("matrix", "video") else field.type)
            for field in theirs.arrow_schema
        ]
    )
    assert ours.equals(storage)
    assert ours.metadata == theirs.arrow_schema.metadata


def test_features_of_every_kind_stay_what_they_are_when_the_key_is_written_anew():
    schema = datasets.Features(FEATURES).arrow_schema

    ours = with_huggingface_metadata(schema, fingerprint="abc")

    assert features_from_schema(ours) == as_json(datasets.Features(FEATURES))
    assert datasets.Features.from_arrow_schema(ours) == datasets.Features(FEATURES)
    assert json.loads(ours.metadata[b"huggingface"])["fingerprint"] == "abc"


def test_an_array_of_several_dimensions_written_as_lists_is_one_to_hugging_face(tmp_path):
    features = {"matrix": {"shape": [2, 2], "dtype": "float32", "_type": "Array2D"}}
    schema = schema_from_features(features)
    rows = [{"matrix": [[1.0, 2.0], [3.0, 4.0]]}]
    with ShardWriter(tmp_path / "ours.arrow", schema) as writer:
        writer.write(pa.RecordBatch.from_pylist(rows, schema))

    dataset = datasets.Dataset.from_file(str(tmp_path / "ours.arrow"))

    assert as_json(dataset.features) == features
    assert dataset.to_list() == rows


def test_features_of_older_files_are_read():
    features = {
        "flat": {"feature": {"dtype": "int32", "_type": "Value"}, "length": -1, "_type": "Sequence"},
        "fixed": {"feature": {"dtype": "int32", "_type": "Value"}, "length": 2, "_type": "Sequence"},
        "records": {
            "feature": {"text": {"dtype": "string", "_type": "Value"}, "n": [{"dtype": "int8", "_type": "Value"}]},
            "_type": "Sequence",
        },
        "list": [{"a": {"dtype": "string", "id": None, "_type": "Value"}}],
    }

    assert schema_from_features(features).equals(datasets.Features.from_dict(features).arrow_schema)


def test_a_feature_no_longer_stands_when_its_column_has_another_type():
    schema = datasets.Features({"label": datasets.ClassLabel(names=["no"]), "n": datasets.Value("int8")}).arrow_schema

    cast = schema.set(0, pa.field("label", pa.string()))

    assert features_from_schema(cast) == {
        "label": {"dtype": "string", "_type": "Value"},
        "n": {"dtype": "int8", "_type": "Value"},
    }


def test_a_feature_of_a_kind_of_its_authors_own_stays():
    features = {"info": {"features": {"m": {"_type": "Molecule", "size": 3}}}}
    schema = pa.schema({"m": pa.string()}, {"huggingface": json.dumps(features)})

    assert features_from_schema(with_huggingface_metadata(schema)) == {"m": {"_type": "Molecule", "size": 3}}
    with pytest.raises(SchemaError, match=r"`m` has the feature .* of which the Arrow type is not known"):
        schema_from_features(features["info"]["features"])


def test_columns_united_from_several_schemas_keep_their_features():
    first = datasets.Features({"label": datasets.ClassLabel(names=["no"])}).arrow_schema
    second = datasets.Features({"image": datasets.Image(), "n": datasets.Value("int8")}).arrow_schema

    unified = unify_schemas([first, second, pa.schema({"n": pa.int64()})])

    assert datasets.Features.from_arrow_schema(unified) == datasets.Features(
        {"label": datasets.ClassLabel(names=["no"]), "image": datasets.Image(), "n": datasets.Value("int64")}
    )


def test_the_fingerprint_is_read_back_and_left_out_where_there_is_none():
    schema = pa.schema({"n": pa.int64()}, {"other": "stays"})

    marked = with_huggingface_metadata(schema, fingerprint="0123")

    assert read_fingerprint(marked) == "0123"
    assert marked.metadata[b"other"] == b"stays"
    assert read_fingerprint(with_huggingface_metadata(marked)) is None
    assert read_fingerprint(schema) is None


@pytest.mark.parametrize("content", [b"{", b"\xff", b""])
def test_metadata_that_is_not_json_is_an_error_that_says_where(content):
    schema = pa.schema({"n": pa.int64()}, {b"huggingface": content})

    for read in (features_from_schema, read_fingerprint, with_huggingface_metadata):
        with pytest.raises(SchemaError, match="schema metadata under `huggingface` is not JSON"):
            read(schema)


@pytest.mark.parametrize("content", ["[]", "null", '{"info": null}', '{"info": {"features": null}}', '{"info": []}'])
def test_metadata_without_features_is_as_good_as_none(content):
    schema = pa.schema({"n": pa.int64()}, {"huggingface": content})

    assert features_from_schema(schema) == {"n": {"dtype": "int64", "_type": "Value"}}
    assert read_fingerprint(schema) is None


def test_hugging_face_opens_our_files_with_equal_rows_features_and_fingerprint(tmp_path):
    rows = [
        {"text": "a", "label": 1, "spans": [{"start": 0, "tag": None}], "image": {"bytes": None, "path": "x.png"}},
        {"text": None, "label": 0, "spans": [], "image": None},
    ]
    features = datasets.Features(
        {
            "text": datasets.Value("string"),
            "label": datasets.ClassLabel(names=["no", "yes"]),
            "spans": datasets.List({"start": datasets.Value("int64"), "tag": datasets.Value("string")}),
            "image": datasets.Image(decode=False),
        }
    )
    schema = with_huggingface_metadata(schema_from_features(as_json(features)), fingerprint="0123456789abcdef")
    with ShardWriter(tmp_path / "ours.arrow", schema, batch_rows=1) as writer:
        writer.write(pa.RecordBatch.from_pylist(rows, schema))

    dataset = datasets.Dataset.from_file(str(tmp_path / "ours.arrow"))

    assert dataset.features == features
    assert dataset.to_list() == rows
    assert read_fingerprint(dataset.data.schema) == "0123456789abcdef"


@pytest.mark.parametrize("data_type", LEAVES, ids=str)
def test_hugging_face_opens_our_files_of_every_type(tmp_path, data_type):
    nested = pa.list_(pa.struct({"a": data_type}))
    schema = with_huggingface_metadata(pa.schema({"c": data_type, "nested": nested}))
    rows = [{"c": None, "nested": None}, {"c": None, "nested": [{"a": None}, None]}]
    with ShardWriter(tmp_path / "ours.arrow", schema) as writer:
        writer.write(
            pa.RecordBatch.from_arrays(
                [pa.nulls(2, data_type), pa.array(rows).field("nested").cast(nested)], schema=schema
            )
        )

    dataset = datasets.Dataset.from_file(str(tmp_path / "ours.arrow"))

    assert as_json(dataset.features) == features_from_schema(schema)
    assert dataset.with_format("arrow")[:].to_pylist() == rows


def test_our_reader_opens_files_of_hugging_face_with_equal_rows_and_features(tmp_path):
    theirs = datasets.Dataset.from_dict(
        {
            "n": range(2500),
            "label": [index % 2 for index in range(2500)],
            "nested": [{"words": ["a"] * (index % 3)} for index in range(2500)],
            "matrix": np.zeros((2500, 2, 2), np.float32).tolist(),
        },
        features=datasets.Features(
            {
                "n": datasets.Value("int32"),
                "label": datasets.ClassLabel(names=["no", "yes"]),
                "nested": {"words": datasets.List(datasets.Value("string"))},
                "matrix": datasets.Array2D((2, 2), "float32"),
            }
        ),
    )
    theirs.save_to_disk(tmp_path / "saved")

    table = open_ipc_file(tmp_path / "saved" / "data-00000-of-00001.arrow")

    assert table.num_rows == 2500
    assert table.drop_columns(["matrix"]).to_pylist() == theirs.remove_columns("matrix").to_list()
    assert features_from_schema(table.schema) == as_json(theirs.features)
