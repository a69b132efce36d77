"""Whether values that were handed out have been changed in place since.

A user's function may append to a list it was given and expect to find that in the result. What was handed out is
compared, leaf by leaf and by identity, with a snapshot of its containers: `1` put where an equal `True` or `1.0` stood
counts as a change, and a NaN left alone does not.
"""

from __future__ import annotations

import operator
from typing import Any

import pyarrow as pa


def is_mutable(kind: pa.DataType) -> bool:
    """Whether Python values of this Arrow type are containers, which can be changed in place."""
    return bool(pa.types.is_nested(kind)) or isinstance(kind, pa.BaseExtensionType)


def snapshot(value: Any) -> Any:
    """A copy of lists and dicts, at any depth, around the very same leaves.

    Args:
        value: A Python value as Arrow gives it: the items of one list are all containers (or None), or all leaves.
    """
    if type(value) is list:
        if value and type(value[0]) in _LEAVES:  # a list of numbers or strings: its copy is one memcpy
            return value.copy()
        return [snapshot(item) for item in value]
    if type(value) is dict:
        return {key: snapshot(item) for key, item in value.items()}
    if type(value) is tuple:  # an entry of a map, whose value may be a list
        return tuple(map(snapshot, value))
    return value


def is_unchanged(value: Any, before: Any) -> bool:
    """Whether `value` still holds what it held when `before` was made of it by `snapshot`."""
    if value is before:
        return True
    kind = type(value)
    if kind is not type(before):
        return False
    if kind is list or kind is tuple:
        return len(value) == len(before) and (
            all(map(operator.is_, value, before)) or all(map(is_unchanged, value, before))
        )
    return kind is dict and list(value) == list(before) and all(map(is_unchanged, value.values(), before.values()))


_LEAVES = frozenset({int, float, bool, str, bytes})
