"""Names that code reads."""

from __future__ import annotations

from raydata_ext.fingerprint.code import summarize_code
from raydata_ext.fingerprint.reads import Import


def reads_of(source):
    namespace = {}
    exec(source, namespace)
    return summarize_code(namespace["f"].__code__).reads


def test_globals_are_read_with_the_attributes_that_follow():
    reads = reads_of("def f(x): return clean.text.normalise(x) + LIMIT + max(x)")
    assert reads.globals == (("LIMIT",), ("clean", "text", "normalise"), ("max",))


def test_nested_functions_and_comprehensions_are_searched():
    reads = reads_of("def f(x):\n    def g(y): return A.b(y)\n    return [(lambda z: B)(y) for y in g(x)]")
    assert {("A", "b"), ("B",)} <= set(reads.globals)


def test_annotations_are_not_read():
    assert reads_of("def f(x):\n    def g(y: Unused) -> Other: return y\n    return g").globals == ()


def test_imports_in_a_function_are_followed_to_what_is_used():
    reads = reads_of(
        "def f(x):\n"
        "    import a.b\n    import c.d as e\n    from m import n, o as p\n    from ..q import r\n"
        "    return a.b.use(x), e.use(x), p.attribute, [r for _ in x]\n"
    )
    assert set(reads.imports) == {
        (Import("a", 0), ("b", "use")),
        (Import("c.d", 0), ("use",)),
        (Import("m", 0), ("o", "attribute")),
        (Import("q", 2), ("r",)),
    }


def test_a_closure_is_followed_too():
    namespace = {}
    exec("def make(m):\n    def f(x): return m.helper(x)\n    return f\nf = make(1)", namespace)
    assert summarize_code(namespace["f"].__code__).reads.free == (("m", "helper"),)
