"""Find the one schema that the rows of several schemas fit into."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import pyarrow as pa
from pyarrow import types

from raydata_ext.errors import SchemaError
from raydata_ext.table.metadata import merge_schema_metadata

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_WIDEST_NARROW_FLOAT = 32  # a float of at most so many bits holds the integers of fewer bits exactly
_INTEGER_DIGITS = {8: 3, 16: 5, 32: 10, 64: 20}
_DECIMAL_128_DIGITS = 38
_DECIMAL_256_DIGITS = 76
_UNITS = ("s", "ms", "us", "ns")
_LISTS: tuple[tuple[Callable[[pa.DataType], bool], Callable[[pa.Field], pa.DataType]], ...] = (
    (types.is_list, pa.list_),
    (types.is_fixed_size_list, pa.list_),
    (types.is_large_list, pa.large_list),
    (types.is_list_view, pa.list_view),
    (types.is_large_list_view, pa.large_list_view),
)


def unify_schemas(schemas: Iterable[pa.Schema]) -> pa.Schema:
    """Return the schema that holds the columns of all schemas, each with a type that holds all its types.

    Columns stand in the order in which they are first seen. Types widen: null to anything, integers to wider integers
    or floats (and to uint64 where one is that: then a negative value is an error when it is cast), a string to
    large_string, a list to large_list, lists of different fixed sizes to a list, temporal units to the finer one, time
    zones that differ to UTC, decimals to more digits, a dictionary to its values; struct fields are merged like
    columns. A column or field that is nullable or missing somewhere is nullable. Schema metadata is the first one seen
    of each key; of the `huggingface` key, the feature of each column is the first one seen.

    Args:
        schemas: one schema at least. Equal ones cost next to nothing.

    Raises:
        SchemaError: two types have no common type; names the column path and both types. Or there is no schema.
        ValueError: a schema names a column twice.
    """
    distinct: dict[bytes, pa.Schema] = {}
    last: pa.Schema | None = None
    for schema in schemas:
        if last is None or not schema.equals(last):
            distinct.setdefault(schema.remove_metadata().serialize().to_pybytes(), schema)
            last = schema
    if not distinct:
        raise SchemaError("there is no schema to unify; pass one at least")
    different = list(distinct.values())
    if len(different) == 1:
        return different[0]
    return pa.schema(_merge_fields(different, ""), metadata=merge_schema_metadata(different))


def unify_types(data_types: Iterable[pa.DataType], path: str = "column") -> pa.DataType:
    """Return the type that holds the values of all types; null where there are none but null.

    Raises:
        SchemaError: there is no such type; names `path`, the place inside it, and two types.
    """
    distinct = [data_type for data_type in dict.fromkeys(data_types) if not types.is_null(data_type)]
    if len(distinct) <= 1:
        return distinct[0] if distinct else pa.null()
    for unify_all in (_unify_dictionaries, _unify_structs, _unify_lists, _unify_maps):
        unified = unify_all(distinct, path)
        if unified is not None:
            return unified
    return functools.reduce(lambda first, second: _widen(first, second, path), distinct)


def _merge_fields(groups: Sequence[Iterable[pa.Field]], prefix: str) -> list[pa.Field]:
    """Merge groups of fields by name; `prefix` is the path of what holds them."""
    variants: dict[str, list[pa.Field]] = {}
    times_seen: dict[str, int] = {}
    last_seen: dict[str, int] = {}
    for index, group in enumerate(groups):
        for field in group:
            name = field.name
            if last_seen.get(name) == index:
                raise ValueError(f"`{prefix}{name}` occurs twice in one schema; rename one before unifying")
            last_seen[name] = index
            times_seen[name] = times_seen.get(name, 0) + 1
            known = variants.setdefault(name, [])
            if not known or not field.equals(known[-1]):
                known.append(field)
    return [
        _merge_field(known, f"{prefix}{name}", missing=times_seen[name] < len(groups))
        for name, known in variants.items()
    ]


def _merge_field(variants: Sequence[pa.Field], path: str, *, missing: bool = False) -> pa.Field:
    unified = unify_types((field.type for field in variants), path)
    return variants[0].with_type(unified).with_nullable(missing or any(field.nullable for field in variants))


def _unify_dictionaries(kinds: Sequence[pa.DataType], path: str) -> pa.DataType | None:
    """Dictionaries alone are a dictionary; with other types among them, their values are what counts."""
    if not any(types.is_dictionary(kind) for kind in kinds):
        return None
    values = unify_types((kind.value_type if types.is_dictionary(kind) else kind for kind in kinds), path)
    if not all(types.is_dictionary(kind) for kind in kinds):
        return values
    indices = unify_types((kind.index_type for kind in kinds), path)
    return pa.dictionary(indices, values, ordered=all(kind.ordered for kind in kinds))


def _unify_structs(kinds: Sequence[pa.DataType], path: str) -> pa.DataType | None:
    return pa.struct(_merge_fields(kinds, f"{path}.")) if all(map(types.is_struct, kinds)) else None


def _unify_lists(kinds: Sequence[pa.DataType], path: str) -> pa.DataType | None:
    matches = [make for kind in kinds for is_kind, make in _LISTS if is_kind(kind)]
    if len(matches) < len(kinds):
        return None
    makers = set(matches)
    item = _merge_field([kind.value_field for kind in kinds], f"{path}[]")
    sizes = {kind.list_size if types.is_fixed_size_list(kind) else None for kind in kinds}
    if len(sizes) == 1 and None not in sizes:
        return pa.list_(item, sizes.pop())
    if len(makers) == 1:
        return makers.pop()(item)
    return pa.large_list(item) if makers & {pa.large_list, pa.large_list_view} else pa.list_(item)


def _unify_maps(kinds: Sequence[pa.DataType], path: str) -> pa.DataType | None:
    if not all(map(types.is_map, kinds)):
        return None
    return pa.map_(
        _merge_field([kind.key_field for kind in kinds], f"{path}[].key"),
        _merge_field([kind.item_field for kind in kinds], f"{path}[].value"),
    )


def _widen(first: pa.DataType, second: pa.DataType, path: str) -> pa.DataType:
    if first.equals(second):
        return first
    for widen in (_widen_numbers, _widen_bytes, _widen_times):
        unified = widen(first, second)
        if unified is not None:
            return unified
    raise SchemaError(f"`{path}` is {first} in one place and {second} in another, which have no common type; cast one")


def _widen_numbers(first: pa.DataType, second: pa.DataType) -> pa.DataType | None:
    if types.is_decimal(first) or types.is_decimal(second):
        return _widen_decimals(first, second)
    numbers = [first, second]
    if not all(types.is_integer(kind) or types.is_floating(kind) for kind in numbers):
        return None
    floats = sorted((kind for kind in numbers if types.is_floating(kind)), key=lambda kind: int(kind.bit_width))
    integers = sorted((kind for kind in numbers if types.is_integer(kind)), key=lambda kind: int(kind.bit_width))
    if not integers:
        return floats[-1]
    if floats:
        exact = integers[0].bit_width < floats[0].bit_width and floats[0].bit_width <= _WIDEST_NARROW_FLOAT
        return floats[0] if exact else pa.float64()
    return _widen_integers(integers)


def _widen_integers(kinds: list[pa.DataType]) -> pa.DataType:
    """The type that holds both; of uint64 and a signed one it is uint64, since no type holds all of both.

    Args:
        kinds: two types, the wider one last.
    """
    unsigned = [kind for kind in kinds if types.is_unsigned_integer(kind)]
    if len(unsigned) != 1:
        return kinds[-1]
    (signed,) = (kind for kind in kinds if kind not in unsigned)
    bits = max(signed.bit_width, 2 * unsigned[0].bit_width)
    return {16: pa.int16(), 32: pa.int32(), 64: pa.int64()}.get(bits, pa.uint64())


def _widen_decimals(first: pa.DataType, second: pa.DataType) -> pa.DataType | None:
    shapes = [_decimal_shape(first), _decimal_shape(second)]
    if shapes[0] is None or shapes[1] is None:
        return None
    scale = max(shapes[0][1], shapes[1][1])
    precision = scale + max(shape[0] - shape[1] for shape in shapes if shape)
    if precision <= _DECIMAL_128_DIGITS and not any(types.is_decimal256(kind) for kind in (first, second)):
        return pa.decimal128(precision, scale)
    return pa.decimal256(precision, scale) if precision <= _DECIMAL_256_DIGITS else None


def _decimal_shape(data_type: pa.DataType) -> tuple[int, int] | None:
    """Return precision and scale of the decimal that holds every value of a decimal or integer type."""
    if types.is_decimal(data_type):
        return data_type.precision, data_type.scale
    return (_INTEGER_DIGITS[data_type.bit_width], 0) if types.is_integer(data_type) else None


def _widen_bytes(first: pa.DataType, second: pa.DataType) -> pa.DataType | None:
    kinds = (first, second)
    if all(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind) for kind in kinds):
        return pa.large_string() if any(types.is_large_string(kind) for kind in kinds) else pa.string()
    binary = (types.is_binary, types.is_large_binary, types.is_binary_view, types.is_fixed_size_binary)
    if all(any(is_kind(kind) for is_kind in binary) for kind in kinds):
        return pa.large_binary() if any(types.is_large_binary(kind) for kind in kinds) else pa.binary()
    return None


def _widen_times(first: pa.DataType, second: pa.DataType) -> pa.DataType | None:
    if types.is_date(first) and types.is_date(second):
        return pa.date64()
    for is_kind, make in (
        (types.is_timestamp, lambda unit: pa.timestamp(unit, first.tz if first.tz == second.tz else "UTC")),
        (types.is_duration, pa.duration),
        (types.is_time, lambda unit: pa.time32(unit) if unit in ("s", "ms") else pa.time64(unit)),
    ):
        if is_kind(first) and is_kind(second):
            if types.is_timestamp(first) and (first.tz is None) != (second.tz is None):
                return None
            return make(max(first.unit, second.unit, key=_UNITS.index))
    return None
