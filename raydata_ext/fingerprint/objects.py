"""Objects of all other classes: by class and state, in the order in which an object may say what its state is.

1. `__fingerprint__`: a method, a property or a value set on the object stands for the object. (A plain value in the
body of a
   class stands for the code of the class only.)
2. What the object gives to `pickle`: `__getstate__`, `__reduce__`, `__reduce_ex__`, `copyreg`; by default the
attributes.
"""

from __future__ import annotations

import asyncio
import copyreg
import functools
import importlib.machinery
import io
import socket
import subprocess
import sys
import threading
import types
import weakref
from typing import TYPE_CHECKING, Any, Final, cast

from raydata_ext.fingerprint.containers import mapping_edges
from raydata_ext.fingerprint.modules import Reference, describe_reference, installed_source
from raydata_ext.fingerprint.node import Edge, Node, Role, Scope, UnhashableError, named, placed

if TYPE_CHECKING:
    from collections.abc import Iterator

_PICKLE_PROTOCOL: Final = 4
_COMPILED: Final = tuple(importlib.machinery.EXTENSION_SUFFIXES)
# Objects that are bound to this process or moment, although some of them have attributes that could be hashed.
_WITHOUT_CONTENT: Final = (
    threading.Thread,
    socket.socket,
    subprocess.Popen,
    asyncio.Future,
    io.BufferedIOBase,
    io.RawIOBase,
    io.TextIOWrapper,
    types.GeneratorType,
    types.CoroutineType,
    types.AsyncGeneratorType,
    types.FrameType,
    types.TracebackType,
    weakref.ReferenceType,
    weakref.ProxyType,
)
NO_FINGERPRINT: Final = object()


def own_fingerprint(value: object) -> object:
    """What the object says of itself by `__fingerprint__`, or `NO_FINGERPRINT`."""
    in_class = any("__fingerprint__" in vars(base) for base in type(value).__mro__)
    on_object = "__fingerprint__" in getattr(value, "__dict__", {})
    if not in_class and not on_object:
        return NO_FINGERPRINT
    found = getattr(value, "__fingerprint__", NO_FINGERPRINT)
    if callable(found):
        return found()
    declared = next(
        (vars(base)["__fingerprint__"] for base in type(value).__mro__ if "__fingerprint__" in vars(base)), None
    )
    return found if on_object or hasattr(declared, "__get__") else NO_FINGERPRINT


def describe_own_fingerprint(value: object, given: object) -> Node:
    """Describe an object by the name of its class and what its `__fingerprint__` gives."""
    name = type(value).__name__
    return Node("own fingerprint", (name.encode(),), [placed(Role.STATE, "__fingerprint__", given)], name=name)


def describe_object(value: object, scope: Scope) -> Node:
    """Describe an object by its class and state.

    Raises:
        UnhashableError: It has no state that could be known, such as a lock, or it refuses to tell.
    """
    if isinstance(value, _WITHOUT_CONTENT) and not isinstance(value, io.BytesIO):
        raise UnhashableError
    reduced = _reduce(value)
    if isinstance(reduced, str):
        return _describe_by_name(value, reduced, scope)
    if not isinstance(reduced, tuple) or len(reduced) < 2:  # noqa: PLR2004 (a function and its arguments)
        raise UnhashableError
    function, arguments, state, items, pairs = (*reduced, None, None, None)[:5]
    edges = [
        *_constructor(value, function, arguments),
        *_state(value, state, scope),
        *[placed(Role.ITEM, str(index), item) for index, item in enumerate(items or ())],
        *mapping_edges(dict(pairs or ())),
    ]
    return Node("object", (), sorted_state(edges), name=type(value).__name__)


def sorted_state(edges: list[Edge]) -> list[Edge]:
    """Attributes in the order of their names, all else in its own order: when an attribute was set has no part."""
    attributes = sorted((edge for edge in edges if edge.role is Role.ATTRIBUTE), key=lambda edge: edge.name)
    return [*attributes, *(edge for edge in edges if edge.role is not Role.ATTRIBUTE)]


def _reduce(value: object) -> object:
    reducer = copyreg.dispatch_table.get(type(value))
    try:
        return reducer(value) if reducer is not None else value.__reduce_ex__(_PICKLE_PROTOCOL)
    except Exception as error:
        raise UnhashableError(str(error)) from error


def _describe_by_name(value: object, name: str, scope: Scope) -> Node:
    """An object that pickles as the name of a global, such as a type variable or a sentinel."""
    module = str(getattr(value, "__module__", ""))
    source = installed_source(module)
    if source is not None:
        return describe_reference(Reference(source, module, name), scope)
    edges = [placed(Role.CLASS, type(value).__name__, type(value))]
    home = sys.modules.get(module)
    if home is not None and str(getattr(home, "__file__", "")).endswith(_COMPILED):
        edges.append(placed(Role.GLOBAL, module, home))
    return Node("global object", (name.encode(),), edges, name=name)


def _constructor(value: object, function: object, arguments: object) -> Iterator[Edge]:
    """The function that makes the object anew; the usual ones are no more than the class and its arguments."""
    given = list(cast("tuple[object, ...]", arguments))
    if function is copyreg.__newobj__ and given:  # type: ignore[attr-defined]
        yield placed(Role.CLASS, type(value).__name__, given.pop(0))
    elif function is _RECONSTRUCTOR and len(given) == 3 and given[1] is object:  # noqa: PLR2004 (class, base, state)
        yield placed(Role.CLASS, type(value).__name__, given[0])
        given = []
    else:
        yield placed(Role.FUNCTION, getattr(function, "__name__", "constructor"), function)
    for index, argument in enumerate(given):
        yield placed(Role.ARGUMENT, str(index), argument)


_RECONSTRUCTOR: Final = copyreg._reconstructor  # type: ignore[attr-defined]  # noqa: SLF001 (found in pickles)


def _state(value: object, state: Any, scope: Scope) -> Iterator[Edge]:
    owner = type(value).__name__
    # With __slots__, the state is a pair: attributes in the dict (or None), and those in slots.
    parts = state if _is_pair_of_dicts(state) else (state,)
    for part in parts:
        if isinstance(part, dict) and all(isinstance(key, str) for key in part):
            for key, item in part.items():
                if not scope.excludes(owner, key) and not _is_cached(type(value), key):
                    yield named(Role.ATTRIBUTE, key, item)
        elif part is not None:
            yield placed(Role.STATE, "__getstate__()", part)


def _is_cached(cls: type, name: str) -> bool:
    """Whether an attribute holds what a cached property computed from the rest of the state."""
    found = next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)
    return isinstance(found, functools.cached_property)


def _is_pair_of_dicts(state: object) -> bool:
    return (
        isinstance(state, tuple)
        and len(state) == 2  # noqa: PLR2004 (dict and slots)
        and all(part is None or isinstance(part, dict) for part in state)
    )
