"""The type a column had before, taken again where that changes no value.

Inference sees the values of one batch: it says `int64` where the column was `int32`, and `null` where a batch holds
nothing. The former type is taken instead if it is of the same kind and every value fits it exactly. A text never
becomes the number it spells, nor a float the integer it equals: who changes the kind of the values means it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.types as pat

from raydata_ext.errors import SchemaError
from raydata_ext.table.cast import cast_array

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TOKEN_TYPES = {
    "input_ids": pa.int32(),
    "attention_mask": pa.int8(),
    "special_tokens_mask": pa.int8(),
    "token_type_ids": pa.int8(),
}
"""Columns of tokenizers that need less than 64 bits (the convention of Hugging Face `datasets`)."""


def fit_hint(array: pa.Array, hint: pa.DataType) -> pa.Array:
    """The array as the hinted type if no value changes by that, else the array itself.

    Of structs, fields that the hinted type has take its types and its order; others follow.

    Args:
        array: Values under their inferred type.
        hint: The type the column had before.
    """
    kind = _towards(array.type, hint)
    if array.type == kind:
        return array
    try:
        fitted = _cast(array, kind)
        if _narrows_floats(array.type, kind) and not _same_floats(array, _cast(fitted, array.type)):
            return array
    except SchemaError:
        return array
    return fitted


def fit_lists(array: pa.Array, hint: pa.DataType) -> pa.Array:
    """The array with the kinds of lists of the hinted type around its items, if these are of the hinted type already.

    Args:
        array: Values whose type was chosen, as that of a numpy array is; how long the lists are was not.
        hint: The type the column had before.
    """
    fits = _is_any_list(hint) and _innermost(array.type) in {_innermost(hint), pa.null()}
    return fit_hint(array, hint) if fits else array


def unsigned_type(kind: pa.DataType) -> pa.DataType:
    """The type with uint64 in place of int64, at any depth of lists and structs."""
    if pat.is_struct(kind):
        return pa.struct([field.with_type(unsigned_type(field.type)) for field in kind])
    if pat.is_list(kind):
        return pa.list_(unsigned_type(kind.value_type))
    return pa.uint64() if pat.is_int64(kind) else kind


def narrow_tokens(array: pa.Array, name: str) -> pa.Array:
    """Token columns (`TOKEN_TYPES`) in their small type, if they are int64 at heart and all values fit."""
    narrow = TOKEN_TYPES.get(name)
    return array if narrow is None else fit_hint(array, _replace_int64(array.type, narrow))


def needs_direct_conversion(hint: pa.DataType) -> bool:
    """Whether values of this type cannot be told from their Python form: maps and extension types."""
    if pat.is_map(hint) or isinstance(hint, pa.BaseExtensionType):
        return True
    if pat.is_dictionary(hint):
        return False
    return any(needs_direct_conversion(hint.field(i).type) for i in range(hint.num_fields))


def _cast(array: pa.Array, kind: pa.DataType) -> pa.Array:
    try:
        return array.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return cast_array(array, kind)  # which casts more, and takes longer


def _towards(inferred: pa.DataType, hint: pa.DataType) -> pa.DataType:
    """The inferred type with the hinted one wherever that is of the same kind, at any depth."""
    if pat.is_struct(inferred) and pat.is_struct(hint):
        now = {field.name: field.type for field in inferred}
        known = [field.with_type(_towards(now[field.name], field.type)) for field in hint if field.name in now]
        names = {field.name for field in known}
        return pa.struct([*known, *(field for field in inferred if field.name not in names)])
    if _is_any_list(inferred) and _is_any_list(hint):
        items = _towards(inferred.value_type, hint.value_type)
        return hint if items == hint.value_type else pa.list_(inferred.value_field.with_type(items))
    return hint if _same_kind(inferred, hint) else inferred


def _same_kind(inferred: pa.DataType, hint: pa.DataType) -> bool:
    if pat.is_null(inferred):
        return True
    if pat.is_dictionary(hint):
        return _same_kind(inferred.value_type if pat.is_dictionary(inferred) else inferred, hint.value_type)
    if pat.is_timestamp(inferred):
        return pat.is_timestamp(hint) and (inferred.tz is None) == (hint.tz is None)
    return any(is_kind(inferred) and is_kind(hint) for is_kind in _KINDS)


def _is_any_list(kind: pa.DataType) -> bool:
    return any(is_kind(kind) for is_kind in _LISTS)


def _innermost(kind: pa.DataType) -> pa.DataType:
    """The type of the items of lists of lists."""
    return _innermost(kind.value_type) if _is_any_list(kind) else kind


def _is_any_string(kind: pa.DataType) -> bool:
    return bool(pat.is_string(kind) or pat.is_large_string(kind) or pat.is_string_view(kind))


def _is_any_binary(kind: pa.DataType) -> bool:
    return bool(
        pat.is_binary(kind) or pat.is_large_binary(kind) or pat.is_fixed_size_binary(kind) or pat.is_binary_view(kind)
    )


_LISTS: tuple[Callable[[pa.DataType], bool], ...] = (
    pat.is_list,
    pat.is_large_list,
    pat.is_fixed_size_list,
    pat.is_list_view,
    pat.is_large_list_view,
)
_KINDS: tuple[Callable[[pa.DataType], bool], ...] = (
    pat.is_integer,
    pat.is_floating,
    pat.is_boolean,
    _is_any_string,
    _is_any_binary,
    pat.is_decimal,
    pat.is_date,
    pat.is_time,
    pat.is_duration,
)


def _narrows_floats(inferred: pa.DataType, hint: pa.DataType) -> bool:
    if pat.is_floating(inferred):
        return pat.is_floating(hint) and bool(hint.bit_width < inferred.bit_width)
    if _is_any_list(inferred):
        return _narrows_floats(inferred.value_type, hint.value_type)
    if pat.is_struct(inferred):
        return any(_narrows_floats(field.type, hint.field(field.name).type) for field in inferred)
    return False


def _same_floats(array: pa.Array, other: pa.Array) -> bool:
    return all(
        np.array_equal(left, right, equal_nan=True)
        for left, right in zip(_float_leaves(array), _float_leaves(other), strict=True)
    )


def _float_leaves(array: pa.Array) -> Iterator[np.ndarray[tuple[int], np.dtype[np.floating]]]:
    if pat.is_floating(array.type):
        yield array.drop_null().to_numpy(zero_copy_only=False)
    elif _is_any_list(array.type):
        yield from _float_leaves(array.flatten())
    elif pat.is_struct(array.type):
        for child in array.flatten():
            yield from _float_leaves(child)


def _replace_int64(kind: pa.DataType, narrow: pa.DataType) -> pa.DataType:
    if pat.is_int64(kind):
        return narrow
    if pat.is_list(kind):
        return pa.list_(_replace_int64(kind.value_type, narrow))
    if pat.is_large_list(kind):
        return pa.large_list(_replace_int64(kind.value_type, narrow))
    return kind
