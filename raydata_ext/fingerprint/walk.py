"""From a value to the graph of all that it refers to, and to its digest; each object is described once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from raydata_ext.errors import FingerprintError
from raydata_ext.fingerprint.describe import describe
from raydata_ext.fingerprint.framing import digest, encode_scalar
from raydata_ext.fingerprint.graph import Vertex, digest_vertices
from raydata_ext.fingerprint.node import Edge, Node, Role, Scope, UnhashableError

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class ValueGraph:
    """All that a value refers to.

    Args:
        nodes: Descriptions; the first is the value itself.
        children: For each node and each of its edges, the index of a node or the digest of a scalar.
        digests: 16 bytes per node.
    """

    nodes: Sequence[Node]
    children: Sequence[Sequence[int | bytes]]
    digests: Sequence[bytes]


def walk(value: object, name: str, scope: Scope) -> ValueGraph:
    """Describe a value and all that it refers to, and digest each.

    Args:
        value: Anything.
        name: What to call the value in an error.
        scope: What does not count.

    Raises:
        FingerprintError: Something in it has no stable content; the message gives the way to it.
    """
    # The graph holds every value that it has met, so that an `id` cannot be used twice.
    indices = {id(value): 0}
    values = [value]
    found_by: list[tuple[int, Edge] | None] = [None]
    nodes: list[Node] = []
    children: list[list[int | bytes]] = []
    while len(nodes) < len(values):
        index = len(nodes)
        try:
            node = describe(values[index], scope)
        except UnhashableError as error:
            raise FingerprintError(_explain(values[index], name, index, found_by, nodes, str(error))) from error
        nodes.append(node)
        targets: list[int | bytes] = []
        for edge in node.edges:
            encoded = encode_scalar(edge.value)
            if encoded is not None:
                targets.append(digest(encoded))
                continue
            target = indices.setdefault(id(edge.value), len(values))
            if target == len(values):
                values.append(edge.value)
                found_by.append((index, edge))
            targets.append(target)
        children.append(targets)
    vertices = [_vertex(node, targets) for node, targets in zip(nodes, children, strict=True)]
    return ValueGraph(nodes, children, digest_vertices(vertices))


def _vertex(node: Node, targets: Sequence[int | bytes]) -> Vertex:
    content = digest(node.tag.encode(), *node.content)
    return Vertex(content, [(edge.key, target) for edge, target in zip(node.edges, targets, strict=True)], node.ordered)


def _explain(
    culprit: object,
    name: str,
    index: int,
    found_by: Sequence[tuple[int, Edge] | None],
    nodes: Sequence[Node],
    reason: str,
) -> str:
    steps: list[str] = []
    attribute = None
    origin = found_by[index]
    while origin is not None:
        owner, edge = origin
        steps.append(_step(nodes[owner], edge))
        if attribute is None and edge.role in _EXCLUDABLE:
            attribute = edge.name
        origin = found_by[owner]
    if steps and nodes[0].tag not in _NAMED_BY_STEP:
        steps.append(f"`{name}`")
    path = " -> ".join(reversed(steps)) or f"`{name}`"
    exclude = (
        f"exclude the attribute with exclude=({attribute!r},)" if attribute else "exclude the attribute that holds it"
    )
    detail = f" ({reason})" if reason else ""
    kind = f"{type(culprit).__module__}.{type(culprit).__qualname__}"
    return (
        f"{path} is a {kind}, which has no stable content to hash{detail}; "
        f'either give version="..." for the step, which replaces hashing its code, or {exclude}'
    )


# These name themselves in the step to what they refer to.
_NAMED_BY_STEP: Final = frozenset({"function", "partial", "method"})
_EXCLUDABLE: Final = frozenset({Role.ATTRIBUTE, Role.CLOSURE, Role.GLOBAL, Role.MEMBER})


def _step(owner: Node, edge: Edge) -> str:
    return _STEPS.get(edge.role, "`{name}`").format(owner=owner.name, name=edge.name)


_STEPS: Final = {
    Role.CLOSURE: "closure of `{owner}` -> `{name}`",
    Role.GLOBAL: "globals of `{owner}` -> `{name}`",
    Role.DEFAULT: "defaults of `{owner}` -> `{name}`",
    Role.ARGUMENT: "arguments of `{owner}` -> `{name}`",
    Role.CLASS: "class `{name}`",
    Role.BASE: "class `{name}`",
    Role.ITEM: "[{name}]",
    Role.KEY: "[{name}]",
}
