"""Digests of the vertices of a directed graph, cycles included, that depend on content alone.

The digest of a vertex is a function of what can be seen from it (its unfolding): neither the identity of the
vertices, nor whether equal vertices are one or several, nor the vertex where a walk began has any part in it. Outside
of cycles that is a Merkle tree. The vertices of one cycle (a strongly connected component, Tarjan 1972) are told
apart by colour refinement: each round hashes a vertex with its neighbours' colours of the round before, until a round
makes no new distinction. A vertex then counts by its colour and the set of all colours of its component, which
together determine the unfolding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from raydata_ext.fingerprint.framing import DIGEST_SIZE, digest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


class Vertex(NamedTuple):
    """A vertex: its own bytes, and its edges as (bytes of the edge, index of a vertex or a finished digest)."""

    content: bytes
    edges: Sequence[tuple[bytes, int | bytes]]
    ordered: bool = True


def digest_vertices(vertices: Sequence[Vertex]) -> list[bytes]:
    """Digest every vertex.

    Args:
        vertices: The whole graph; edges are indices into it.

    Returns:
        One digest of 16 bytes per vertex. Time is linear in the edges, save within a cycle, where it is linear per
        round and the rounds are at most the longest chain of vertices that look alike.
    """
    digests: dict[int, bytes] = {}
    # A vertex before a cycle that looks like a vertex of the cycle counts as that one: the cycle, unrolled by a step.
    on_cycles: dict[bytes, bytes] = {}
    for component in _components(vertices):
        first = component[0]
        if len(component) == 1 and all(child != first for _, child in vertices[first].edges):
            own = _digest_vertex(vertices[first], digests)
            digests[first] = on_cycles.get(own, own)
        else:
            digests.update(_digest_cycle(vertices, component, digests))
            on_cycles.update({_digest_vertex(vertices[index], digests): digests[index] for index in component})
    return [digests[index] for index in range(len(vertices))]


def _digest_vertex(vertex: Vertex, known: Mapping[int, bytes]) -> bytes:
    edges = [digest(key, child if isinstance(child, bytes) else known[child]) for key, child in vertex.edges]
    if not vertex.ordered:
        edges.sort()
    return digest(vertex.content, b"".join(edges))


def _digest_cycle(
    vertices: Sequence[Vertex], component: Sequence[int], finished: Mapping[int, bytes]
) -> dict[int, bytes]:
    outside = {
        child: finished[child]
        for index in component
        for _, child in vertices[index].edges
        if isinstance(child, int) and child in finished
    }
    colours = dict.fromkeys(component, b"\0" * DIGEST_SIZE)
    distinct = 1
    while True:
        known = {**outside, **colours}
        colours = {index: _digest_vertex(vertices[index], known) for index in component}
        palette = sorted(set(colours.values()))
        if len(palette) == distinct:
            break
        distinct = len(palette)
    shared = digest(b"cycle", *palette)
    return {index: digest(shared, colour) for index, colour in colours.items()}


def _components(vertices: Sequence[Vertex]) -> Iterator[list[int]]:
    """Strongly connected components, each after all that it refers to (Tarjan's algorithm with a stack of its own)."""
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    open_vertices: list[int] = []
    is_open: set[int] = set()
    for root in range(len(vertices)):
        if root in order:
            continue
        path = [(root, _children(vertices[root]))]
        while path:
            index, children = path[-1]
            if index not in order:
                order[index] = low[index] = len(order)
                open_vertices.append(index)
                is_open.add(index)
            for child in children:
                if child not in order:
                    path.append((child, _children(vertices[child])))
                    break
                if child in is_open:
                    low[index] = min(low[index], order[child])
            else:
                path.pop()
                if path:
                    parent = path[-1][0]
                    low[parent] = min(low[parent], low[index])
                if low[index] == order[index]:
                    component = _pop_through(open_vertices, index)
                    is_open.difference_update(component)
                    yield component


def _pop_through(stack: list[int], last: int) -> list[int]:
    popped = [stack.pop()]
    while popped[-1] != last:
        popped.append(stack.pop())
    return popped


def _children(vertex: Vertex) -> Iterator[int]:
    return (child for _, child in vertex.edges if isinstance(child, int))
