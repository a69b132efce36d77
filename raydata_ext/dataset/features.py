"""Types of columns as users give them, and Hugging Face's features kept true while columns change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import Any

import pyarrow as pa
from pyarrow import types

from raydata_ext.dataset.indexing import is_one
from raydata_ext.table import Table, features_from_schema, schema_from_features
from raydata_ext.table.features import feature_from_type

_KEY = b"huggingface"


class Feature(dict[str, Any]):
    """What a column means, as JSON; what it holds are its attributes, too, as those of Hugging Face's objects.

    So `features["label"].names` and `features["text"].dtype` are what users expect.
    """

    def __getattr__(self, name: str) -> Any:
        if name not in self:
            raise AttributeError(f"the feature {dict(self)} has no {name!r}")
        return self[name]

    @property
    def num_classes(self) -> int:
        """Classes of a `ClassLabel`."""
        return len(self.names)

    def int2str(self, values: Any) -> Any:
        """Names of classes by their numbers: of one, or of each in a list."""
        names: list[str] = self.names
        return names[values] if is_one(values) else [names[value] for value in values]

    def str2int(self, values: Any) -> Any:
        """Numbers of classes by their names: of one, or of each in a list."""
        numbers = {name: number for number, name in enumerate(self.names)}
        return numbers[values] if isinstance(values, str) else [numbers[value] for value in values]


def features_of(schema: pa.Schema) -> dict[str, Any]:
    """What the columns of a schema mean.

    Raises:
        SchemaError: a type has no feature.
    """
    return {name: _with_attributes(feature) for name, feature in features_from_schema(schema).items()}


def as_schema(schema: pa.Schema | Mapping[str, Any]) -> pa.Schema:
    """A schema of names and types: a type is an Arrow type, its name, a list of one type, a dict of types by name (a
    struct), or a Hugging Face feature, as JSON or as their object.

    So `{"id": "int64", "tags": ["string"], "meta": {"lang": "string"}}` is one.

    Raises:
        SchemaError: a feature is not well-formed.
    """
    if isinstance(schema, pa.Schema):
        return schema
    holds_json = any(isinstance(part, Mapping) and "_type" in part for part in schema.values())
    if not holds_json and hasattr(schema, "arrow_schema"):  # `datasets.Features`
        return schema.arrow_schema
    return schema_from_features({name: _plain(feature) for name, feature in schema.items()})


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
    plain = _plain(feature)
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


def _plain(feature: Any) -> Any:
    """A feature as JSON; parts of it may be names of types, Arrow types, or Hugging Face's objects."""
    if isinstance(feature, str):
        return {"dtype": feature, "_type": "Value"}
    if isinstance(feature, pa.DataType):
        return feature_from_type(feature)
    if is_dataclass(feature) and not isinstance(feature, type):  # such as `datasets.ClassLabel`
        return asdict(feature)
    if isinstance(feature, list):
        return [_plain(part) for part in feature]
    if not isinstance(feature, Mapping):
        return feature
    is_struct = not isinstance(feature.get("_type"), str)
    return {name: _plain(part) if is_struct or name == "feature" else part for name, part in feature.items()}


def _with_attributes(feature: Any) -> Any:
    return Feature({k: _with_attributes(part) for k, part in feature.items()}) if isinstance(feature, dict) else feature
