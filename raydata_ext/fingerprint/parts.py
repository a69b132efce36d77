"""The components of a fingerprint as a flat, bounded map of labels to short texts, from which a difference can be told.

A label is a detail (`default of `min_chars``) or, for what the value depends on, a subject and a detail
(`helper `clean.normalise` | constant 3`). A text is a short representation, or `#` and a digest where that is not
short.
"""

from __future__ import annotations

import datetime as dt
import decimal
import fractions
import re
import uuid
from collections import deque
from typing import TYPE_CHECKING, Final, NamedTuple

from raydata_ext.fingerprint.code import digest_constant
from raydata_ext.fingerprint.framing import digest, encode_scalar, is_scalar
from raydata_ext.fingerprint.node import Edge, Node, Role

if TYPE_CHECKING:
    from raydata_ext.fingerprint.walk import ValueGraph

SEPARATOR: Final = " | "
CODE: Final = "code"
CONSTANT: Final = "constant"
NAME: Final = "name"
REST: Final = "the rest of"
MAX_PARTS: Final = 300
MAX_TEXT: Final = 80

_MAX_DEPTH: Final = 4
_MAX_ITEMS: Final = 32
_ROLE_TEXTS: Final = {Role.DEFAULT: "default of", Role.ITEM: "item", Role.MEMBER: "class attribute"}
_REPRESENTED: Final = frozenset(
    {
        range, slice, re.Pattern, decimal.Decimal, fractions.Fraction, uuid.UUID,
        dt.datetime, dt.date, dt.time, dt.timedelta,
    }
)  # fmt: skip
_NAMED: Final = frozenset(
    {"path", "logger", "zone", "enum member", "numpy scalar", "dtype", "arrow type", "arrow scalar"}
)


def list_parts(value: object, graph: ValueGraph, name: str) -> dict[str, str]:
    """List the components of a value that was walked.

    Args:
        value: The value.
        graph: All that it refers to.
        name: What to call the value where it has no components.

    Returns:
        At most `MAX_PARTS` labels and texts of at most `MAX_TEXT` characters. The last one is a digest of the whole, so
        that no difference goes unseen.
    """
    return _Listing(graph, name).run(value)


class _Visit(NamedTuple):
    node: int
    subject: str


class _Listing:
    def __init__(self, graph: ValueGraph, name: str) -> None:
        self._graph = graph
        self._name = name
        self._parts: dict[str, str] = {}
        self._subjects: set[str] = {""}
        self._seen: set[int] = {0}
        self._waiting: deque[_Visit] = deque([_Visit(0, "")])
        self._root_module = ""

    def run(self, value: object) -> dict[str, str]:
        root = self._graph.nodes[0]
        self._root_module = root.module
        text = _short_text(value, root)
        if root.tag == "dict" and not root.content and not root.edges:
            return {}
        if text is not None or (not root.edges and root.code is None):
            return {self._name: text or self._digest_text(0)}
        while self._waiting and len(self._parts) < MAX_PARTS:
            self._list(*self._waiting.popleft())
        if len(self._graph.nodes) == 1 and root.tag == "dict":
            return self._parts
        kept = dict(list(self._parts.items())[: MAX_PARTS - 1])
        return {**kept, f"{REST} `{self._name}`": self._digest_text(0)}

    def _list(self, index: int, subject: str) -> None:
        node = self._graph.nodes[index]
        prefix = subject + SEPARATOR if subject else ""
        if node.code is not None:
            self._parts[f"{prefix}{CODE}"] = f"#{node.code.shape.hex()} {node.name}"[:MAX_TEXT]
            for place, constant in enumerate(node.code.constants):
                text = _short_text(constant, None) or "#" + digest(digest_constant(constant)).hex()
                self._parts[f"{prefix}{CONSTANT} {place}"] = text
        if node.tag == "class":
            self._parts[f"{prefix}{NAME}"] = node.name[:MAX_TEXT]
        for edge, target in zip(node.edges, self._graph.children[index], strict=True):
            self._list_edge(node, edge, target, prefix)

    def _list_edge(self, owner: Node, edge: Edge, target: int | bytes, prefix: str) -> None:
        if isinstance(target, int) and edge.role is Role.FUNCTION and not prefix and self._speaks_for_whole(target):
            self._seen.add(target)
            self._root_module = self._root_module or self._graph.nodes[target].module
            self._waiting.appendleft(_Visit(target, ""))
            return
        role = _ROLE_TEXTS.get(edge.role, edge.role.value)
        if owner.tag in {"dict", "OrderedDict"} and not prefix:
            role = self._name
        self._list_value(edge, target, f"{prefix}{role} `", edge.name.strip("'"), 0)

    def _speaks_for_whole(self, index: int) -> bool:
        """Whether a function is what the root, a partial or a bound method, is made of."""
        return index not in self._seen and self._graph.nodes[index].tag in {"function", "partial", "method"}

    def _list_value(self, edge: Edge, target: int | bytes, head: str, path: str, depth: int) -> None:
        if len(self._parts) >= MAX_PARTS:
            return
        node = self._graph.nodes[target] if isinstance(target, int) else None
        if node is not None and isinstance(target, int):
            if node.tag in {"function", "class"}:
                self._enqueue(target, node, edge)
                return
            if node.tag in _TRANSPARENT:
                for inner, child in zip(node.edges, self._graph.children[target], strict=True):
                    self._list_value(inner, child, head, path, depth + 1)
                return
        label = f"{head}{path}`"
        text = _short_text(edge.value, node)
        if text is not None or node is None or not isinstance(target, int):
            self._parts[label] = text or f"#{target.hex() if isinstance(target, bytes) else ''}"
        elif (
            target in self._seen
            or not node.edges
            or len(node.edges) > _MAX_ITEMS
            or depth >= _MAX_DEPTH
            or not node.ordered
        ):
            self._parts[label] = self._digest_text(target)
        else:
            self._seen.add(target)
            self._parts[label] = self._digest_text(target) if node.content else f"#{node.tag}"
            for inner, child in zip(node.edges, self._graph.children[target], strict=True):
                self._list_value(inner, child, head, _joined(path, inner), depth + 1)

    def _enqueue(self, index: int, node: Node, edge: Edge) -> None:
        if index in self._seen:
            return
        self._seen.add(index)
        self._root_module = self._root_module or node.module
        kind = "class" if node.tag == "class" else "method" if edge.role is Role.MEMBER else "helper"
        place = f"{node.module}." if node.module not in {self._root_module, "", "__main__"} else ""
        subject = f"{kind} `{place}{node.name}`"
        count = 2
        unique = subject
        while unique in self._subjects:
            unique = f"{subject} ({count})"
            count += 1
        self._subjects.add(unique)
        self._waiting.append(_Visit(index, unique))

    def _digest_text(self, index: int) -> str:
        return f"#{self._graph.digests[index].hex()}"


_TRANSPARENT: Final = frozenset({"staticmethod", "classmethod", "property", "cached property", "cached", "method"})


def _joined(path: str, edge: Edge) -> str:
    if edge.role in {Role.ITEM, Role.KEY}:
        return f"{path}[{edge.name}]"
    return f"{path}.{edge.name}"


def _short_text(value: object, node: Node | None) -> str | None:
    """A representation that is short and says all, or None."""
    if node is not None and node.tag == "reference":
        return f"{node.name} ({node.content[0].decode()})"[:MAX_TEXT]
    if node is not None and node.tag in _NAMED:
        return node.name if len(node.name) <= MAX_TEXT else None
    if not _is_plain(value):
        return None
    text = repr(value)
    return text if len(text) <= MAX_TEXT else None


def _is_plain(value: object) -> bool:
    if is_scalar(value):
        encoded = encode_scalar(value)
        return encoded is not None and len(encoded) <= MAX_TEXT * 4
    if type(value) in _REPRESENTED:
        return True
    if isinstance(value, (list, tuple)) and type(value) in {list, tuple}:
        return len(value) <= _MAX_ITEMS and all(map(_is_plain_scalar, value))
    return False


def _is_plain_scalar(value: object) -> bool:
    return is_scalar(value) and _is_plain(value)
