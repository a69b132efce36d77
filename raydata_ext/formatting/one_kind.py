"""Values that pyarrow puts in one array though they are of several kinds, so that some of them change.

Beside a date, a time or a duration it takes a number for a count of days or microseconds; in a column of dates it drops
the time of day; times with and without a zone all take after the first; bytes in a list of texts become a text that
nobody can read. Here each of these is an error, as other mixtures are in pyarrow. Times of several zones do go
together, in UTC, since they are the same instants there.
"""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.types as pat

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def of_one_kind(array: pa.Array, items: Sequence[Any]) -> pa.Array:
    """An array of an inferred type, once its values are known to be of one kind.

    Args:
        array: what pyarrow made of the values.
        items: the values.

    Returns:
        The array; where times are of several zones, in UTC.

    Raises:
        ArrowInvalid: a value is not of the kind of the array.
    """
    kind = array.type
    if pat.is_nested(kind) and _has(pat.is_string, kind):
        _require_text(array)
    if not _has(_may_be_mixed, kind):
        return array
    in_utc = _checked(items, kind)
    return array if in_utc == kind else array.cast(in_utc)


def _require_text(array: pa.Array) -> None:
    """Find bytes that are no text, for less than a look at each value would cost."""
    try:
        array.validate(full=True)
    except pa.ArrowInvalid as error:
        raise pa.ArrowInvalid("bytes and str do not go together") from error


def _checked(items: Sequence[Any], kind: pa.DataType) -> pa.DataType:
    """The type, with UTC in place of zones that differ."""
    if not _has(_may_be_mixed, kind):
        return kind
    if pat.is_list(kind) or pat.is_large_list(kind):
        inner = list(itertools.chain.from_iterable(item for item in items if hasattr(item, "__iter__")))
        field = kind.value_field.with_type(_checked(inner, kind.value_type))
        return pa.list_(field) if pat.is_list(kind) else pa.large_list(field)
    if pat.is_struct(kind):
        rows = [item for item in items if isinstance(item, Mapping)]
        fields = [field.with_type(_checked([row.get(field.name) for row in rows], field.type)) for field in kind]
        return pa.struct(fields)
    for found in set(map(type, items)):
        if not _belongs(found, kind):
            raise pa.ArrowInvalid(f"{found.__name__} and {kind} do not go together")
    return _in_utc(items, kind) if pat.is_timestamp(kind) else kind


def _belongs(found: type, kind: pa.DataType) -> bool:
    if issubclass(found, _ANYWHERE) or found.__name__ == "NAType":  # that of pandas, which need not be installed
        return True
    if pat.is_date(kind) and issubclass(found, dt.datetime):  # a datetime is a date, to Python
        return False
    if found.__name__ == "NaTType":
        return bool(pat.is_timestamp(kind) or pat.is_duration(kind))
    return any(is_kind(kind) and issubclass(found, known) for is_kind, known in _KNOWN)


def _in_utc(items: Sequence[Any], kind: pa.TimestampType) -> pa.TimestampType:
    # NaT is a datetime, too, of no zone; it alone does not equal itself.
    zones = {item.tzinfo for item in items if isinstance(item, dt.datetime) and item == item}  # noqa: PLR0124 - see above
    if len(zones) <= 1:
        return kind
    if None in zones:
        raise pa.ArrowInvalid("times with and without a time zone do not go together")
    return kind if len(set(map(pa.lib.tzinfo_to_string, zones))) == 1 else pa.timestamp(kind.unit, "UTC")


def _has(is_kind: Callable[[pa.DataType], bool], kind: pa.DataType) -> bool:
    """Whether a type is of some kind, or has such types in its lists and structs."""
    if pat.is_nested(kind):
        return any(_has(is_kind, kind.field(i).type) for i in range(kind.num_fields))
    return is_kind(kind)


def _may_be_mixed(kind: pa.DataType) -> bool:
    """Whether pyarrow may have made this type of values of several kinds."""
    return bool(pat.is_temporal(kind) or pat.is_binary(kind))


_ANYWHERE = (type(None), pa.Scalar)
_KNOWN: tuple[tuple[Callable[[pa.DataType], bool], tuple[type, ...]], ...] = (
    (pat.is_date, (dt.date, np.datetime64)),
    (pat.is_time, (dt.time,)),
    (pat.is_timestamp, (dt.datetime, np.datetime64)),
    (pat.is_duration, (dt.timedelta, np.timedelta64)),
    (pat.is_binary, (bytes, bytearray, memoryview, pa.Buffer)),
)
