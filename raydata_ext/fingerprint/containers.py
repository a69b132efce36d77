"""Containers and other values of the standard library that are known by what they hold."""

from __future__ import annotations

import array
import datetime as dt
import decimal
import fractions
import logging
import re
import types
import uuid
import zoneinfo
from collections import Counter, OrderedDict, defaultdict, deque
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

import xxhash

from raydata_ext.fingerprint.framing import digest, encode_scalar, is_scalar, require_scalar
from raydata_ext.fingerprint.node import Edge, Node, Role, Scope, named, placed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

# Larger containers of scalars alone are hashed at one go; smaller ones keep their items apart, to name one that
# changed.
_SMALL: Final = 32


def describe_sequence(value: Collection[object], _scope: Scope) -> Node:
    """Describe a list, tuple or deque by its items in their order."""
    tag = type(value).__name__
    if len(value) > _SMALL and all(map(is_scalar, value)):
        return Node(tag, (b"scalars", digest(*map(require_scalar, value))))
    edges = [placed(Role.ITEM, str(index), item) for index, item in enumerate(value)]
    if isinstance(value, deque):
        return Node(tag, (require_scalar(value.maxlen),), edges)
    return Node(tag, (), edges)


def describe_set(value: Collection[object], _scope: Scope) -> Node:
    """Describe a set by its elements; their order, which differs from process to process, has no part."""
    tag = "set" if isinstance(value, set) else "frozenset"
    if len(value) > _SMALL and all(map(is_scalar, value)):
        return Node(tag, (b"scalars", digest(*sorted(map(require_scalar, value)))))
    return Node(tag, (), [placed(Role.ITEM, "element", item) for item in value], ordered=False)


def describe_mapping(value: Mapping[Any, object], _scope: Scope) -> Node:
    """Describe a dict by its items, in their order: iteration shows it to the function."""
    tag = "dict" if type(value) is dict else type(value).__name__
    if len(value) > _SMALL and all(map(is_scalar, value)) and all(map(is_scalar, value.values())):
        content = digest(*map(require_scalar, value), *map(require_scalar, value.values()))
        return Node(tag, (b"scalars", content), _factory(value))
    return Node(tag, (), [*_factory(value), *mapping_edges(value)])


def _describe_set_subclass(value: Any, scope: Scope) -> Node:
    owner = type(value).__name__
    attributes = {key: item for key, item in getattr(value, "__dict__", {}).items() if not scope.excludes(owner, key)}
    edges = [placed(Role.CLASS, owner, type(value)), placed(Role.ITEM, "elements", frozenset(value))]
    edges += [named(Role.ATTRIBUTE, key, item) for key, item in sorted(attributes.items())]
    return Node("set subclass", (), edges)


def mapping_edges(value: Mapping[Any, object]) -> list[Edge]:
    """Edges to the items of a mapping, with the keys."""
    edges = []
    for key, item in value.items():
        encoded = encode_scalar(key)
        name = repr(key) if encoded is not None and len(encoded) < _SMALL else "key"
        if encoded is None:
            edges.append(placed(Role.KEY, name, key))
        edges.append(Edge(Role.ITEM, name, item, b"item" if encoded is None else b"item:" + encoded))
    return edges


def _factory(value: Mapping[Any, object]) -> list[Edge]:
    return [placed(Role.ATTRIBUTE, "default_factory", value.default_factory)] if isinstance(value, defaultdict) else []


def _describe_bytes(value: Any, _scope: Scope) -> Node:
    """Mutable bytes and views of bytes, with the shape and format of a view."""
    view = memoryview(value)
    layout = f"{view.format} {view.shape}" if isinstance(value, memoryview) else ""
    content = view if view.c_contiguous else view.tobytes()
    return Node(type(value).__name__, (layout.encode(), xxhash.xxh3_128_digest(content)))


def _describe_array(value: array.array[Any], _scope: Scope) -> Node:
    return Node("array", (value.typecode.encode(), xxhash.xxh3_128_digest(value)))


def _by_text(tag: str, text: Callable[[Any], str]) -> Callable[[Any, Scope], Node]:
    def describe(value: object, _scope: Scope) -> Node:
        return Node(tag, (text(value).encode("utf-8", "surrogatepass"),), name=text(value))

    return describe


def _by_values(tag: str, values: Callable[[Any], tuple[object, ...]]) -> Callable[[Any, Scope], Node]:
    def describe(value: object, _scope: Scope) -> Node:
        return Node(tag, (), [placed(Role.ITEM, str(index), item) for index, item in enumerate(values(value))])

    return describe


def _describe_namespace(value: types.SimpleNamespace, scope: Scope) -> Node:
    edges = [
        named(Role.ATTRIBUTE, key, item)
        for key, item in vars(value).items()
        if not scope.excludes("SimpleNamespace", key)
    ]
    return Node("SimpleNamespace", (), edges, ordered=False)


def _clock(value: Any) -> tuple[object, ...]:
    return (value.replace(tzinfo=None).isoformat(), value.fold, value.tzinfo)


EXACT: Final[dict[type, Callable[[Any, Scope], Node]]] = {
    list: describe_sequence,
    tuple: describe_sequence,
    deque: describe_sequence,
    set: describe_set,
    frozenset: describe_set,
    dict: describe_mapping,
    OrderedDict: describe_mapping,
    defaultdict: describe_mapping,
    Counter: describe_mapping,
    types.MappingProxyType: describe_mapping,
    types.SimpleNamespace: _describe_namespace,
    bytearray: _describe_bytes,
    memoryview: _describe_bytes,
    array.array: _describe_array,
    range: _by_values("range", lambda value: (value.start, value.stop, value.step) if len(value) else ()),
    slice: _by_values("slice", lambda value: (value.start, value.stop, value.step)),
    dt.datetime: _by_values("datetime", _clock),
    dt.time: _by_values("time", _clock),
    dt.date: _by_text("date", dt.date.isoformat),
    dt.timedelta: _by_values("timedelta", lambda value: (value.days, value.seconds, value.microseconds)),
    dt.timezone: _by_values("timezone", lambda value: (value.utcoffset(None), value.tzname(None))),
    zoneinfo.ZoneInfo: _by_text("zone", lambda value: value.key or repr(value)),
    decimal.Decimal: _by_values("decimal", lambda value: tuple(value.as_tuple())),
    fractions.Fraction: _by_values("fraction", lambda value: (value.numerator, value.denominator)),
    uuid.UUID: _by_text("uuid", str),
    re.Pattern: _by_values("pattern", lambda value: (value.pattern, value.flags)),
    types.GenericAlias: _by_values("generic alias", lambda value: (value.__origin__, value.__args__)),
    types.UnionType: _by_values("union", lambda value: (frozenset(value.__args__),)),
}

# Types whose subclasses count in the same way.
FAMILIES: Final[dict[type, Callable[[Any, Scope], Node]]] = {
    PurePath: _by_text("path", PurePath.as_posix),
    set: _describe_set_subclass,
    frozenset: _describe_set_subclass,
    logging.Logger: _by_text("logger", lambda value: value.name),
}
