from __future__ import annotations

import pyarrow as pa
import pytest

from raydata_ext.errors import SchemaError
from raydata_ext.table.features import feature_from_type, type_from_feature

INT = {"dtype": "int64", "_type": "Value"}


@pytest.mark.parametrize(
    ("data_type", "feature"),
    [
        (pa.map_(pa.string(), pa.int64()), {"feature": {"key": None, "value": INT}, "_type": "List"}),
        (pa.list_view(pa.int64()), {"feature": INT, "_type": "List"}),
        (pa.large_list_view(pa.int64()), {"feature": INT, "_type": "LargeList"}),
        (pa.run_end_encoded(pa.int32(), pa.int64()), INT),
        (pa.decimal64(10, 2), {"dtype": "decimal128(10, 2)", "_type": "Value"}),
        (pa.fixed_shape_tensor(pa.int64(), [2]), {"feature": INT, "length": 2, "_type": "List"}),
    ],
    ids=str,
)
def test_types_that_hugging_face_does_not_have_become_the_nearest_feature(data_type, feature):
    if pa.types.is_map(data_type):
        feature["feature"]["key"] = {"dtype": "string", "_type": "Value"}

    assert feature_from_type(data_type) == feature


@pytest.mark.parametrize(
    "data_type", [pa.month_day_nano_interval(), pa.dense_union([pa.field("x", pa.int8())])], ids=str
)
def test_a_type_without_a_feature_is_an_error_that_names_the_column_path(data_type):
    with pytest.raises(SchemaError, match=r"`c\.a\[\]` is .*, which no Hugging Face feature describes"):
        feature_from_type(pa.struct({"a": pa.list_(data_type)}), "c")


@pytest.mark.parametrize(
    ("feature", "message"),
    [
        ({"dtype": "int65", "_type": "Value"}, "`c` has the dtype 'int65', which is no Arrow type"),
        ({"a": {"dtype": "__import__", "_type": "Value"}}, r"`c\.a` has the dtype '__import__'"),
        ({"feature": {"dtype": "list_", "_type": "Value"}, "_type": "List"}, r"`c\[\]` has the dtype 'list_'"),
        ({"_type": "Value"}, "`c`: .* is not a well-formed feature"),
        ({"shape": 3, "dtype": "int8", "_type": "Array2D"}, "`c`: .* is not a well-formed feature"),
        ({"dtype": "decimal128(99, 0)", "_type": "Value"}, "`c`: .* is not a well-formed feature"),
        ("int64", "`c` is described by 'int64'"),
        ([], r"`c` is described by \[\]"),
    ],
)
def test_a_malformed_feature_is_an_error_that_names_the_column_path(feature, message):
    with pytest.raises(SchemaError, match=message):
        type_from_feature(feature, "c")


def test_a_kind_of_feature_that_only_its_author_knows_has_no_known_type():
    assert type_from_feature({"_type": "Molecule"}) is None
    assert type_from_feature({"feature": {"a": {"_type": "Molecule"}}, "_type": "List"}) is None
