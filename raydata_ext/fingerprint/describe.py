"""One entry for all kinds of values: which describer stands for which type, and in which order they are asked."""

from __future__ import annotations

import enum
import functools
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    CodeType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import TYPE_CHECKING, Any, Final

from raydata_ext.fingerprint import arrays, arrow, classes, containers, functions, libraries, modules
from raydata_ext.fingerprint.code import summarize_code
from raydata_ext.fingerprint.node import Node, Scope
from raydata_ext.fingerprint.objects import NO_FINGERPRINT, describe_object, describe_own_fingerprint, own_fingerprint
from raydata_ext.fingerprint.reducers import describe_reduced, find_reducer

if TYPE_CHECKING:
    from collections.abc import Callable

    _Describer = Callable[[Any, Scope], Node]


def describe(value: object, scope: Scope) -> Node:
    """Describe a value, one level deep.

    Raises:
        UnhashableError: The value has no stable content.
    """
    cls = type(value)
    reducer = find_reducer(cls)
    if reducer is not None:
        return describe_reduced(value, reducer, scope)
    describer: _Describer | None = containers.EXACT.get(cls) or (
        classes.describe_class if isinstance(value, type) else None
    )
    if describer is None:
        given = own_fingerprint(value)
        if given is not NO_FINGERPRINT:
            return describe_own_fingerprint(value, given)
        describer = _family(cls) or libraries.find_describer(cls) or _describe_other
    return describer(value, scope)


def _describe_other(value: object, scope: Scope) -> Node:
    reference = modules.reference_to(value)
    return describe_object(value, scope) if reference is None else modules.describe_reference(reference, scope)


def _describe_code(code: CodeType, _scope: Scope) -> Node:
    return Node("code", (summarize_code(code).digest,), name=code.co_name)


def _family(cls: type) -> _Describer | None:
    return next((_FAMILIES[base] for base in cls.__mro__ if base in _FAMILIES), None)


_FAMILIES: Final[dict[type, _Describer]] = {
    FunctionType: functions.describe_function,
    MethodType: functions.describe_method,
    BuiltinFunctionType: functions.describe_builtin,
    MethodWrapperType: functions.describe_builtin,
    MethodDescriptorType: functions.describe_descriptor,
    WrapperDescriptorType: functions.describe_descriptor,
    ClassMethodDescriptorType: functions.describe_descriptor,
    functools.partial: functions.describe_partial,
    functools.partialmethod: functions.describe_partial,
    functools.cached_property: functions.describe_cached_property,
    functools._lru_cache_wrapper: functions.describe_cached_function,  # noqa: SLF001 (the type has no public name)
    staticmethod: functions.describe_wrapper,
    classmethod: functions.describe_wrapper,
    property: functions.describe_property,
    ModuleType: modules.describe_module,
    modules.Reference: modules.describe_reference,
    enum.Enum: classes.describe_enum_member,
    CodeType: _describe_code,
    **containers.FAMILIES,
    **arrays.FAMILIES,
    **arrow.FAMILIES,
}
