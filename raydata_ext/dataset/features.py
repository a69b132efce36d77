"""Types of columns as users give them, and Hugging Face's features kept true while columns change."""

from __future__ import annotations

from dataclasses import asdict, is_dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import types

from raydata_ext.table import Table, features_from_schema, schema_from_features

if TYPE_CHECKING:
    from collections.abc import Mapping

_KEY = b"huggingface"


def as_schema(schema: pa.Schema | Mapping[str, Any]) -> pa.Schema:
    """A schema, also of Hugging Face's features, as JSON or as their object.

    Raises:
        SchemaError: a feature is not well-formed.
    """
    if isinstance(schema, pa.Schema):
        return schema
    if hasattr(schema, "arrow_schema"):  # `datasets.Features`
        return schema.arrow_schema
    return schema_from_features(schema)


def with_type(schema: pa.Schema, column: str, feature: pa.DataType | Mapping[str, Any]) -> pa.Schema:
    """The schema with another type of one column.

    Args:
        schema: has the column.
        column: its name.
        feature: an Arrow type, or a Hugging Face feature as JSON or as their object.

    Raises:
        SchemaError: a feature is not well-formed.
    """
    position = schema.get_field_index(column)
    if isinstance(feature, pa.DataType):
        return schema.set(position, schema.field(position).with_type(feature))
    plain: Any = feature
    if is_dataclass(plain) and not isinstance(plain, type):  # such as `datasets.ClassLabel`
        plain = asdict(plain)
    features = {**features_from_schema(schema), column: plain}
    changed = schema.set(position, schema_from_features({column: plain}).field(0))
    return changed.with_metadata({**(schema.metadata or {}), **schema_from_features(features).metadata})


def declared_features(schema: pa.Schema) -> dict[str, Any] | None:
    """The features of all columns, where the schema declares some; else None."""
    return features_from_schema(schema) if _KEY in (schema.metadata or {}) else None


def with_features(table: Table, features: Mapping[str, Any]) -> Table:
    """The table whose schema declares these features."""
    metadata = schema_from_features(features).metadata
    return table.replace_schema_metadata({**(table.schema.metadata or {}), **metadata})


def flat_features(features: Mapping[str, Any], schema: pa.Schema) -> dict[str, Any]:
    """The features of the columns after struct columns were flattened, one level deep.

    Args:
        features: of the columns before.
        schema: of the columns before.
    """
    flat: dict[str, Any] = {}
    for field in schema:
        feature = features[field.name]
        if not types.is_struct(field.type):
            flat[field.name] = feature
        elif "_type" not in feature:
            flat.update({f"{field.name}.{name}": inner for name, inner in feature.items()})
        else:  # an image, say: its parts are bytes and text
            parts = [pa.field(f"{field.name}.{part.name}", part.type) for part in field.type]
            flat.update(features_from_schema(pa.schema(parts)))
    return flat
