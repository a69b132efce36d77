"""What a value is made of, one level deep: its own bytes, and edges to the values it refers to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from raydata_ext.fingerprint.code import CodeSummary


class Role(str, Enum):
    """In which way a value belongs to its owner; the text is what people read."""

    CLOSURE = "closure variable"
    GLOBAL = "global"
    DEFAULT = "default"
    ARGUMENT = "argument"
    ATTRIBUTE = "attribute"
    MEMBER = "member"
    BASE = "base"
    CLASS = "class"
    FUNCTION = "function"
    ITEM = "item"
    KEY = "key"
    STATE = "state"


class Edge(NamedTuple):
    """A value that another value refers to.

    Args:
        role: How it belongs to its owner.
        name: Its name or index there, for people; part of the digest only through `key`.
        value: The value itself.
        key: What the digest knows of the edge besides the value.
    """

    role: Role
    name: str
    value: object
    key: bytes


@dataclass(frozen=True)
class Node:
    """The description of one value.

    Args:
        tag: The kind of value.
        content: Its own bytes, as far as they are not values of their own.
        edges: The values it refers to.
        ordered: Whether the order of the edges counts.
        name: What people call it; never part of the digest.
        code: The code, where the value is a function.
        module: The module in which a function or class is defined; never part of the digest.
    """

    tag: str
    content: tuple[bytes, ...] = ()
    edges: Sequence[Edge] = ()
    ordered: bool = True
    name: str = ""
    code: CodeSummary | None = None
    module: str = ""


@dataclass(frozen=True)
class Scope:
    """What holds for one whole walk over a value.

    Args:
        exclude: Names of attributes, closure variables and globals that do not count, bare (`"_lock"`) or with the
        name of
            the class or function they belong to (`"Tokenizer._lock"`).
    """

    exclude: frozenset[str] = frozenset()

    def excludes(self, owner: str, name: str) -> bool:
        """Whether the value called `name` in `owner` does not count."""
        return bool(self.exclude) and (name in self.exclude or f"{owner}.{name}" in self.exclude)


class UnhashableError(Exception):
    """A value has no stable content; the walk adds the way to it."""


def named(role: Role, name: str, value: object) -> Edge:
    """An edge whose name is part of the digest."""
    return Edge(role, name, value, f"{role.value}:{name}".encode())


def placed(role: Role, name: str, value: object) -> Edge:
    """An edge that the digest knows by its place among the edges only."""
    return Edge(role, name, value, _KEYS[role])


_KEYS: Final = {role: role.value.encode() for role in Role}
