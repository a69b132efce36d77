"""Digests of graphs with cycles."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.fingerprint.graph import Vertex, digest_vertices

EDGES = st.lists(st.integers(0, 5), max_size=3)
GRAPHS = st.lists(st.tuples(st.sampled_from([b"a", b"b"]), EDGES), min_size=6, max_size=6)


def build(graph):
    return [Vertex(content, [(b"", child) for child in children]) for content, children in graph]


def unfolding(graph, index, depth):
    content, children = graph[index]
    return (content, tuple(unfolding(graph, child, depth - 1) for child in children)) if depth else ()


@given(GRAPHS, st.randoms(use_true_random=False))
def test_the_numbering_of_vertices_has_no_part(graph, rng):
    places = list(range(len(graph)))
    rng.shuffle(places)
    moved = [None] * len(graph)
    for index, (content, children) in enumerate(graph):
        moved[places[index]] = (content, [places[child] for child in children])
    before, after = digest_vertices(build(graph)), digest_vertices(build(moved))
    assert [after[places[index]] for index in range(len(graph))] == before


@given(GRAPHS)
def test_a_copy_of_a_vertex_counts_as_the_vertex(graph):
    separate = [*graph, *((content, [child + 6 for child in children]) for content, children in graph)]
    sharing = [*graph, *graph]
    alone = digest_vertices(build(graph))
    assert digest_vertices(build(separate)) == [*alone, *alone]
    assert digest_vertices(build(sharing)) == [*alone, *alone]


@settings(max_examples=50)
@given(GRAPHS)
def test_vertices_that_differ_in_what_can_be_seen_from_them_differ(graph):
    digests = digest_vertices(build(graph))
    for first in range(6):
        for second in range(first):
            if unfolding(graph, first, 7) != unfolding(graph, second, 7):
                assert digests[first] != digests[second]


def test_rings_that_repeat_are_one_and_rings_with_another_member_differ():
    def ring(labels):
        return build([(label, [(index + 1) % len(labels)]) for index, label in enumerate(labels)])

    assert digest_vertices(ring([b"a", b"b"]))[0] == digest_vertices(ring([b"a", b"b", b"a", b"b"]))[0]
    assert digest_vertices(ring([b"a", b"b"]))[0] != digest_vertices(ring([b"a", b"b", b"c"]))[0]


def test_the_order_of_edges_counts_only_where_it_is_said_to():
    def pair(order, *, ordered):
        leaves = [Vertex(b"x", []), Vertex(b"y", [])]
        return digest_vertices([*leaves, Vertex(b"", [(b"", child) for child in order], ordered)])[2]

    assert pair([0, 1], ordered=False) == pair([1, 0], ordered=False)
    assert pair([0, 1], ordered=True) != pair([1, 0], ordered=True)


def test_a_chain_of_a_hundred_thousand_vertices_needs_no_recursion():
    count = 100_000
    chain = [Vertex(b"", [(b"", index + 1)] if index + 1 < count else []) for index in range(count)]
    assert len(set(digest_vertices(chain))) == count


def test_a_cycle_with_many_ways_through_it_ends():
    rng = random.Random(0)
    clique = [Vertex(str(index).encode(), [(b"", rng.randrange(200)) for _ in range(50)]) for index in range(200)]
    assert len(set(digest_vertices(clique))) == 200
