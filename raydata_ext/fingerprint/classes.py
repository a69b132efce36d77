"""Classes: the code of all methods, class attributes and bases; an installed class counts by name and version."""

from __future__ import annotations

import enum
from types import GetSetDescriptorType, MemberDescriptorType
from typing import TYPE_CHECKING, Any, Final

from raydata_ext.fingerprint.modules import describe_reference, reference_to
from raydata_ext.fingerprint.node import Edge, Node, Role, Scope, named, placed

if TYPE_CHECKING:
    from collections.abc import Iterator

# Where a class was found, what it is called inside, what its annotations say, and what Python keeps for itself.
_NOT_CONTENT: Final = frozenset(
    {
        "__module__", "__qualname__", "__doc__", "__dict__", "__weakref__", "__firstlineno__", "__static_attributes__",
        "__annotations__", "__annotate__", "__annotate_func__", "__annotations_cache__", "__parameters__",
        "__orig_bases__", "__abstractmethods__", "__slotnames__", "_abc_impl", "__signature__", "__class_vars__",
        "__private_attributes__", "__dataclass_fields__", "__dataclass_params__",
    }
)  # fmt: skip
_OF_ENUM: Final = frozenset({"__new__", "__reduce_ex__", "__new_member__"})


def describe_class(cls: type, scope: Scope) -> Node:
    """Describe a class; one that the user wrote counts by its name (programs show it) and all that its body defines."""
    reference = reference_to(cls)
    if reference is not None:
        return describe_reference(reference, scope)
    label = cls.__dict__.get("__fingerprint__")
    if isinstance(label, (str, bytes, int)):
        return Node(
            "class with fingerprint",
            (cls.__name__.encode(),),
            [placed(Role.STATE, "__fingerprint__", label)],
            name=cls.__name__,
        )
    members = _members_of_enum(cls) if issubclass(cls, enum.Enum) else _members(cls)
    edges = [edge for edge in members if not scope.excludes(cls.__name__, edge.name)]
    edges += [Edge(Role.BASE, base.__name__, base, b"base %d" % index) for index, base in enumerate(cls.__bases__)]
    if type(cls) is not type:
        edges.append(named(Role.CLASS, "metaclass", type(cls)))
    return Node(
        "class",
        (cls.__name__.encode(),),
        edges,
        ordered=False,
        name=cls.__qualname__.rpartition("<locals>.")[2],
        module=cls.__module__,
    )


def describe_enum_member(member: enum.Enum, _scope: Scope) -> Node:
    """Describe a member of an enumeration by its class, name and value."""
    return Node(
        "enum member",
        (str(member.name).encode(),),
        [placed(Role.CLASS, type(member).__name__, type(member)), placed(Role.ATTRIBUTE, "value", member._value_)],
        name=str(member),
    )


def _members(cls: type) -> Iterator[Edge]:
    for name, value in vars(cls).items():
        if _is_content(name) and not isinstance(value, (MemberDescriptorType, GetSetDescriptorType)):
            yield named(Role.MEMBER, name, value)
    if "__pydantic_fields__" in vars(cls):
        yield from _members_of_model(cls)
    fields = vars(cls).get("__dataclass_fields__", {})
    for name, field in fields.items():
        yield named(Role.MEMBER, f"metadata of {name}", dict(field.metadata))


def _members_of_model(cls: Any) -> Iterator[Edge]:
    """The fields of a pydantic model, whose annotations decide what it accepts."""
    for name, field in vars(cls)["__pydantic_fields__"].items():
        parts = (field.annotation, field.default, field.default_factory, field.alias, field.metadata)
        yield named(Role.MEMBER, f"field {name}", parts)


def _is_content(name: str) -> bool:
    return name not in _NOT_CONTENT and not name.startswith("__pydantic_")


def _members_of_enum(cls: type[enum.Enum]) -> Iterator[Edge]:
    for name, member in cls.__members__.items():
        yield named(Role.MEMBER, name, member._value_)
    hidden = {"_member_names_", "_member_map_", "_value2member_map_", "_member_type_"}
    for name, value in vars(cls).items():
        is_private = name in hidden or name.startswith(
            ("_new_member", "_use_args", "_value_repr", "_unhashable", "_hashable")
        )
        if name in cls.__members__ or is_private or name in _NOT_CONTENT or name in _OF_ENUM:
            continue
        yield named(Role.MEMBER, name, value)
