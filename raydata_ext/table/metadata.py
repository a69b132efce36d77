"""The `huggingface` key of schema metadata: what the columns mean beyond their Arrow types, and the fingerprint.

Its value is JSON: `{"info": {"features": {column: feature}}, "fingerprint": digest}`, both parts optional, as Hugging
Face `datasets` writes and reads it (`arrow_writer.py`). A file that carries it describes itself.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from raydata_ext.errors import SchemaError
from raydata_ext.table.features import Feature, extension_metadata, feature_from_type, type_from_feature

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_KEY = b"huggingface"


def features_from_schema(schema: pa.Schema) -> dict[str, Feature]:
    """Return the Hugging Face features of a schema.

    A feature that the schema's own metadata declares (an image, a class label) stands as long as the column still has
    the type of that feature; every other column is described by its type.

    Args:
        schema: any schema; nullability has no counterpart among features.

    Returns:
        Feature by column name, in the order of the columns, ready for JSON.

    Raises:
        SchemaError: the metadata is not valid, or a type has no feature.
    """
    declared = _declared_features(schema)
    return {
        field.name: declared[field.name]
        if field.name in declared and _has_type(field.type, declared[field.name], field.name)
        else feature_from_type(field.type, field.name)
        for field in schema
    }


def schema_from_features(features: Mapping[str, Any]) -> pa.Schema:
    """Return the schema, with the features in its metadata, that stores columns with such features.

    Args:
        features: feature by column name, as in `info.features`; older forms (`Sequence`, `[feature]`) are read too.

    Raises:
        SchemaError: a feature is not well-formed or of a kind that is not known; names the column path.
    """
    fields = []
    for name, feature in features.items():
        data_type = type_from_feature(feature, name)
        if data_type is None:
            raise SchemaError(f"`{name}` has the feature {feature!r}, of which the Arrow type is not known")
        fields.append(pa.field(name, data_type, metadata=extension_metadata(feature)))
    return pa.schema(fields, metadata=_encode({"info": {"features": dict(features)}}))


def with_huggingface_metadata(schema: pa.Schema, *, fingerprint: str | None = None) -> pa.Schema:
    """Return the schema with its `huggingface` key written anew: the features of its columns, and the fingerprint.

    Other keys of the metadata stay.

    Raises:
        SchemaError: see `features_from_schema`.
    """
    content: dict[str, Any] = {"info": {"features": features_from_schema(schema)}}
    if fingerprint is not None:
        content["fingerprint"] = fingerprint
    return schema.with_metadata({**(schema.metadata or {}), **_encode(content)})


def read_fingerprint(schema: pa.Schema) -> str | None:
    """Return the fingerprint in the schema's metadata, if there is one."""
    fingerprint = _decode(schema).get("fingerprint")
    return fingerprint if isinstance(fingerprint, str) else None


def merge_schema_metadata(schemas: Sequence[pa.Schema]) -> dict[bytes, bytes] | None:
    """Return the metadata for a schema that unites the columns of several.

    Of each key the first value seen; of the `huggingface` key the first feature seen of each column, and no
    fingerprint, since the union is none of the data sets that were united.
    """
    merged: dict[bytes, bytes] = {}
    features: dict[str, Any] = {}
    for schema in schemas:
        for key, value in (schema.metadata or {}).items():
            merged.setdefault(key, value)
        for name, feature in _declared_features(schema).items():
            features.setdefault(name, feature)
    if _KEY in merged:
        merged.update(_encode({"info": {"features": features}}))
    return merged or None


def _declared_features(schema: pa.Schema) -> dict[str, Any]:
    info = _decode(schema).get("info")
    features = info.get("features") if isinstance(info, dict) else None
    return features if isinstance(features, dict) else {}


def _has_type(data_type: pa.DataType, feature: Any, path: str) -> bool:
    expected = type_from_feature(feature, path)
    if expected is None:  # a kind of feature of the user's own: its column is what it came with
        return True
    is_array = isinstance(data_type, pa.BaseExtensionType) and not isinstance(expected, pa.BaseExtensionType)
    return bool(expected.equals(data_type.storage_type if is_array else data_type))


def _decode(schema: pa.Schema) -> dict[str, Any]:
    text = (schema.metadata or {}).get(_KEY)
    if text is None:
        return {}
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SchemaError(
            f"the schema metadata under `huggingface` is not JSON ({error}); replace or remove the schema metadata"
        ) from error
    return content if isinstance(content, dict) else {}


def _encode(content: Mapping[str, Any]) -> dict[bytes, bytes]:
    return {_KEY: json.dumps(content).encode()}
