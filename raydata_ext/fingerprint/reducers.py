"""The registry of reducers: what stands for a value of a given type when it is hashed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

from raydata_ext.fingerprint.node import Node, Role, Scope, placed

if TYPE_CHECKING:
    from collections.abc import Callable

_T = TypeVar("_T")
_REDUCERS: Final[dict[type, Callable[[Any], object]]] = {}


def register(type: type[_T], function: Callable[[_T], object]) -> None:  # noqa: A002 (the name that users see)
    """Let `function(value)` stand for every value of a type and its subclasses (unless those have their own).

    For objects that fill a cache on first use, or that hold what cannot be hashed. It holds for this process, and
    comes before everything that is known of the type. Registering a type again replaces its reducer.

    Args:
        type: A class.
        function: Takes the object and returns a plain value (numbers, strings, containers of them, arrays) that
            changes exactly when the result of using the object may change.

    Raises:
        TypeError: `type` is no class, or `function` cannot be called.
    """
    if not isinstance(type, _TYPE):
        raise TypeError(f"register() takes a class and a function, not {type!r:.80}")
    if not callable(function):
        raise TypeError(f"the reducer of {type.__name__} cannot be called: {function!r:.80}")
    _REDUCERS[type] = function


_TYPE: Final = type


def find_reducer(cls: type) -> Callable[[Any], object] | None:
    """The reducer registered for a class or, failing that, for the nearest of its bases."""
    if not _REDUCERS:
        return None
    return next((_REDUCERS[base] for base in cls.__mro__ if base in _REDUCERS), None)


def describe_reduced(value: object, reducer: Callable[[Any], object], _scope: Scope) -> Node:
    """Describe a value by the name of its class and what the reducer gives for it."""
    name = type(value).__name__
    return Node("reduced", (name.encode(),), [placed(Role.STATE, "registered reducer", reducer(value))], name=name)
