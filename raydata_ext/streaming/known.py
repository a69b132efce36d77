"""What is known of a whole without reading it, from what is known of its parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raydata_ext.table import unify_schemas

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa


def known_sum(counts: Iterable[int | None]) -> int | None:
    """The sum of some counts; None where one of them is not known."""
    total = 0
    for count in counts:
        if count is None:
            return None
        total += count
    return total


def known_schema(schemas: Iterable[pa.Schema | None]) -> pa.Schema | None:
    """The schema of rows that come from parts of different schemas; None where one is not known, or there are no parts.

    Raises:
        SchemaError: columns are of types that do not go together.
    """
    different = {}
    for schema in schemas:
        if schema is None:
            return None
        different[schema.serialize().to_pybytes()] = schema  # thousands of files mostly have one schema
    return unify_schemas(different.values()) if different else None
