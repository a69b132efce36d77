"""Translate between Arrow types and the JSON feature descriptions of Hugging Face `datasets`.

A feature is a dict with `_type` (`{"dtype": "int64", "_type": "Value"}`), or a dict of features: a struct. The
translation is that of `datasets` 5.2 (`features/features.py`). Types that it has no feature for become the nearest one
it has: a map is a list of key and value, a list view is a list, any other extension type is its storage.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import types

from raydata_ext.errors import SchemaError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Feature = dict[str, Any]
"""Description of one type, ready for JSON."""

_JSON_EXTENSION = "arrow.json"
_ARRAY_EXTENSION = re.compile(r"datasets\.features\.features\.(Array[2-5]D)ExtensionType")

_BYTES_AND_PATH = pa.struct({"bytes": pa.binary(), "path": pa.string()})
_MEDIA = ("Audio", "Image", "Video", "Pdf", "Nifti", "Mesh", "BioSequence", "BioStructure")

_DTYPES: tuple[tuple[Callable[[pa.DataType], bool], str], ...] = (
    (types.is_null, "null"),
    (types.is_boolean, "bool"),
    (types.is_float16, "float16"),
    (types.is_float32, "float32"),
    (types.is_float64, "float64"),
    (types.is_integer, "{0}"),
    (types.is_time, "{0}"),
    (types.is_duration, "{0}"),
    (types.is_date32, "date32"),
    (types.is_date64, "date64"),
    (types.is_decimal256, "decimal256({0.precision}, {0.scale})"),
    (types.is_decimal, "decimal128({0.precision}, {0.scale})"),
    (types.is_string, "string"),
    (types.is_large_string, "large_string"),
    (types.is_string_view, "string_view"),
    (types.is_binary, "binary"),
    (types.is_large_binary, "large_binary"),
    (types.is_binary_view, "binary_view"),
    (types.is_fixed_size_binary, "fixed_size_binary[{0.byte_width}]"),
)
_DTYPE_FACTORIES: dict[str, Callable[[], pa.DataType]] = {
    name: getattr(pa, factory)
    for name, factory in {
        "null": "null",
        "bool": "bool_",
        "bool_": "bool_",
        "float": "float32",
        "double": "float64",
        "utf8": "utf8",
        "large_utf8": "large_utf8",
        **{f"{sign}int{bits}": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
        **{f"float{bits}": f"float{bits}" for bits in (16, 32, 64)},
        **{name: name for name in ("date32", "date64")},
        **{f"{size}{kind}": f"{size}{kind}" for kind in ("string", "binary") for size in ("", "large_")},
        "string_view": "string_view",
        "binary_view": "binary_view",
    }.items()
}
_PARAMETRIC_DTYPES: tuple[tuple[re.Pattern[str], Callable[..., pa.DataType]], ...] = (
    (re.compile(r"timestamp\[(s|ms|us|ns)\]"), pa.timestamp),
    (re.compile(r"timestamp\[(s|ms|us|ns),\s*tz=([a-zA-Z0-9/_+\-:]+)\]"), pa.timestamp),
    (re.compile(r"duration\[(s|ms|us|ns)\]"), pa.duration),
    (re.compile(r"time32\[(s|ms)\]"), pa.time32),
    (re.compile(r"time64\[(us|ns)\]"), pa.time64),
    (re.compile(r"decimal128\((\d+),\s*(-?\d+)\)"), lambda digits, scale: pa.decimal128(int(digits), int(scale))),
    (re.compile(r"decimal256\((\d+),\s*(-?\d+)\)"), lambda digits, scale: pa.decimal256(int(digits), int(scale))),
    (re.compile(r"fixed_size_binary\[(\d+)\]"), lambda width: pa.binary(int(width))),
)


def feature_from_type(data_type: pa.DataType, path: str = "column") -> Feature:
    """Return the feature of an Arrow type.

    Raises:
        SchemaError: the type has no feature (a union, an interval); names `path` and the type.
    """
    for is_kind, describe in _DESCRIPTIONS:
        if is_kind(data_type):
            return describe(data_type, path)
    return {"dtype": _dtype(data_type, path), "_type": "Value"}


def type_from_feature(feature: Any, path: str = "column") -> pa.DataType | None:
    """Return the Arrow type that holds a feature, or None for a kind of feature that only its author knows.

    Arrays of several dimensions (`Array2D` and so on) are given as the nested lists that store them.

    Raises:
        SchemaError: the feature is not well-formed; names `path` and what is wrong there.
    """
    if isinstance(feature, list) and len(feature) == 1:
        return _list_type(feature[0], -1, pa.list_, path)
    if not isinstance(feature, dict):
        raise SchemaError(f"`{path}` is described by {feature!r}; a feature is a dict")
    kind = feature.get("_type")
    if not isinstance(kind, str):  # a struct, perhaps with a field that is called `_type`
        return _struct_type(feature, path)
    if kind in _MEDIA:
        return _BYTES_AND_PATH
    known = _KINDS.get(kind)
    try:
        return known(feature, path) if known else None
    except (KeyError, TypeError, ValueError, pa.ArrowException) as error:
        if isinstance(error, SchemaError):
            raise
        raise SchemaError(f"`{path}`: {feature!r} is not a well-formed feature: {error!r}") from error


def extension_metadata(feature: Feature) -> dict[str, str] | None:
    """Return the field metadata by which Hugging Face knows a column of nested lists for an array, if it is one."""
    kind = feature.get("_type") if isinstance(feature, dict) else None
    if not isinstance(kind, str) or _KINDS.get(kind) is not _array_type:
        return None
    return {
        "ARROW:extension:name": f"datasets.features.features.{kind}ExtensionType",
        "ARROW:extension:metadata": json.dumps([feature["shape"], feature["dtype"]]),
    }


def _feature_from_extension(data_type: pa.DataType, path: str) -> Feature:
    if data_type.extension_name == _JSON_EXTENSION:
        return {"_type": "Json"}
    array = _ARRAY_EXTENSION.fullmatch(data_type.extension_name)
    if array and hasattr(data_type, "shape"):
        return {"shape": list(data_type.shape), "dtype": data_type.value_type, "_type": array[1]}
    return feature_from_type(data_type.storage_type, path)


def _feature_from_struct(data_type: pa.StructType, path: str) -> Feature:
    return {field.name: feature_from_type(field.type, f"{path}.{field.name}") for field in data_type}


def _feature_from_list(data_type: pa.DataType, path: str) -> Feature:
    feature = {"feature": feature_from_type(data_type.value_type, f"{path}[]")}
    if types.is_fixed_size_list(data_type):
        return {**feature, "length": data_type.list_size, "_type": "List"}
    large = types.is_large_list(data_type) or types.is_large_list_view(data_type)
    return {**feature, "_type": "LargeList" if large else "List"}


def _feature_from_map(data_type: pa.MapType, path: str) -> Feature:
    return feature_from_type(pa.list_(pa.struct({"key": data_type.key_type, "value": data_type.item_type})), path)


def _dtype(data_type: pa.DataType, path: str) -> str:
    if types.is_timestamp(data_type):
        return f"timestamp[{data_type.unit}, tz={data_type.tz}]" if data_type.tz else f"timestamp[{data_type.unit}]"
    for is_kind, dtype in _DTYPES:
        if is_kind(data_type):
            return dtype.format(data_type)
    raise SchemaError(f"`{path}` is {data_type}, which no Hugging Face feature describes; cast or drop it")


def _type_from_dtype(dtype: str, path: str) -> pa.DataType:
    factory = _DTYPE_FACTORIES.get(dtype)
    if factory:
        return factory()
    for pattern, make in _PARAMETRIC_DTYPES:
        match = pattern.fullmatch(dtype)
        if match:
            return make(*match.groups())
    raise SchemaError(
        f"`{path}` has the dtype {dtype!r}, which is no Arrow type; examples: int64, string, timestamp[us]"
    )


def _struct_type(features: Mapping[str, Any], path: str) -> pa.DataType | None:
    children = {name: type_from_feature(feature, f"{path}.{name}") for name, feature in features.items()}
    return None if None in children.values() else pa.struct(children)


def _list_type(item_feature: Any, length: int, make: Callable[..., pa.DataType], path: str) -> pa.DataType | None:
    item = type_from_feature(item_feature, f"{path}[]")
    if item is None:
        return None
    return make(item) if length < 0 else make(item, length)


def _sequence_type(feature: Feature, path: str) -> pa.DataType | None:
    """Of older files: a sequence of structs is stored as a struct of lists, unless each field is a list already."""
    item, length = feature["feature"], feature.get("length", -1)
    if isinstance(item, dict) and not isinstance(item.get("_type"), str):
        kinds = [field.get("_type") if isinstance(field, dict) else None for field in item.values()]
        if any(kind not in ("List", "Sequence") for kind in kinds):
            lists = {name: {"feature": field, "length": length, "_type": "List"} for name, field in item.items()}
            return _struct_type(lists, path)
    return _list_type(item, length, pa.list_, path)


def _array_type(feature: Feature, path: str) -> pa.DataType:
    data_type = _type_from_dtype(feature["dtype"], path)
    for _ in feature["shape"]:
        data_type = pa.list_(data_type)
    return data_type


_KINDS: dict[str, Callable[[Feature, str], pa.DataType | None]] = {
    "Value": lambda feature, path: _type_from_dtype(feature["dtype"], path),
    "ClassLabel": lambda _feature, _path: pa.int64(),
    "Json": lambda _feature, _path: pa.json_(),
    "List": lambda feature, path: _list_type(feature["feature"], feature.get("length", -1), pa.list_, path),
    "LargeList": lambda feature, path: _list_type(feature["feature"], -1, pa.large_list, path),
    "Sequence": _sequence_type,
    "Translation": lambda feature, _path: pa.struct({name: pa.string() for name in sorted(feature["languages"])}),
    "TranslationVariableLanguages": lambda _feature, _path: pa.struct(
        {"language": pa.list_(pa.string()), "translation": pa.list_(pa.string())}
    ),
    **{f"Array{dimensions}D": _array_type for dimensions in (2, 3, 4, 5)},
}

_DESCRIPTIONS: tuple[tuple[Callable[[pa.DataType], bool], Callable[[pa.DataType, str], Feature]], ...] = (
    (lambda data_type: isinstance(data_type, pa.BaseExtensionType), _feature_from_extension),
    (types.is_struct, _feature_from_struct),
    (types.is_map, _feature_from_map),
    (types.is_list, _feature_from_list),
    (types.is_large_list, _feature_from_list),
    (types.is_fixed_size_list, _feature_from_list),
    (types.is_list_view, _feature_from_list),
    (types.is_large_list_view, _feature_from_list),
    (types.is_dictionary, lambda data_type, path: feature_from_type(data_type.value_type, path)),
    (types.is_run_end_encoded, lambda data_type, path: feature_from_type(data_type.value_type, path)),
)
