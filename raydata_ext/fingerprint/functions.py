"""Functions, methods and their wrappers: code, defaults, closure, and the globals that the code reads."""

from __future__ import annotations

import functools
import sys
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import TYPE_CHECKING, Any, Final, TypeGuard

from raydata_ext.fingerprint.code import summarize_code
from raydata_ext.fingerprint.modules import (
    WHEREABOUTS,
    Reference,
    describe_reference,
    imported_module,
    installed_source,
    reference_to,
    resolve,
)
from raydata_ext.fingerprint.node import Node, Role, Scope, UnhashableError, named, placed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from raydata_ext.fingerprint.code import CodeSummary
    from raydata_ext.fingerprint.node import Edge

_UNSET: Final = "(no value yet)"
_MISSING: Final = object()
_COMPILED_BY_TORCH: Final = "_torchdynamo_orig_callable"
# What decorators leave on a function for inspection; the wrapped function itself is in the closure.
_FOR_INSPECTION: Final = frozenset({"__wrapped__", "__isabstractmethod__"})


def describe_function(function: FunctionType, scope: Scope) -> Node:
    """Describe a Python function: neither its name nor the place of its source counts."""
    reference = reference_to(function)
    if reference is not None:
        return describe_reference(reference, scope)
    if _is_single_dispatch(function):
        return _describe_single_dispatch(function)
    original = function.__dict__.get(_COMPILED_BY_TORCH)
    if original is not None:
        return Node("compiled by torch", edges=[placed(Role.FUNCTION, function.__name__, original)])
    summary = summarize_code(function.__code__)
    name = function.__name__
    source = installed_source(str(function.__globals__.get("__name__", "")), function.__globals__.get("__file__"))
    reads = [
        *_closure(function, summary),
        *([] if source else [*_globals(function, summary), *_imports(function, summary)]),
    ]
    edges = [*_defaults(function), *reads, *_attributes(function)]
    return Node(
        "function",
        (summary.digest, (source or "").encode()),
        [edge for edge in edges if not scope.excludes(name, edge.name)],
        ordered=False,
        name=function.__qualname__.rpartition("<locals>.")[2],
        code=summary,
        module=function.__module__ or "",
    )


def describe_method(method: MethodType, scope: Scope) -> Node:
    """Describe a bound method by its function and its object."""
    reference = _exported_method(method)
    if reference is not None:
        return describe_reference(reference, scope)
    edges = [
        placed(Role.FUNCTION, method.__func__.__name__, method.__func__),
        placed(Role.ATTRIBUTE, "self", method.__self__),
    ]
    return Node("method", edges=edges, name=method.__func__.__name__)


def describe_builtin(function: BuiltinFunctionType | MethodWrapperType, scope: Scope) -> Node:
    """Describe a function of compiled code by its name, with its object if it is bound to one."""
    reference = reference_to(function) or _exported_method(function)
    if reference is not None:
        return describe_reference(reference, scope)
    owner = function.__self__
    if owner is None or isinstance(owner, ModuleType):
        return _describe_compiled(function, owner)
    return Node(
        "bound builtin", (function.__name__.encode(),), [placed(Role.ATTRIBUTE, "self", owner)], name=function.__name__
    )


def describe_descriptor(
    descriptor: MethodDescriptorType | WrapperDescriptorType | ClassMethodDescriptorType, _scope: Scope
) -> Node:
    """Describe an unbound method of compiled code, such as `str.lower`, by its class and name."""
    owner = descriptor.__objclass__
    name = descriptor.__name__
    return Node("descriptor", (name.encode(),), [placed(Role.CLASS, owner.__name__, owner)], name=name)


def describe_partial(partial: functools.partial[Any], _scope: Scope) -> Node:
    """Describe a partial (of a function or a method) by its function and arguments."""
    name = getattr(partial.func, "__name__", type(partial.func).__name__)
    edges = [placed(Role.FUNCTION, name, partial.func)]
    edges += [named(Role.ARGUMENT, str(index), value) for index, value in enumerate(partial.args)]
    edges += [named(Role.ARGUMENT, key, value) for key, value in partial.keywords.items()]
    edges += [
        named(Role.ATTRIBUTE, key, value)
        for key, value in getattr(partial, "__dict__", {}).items()
        if key not in _PARTIAL
    ]
    return Node("partial", edges=edges, ordered=False, name=name)


_PARTIAL: Final = frozenset({"func", "args", "keywords"})


def describe_wrapper(wrapper: staticmethod[Any, Any] | classmethod[Any, Any, Any], _scope: Scope) -> Node:
    """Describe a static method or class method by its function."""
    function = wrapper.__func__
    return Node(type(wrapper).__name__, edges=[placed(Role.FUNCTION, getattr(function, "__name__", "?"), function)])


def describe_property(value: property, _scope: Scope) -> Node:
    """Describe a property by its three functions."""
    functions = {"get": value.fget, "set": value.fset, "del": value.fdel}
    return Node("property", edges=[placed(Role.FUNCTION, key, function) for key, function in functions.items()])


def describe_cached_property(value: functools.cached_property[Any], _scope: Scope) -> Node:
    """Describe a cached property by its function."""
    return Node("cached property", edges=[placed(Role.FUNCTION, value.func.__name__, value.func)])


def describe_cached_function(function: functools._lru_cache_wrapper[Any], _scope: Scope) -> Node:
    """Describe a function with a cache by the function alone: what the cache holds is no part of it."""
    return Node("cached", edges=[placed(Role.FUNCTION, function.__wrapped__.__name__, function.__wrapped__)])


def _closure(function: FunctionType, summary: CodeSummary) -> Iterator[Edge]:
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    chains: dict[str, list[tuple[str, ...]]] = {name: [] for name in cells}
    for chain in summary.reads.free:
        chains.setdefault(chain[0], []).append(chain)
    for name, cell in cells.items():
        try:
            value = cell.cell_contents
        except ValueError:  # an empty cell: the variable is assigned later
            value = _UNSET
        if _is_user_module(value) and chains[name]:
            for chain in chains[name]:
                yield named(Role.CLOSURE, ".".join(chain), _follow(value, chain[1:]))
        else:
            yield named(Role.CLOSURE, name, value)


def _globals(function: FunctionType, summary: CodeSummary) -> Iterator[Edge]:
    namespace = function.__globals__
    for chain in _shortened(summary.reads.globals, namespace):
        value = namespace[chain[0]]
        yield named(Role.GLOBAL, ".".join(chain), _follow(value, chain[1:]))


def _shortened(chains: tuple[tuple[str, ...], ...], namespace: Mapping[str, object]) -> list[tuple[str, ...]]:
    """The chains that begin at a global; only those of a user's module need the attributes."""
    kept = {
        chain if _is_user_module(namespace[chain[0]]) else chain[:1]
        for chain in chains
        if chain[0] in namespace and chain[0] not in WHEREABOUTS
    }
    return sorted(kept)


def _imports(function: FunctionType, summary: CodeSummary) -> Iterator[Edge]:
    for (module, level), path in summary.reads.imports:
        found = imported_module(module, level, function.__globals__)
        label = ".".join((module, *path))
        if isinstance(found, ModuleType):
            yield named(Role.GLOBAL, label, _follow(found, path))
        else:
            yield named(Role.GLOBAL, label, _UNSET if found is None else found)


def _is_user_module(value: object) -> TypeGuard[ModuleType]:
    return isinstance(value, ModuleType) and installed_source(value.__name__, getattr(value, "__file__", None)) is None


def _follow(value: object, attributes: tuple[str, ...]) -> object:
    """Follow attributes through modules of the user, up to a value that is hashed as a whole."""
    for name in attributes:
        if not _is_user_module(value):
            break
        found = getattr(value, name, _MISSING)
        if found is _MISSING:
            found = imported_module(f"{value.__name__}.{name}", 0, {})
        value = _UNSET if found is None else found
    return value


def _defaults(function: FunctionType) -> Iterator[Edge]:
    code = function.__code__
    positional = code.co_varnames[: code.co_argcount]
    defaults = function.__defaults__ or ()
    for name, value in zip(positional[len(positional) - len(defaults) :], defaults, strict=True):
        yield named(Role.DEFAULT, name, value)
    for name, value in (function.__kwdefaults__ or {}).items():
        yield named(Role.DEFAULT, name, value)


def _attributes(function: FunctionType) -> Iterator[Edge]:
    for name, value in function.__dict__.items():
        if name not in _FOR_INSPECTION:
            yield named(Role.ATTRIBUTE, name, value)


def _exported_method(method: Any) -> Reference | None:
    """A reference to a bound method that an installed module exports, such as `random.random` of a hidden object."""
    for module in {type(method.__self__).__module__, getattr(method, "__module__", None)}:
        if not isinstance(module, str):
            continue
        source = installed_source(module)
        if source is not None and _equal_method(resolve(module, method.__name__), method):
            return Reference(source, module, method.__name__)
    return None


def _equal_method(found: object, method: Callable[..., object]) -> bool:
    return type(found) is type(method) and getattr(found, "__self__", None) is method.__self__ and found == method  # type: ignore[attr-defined]


def _describe_compiled(function: BuiltinFunctionType | MethodWrapperType, owner: ModuleType | None) -> Node:
    name = getattr(function, "__module__", None) or getattr(owner, "__name__", None)
    module = sys.modules.get(name or "")
    if module is None:
        raise UnhashableError
    return Node(
        "compiled function",
        (function.__name__.encode(),),
        [placed(Role.GLOBAL, module.__name__, module)],
        name=function.__name__,
    )


def _is_single_dispatch(function: FunctionType) -> bool:
    return function.__code__.co_filename == functools.__file__ and hasattr(function, "registry")


def _describe_single_dispatch(function: Any) -> Node:
    edges = [
        placed(Role.FUNCTION, kind.__name__, (kind, implementation))
        for kind, implementation in function.registry.items()
    ]
    return Node("single dispatch", edges=edges, ordered=False, name=function.__name__)
