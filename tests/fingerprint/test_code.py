"""The digest of code: what counts and what does not."""

from __future__ import annotations

import ast
import json
import string
import sysconfig
import textwrap
from pathlib import Path
from types import CodeType

import pytest

from raydata_ext.fingerprint.code import summarize_code

PLAIN = """
def f(a, b=2, *, key=None):
    try:
        x = a + b if a else (b if b > 3 else a)
        for i in range(3):
            if i == 2: continue
            x += i
    except ValueError as error:
        raise KeyError("k") from error
    finally:
        print(x)
    with open(a) as file:
        while a:
            pass
    return [g(x, a, name=b) for x in file if not x]
"""

DECORATED = '''
# A comment.
def f(a: "int",
      b: int = 2, *,
      key: str | None = None) -> "str":
    """What it does."""

    # Another comment.
    try:
        x: int = (
            a
            + b
            if a
            else (
                b
                if b > 3
                else a
            )
        )
        for i in range(
            3
        ):
            if i == 2:

                continue
            x += i

    except ValueError as error:
        raise KeyError(
            "k"
        ) from error
    finally:
        print(
            x)
    with open(
        a
    ) as file:
        while a: pass
    return [
        g(
            x,
            a,
            name=b,
        )
        for x in file
        if not x
    ]
'''


def digest_of(source: str) -> bytes:
    (code,) = (
        item for item in compile(textwrap.dedent(source), "a.py", "exec").co_consts if isinstance(item, CodeType)
    )
    return summarize_code(code).digest


def test_comments_blank_lines_formatting_docstrings_and_annotations_have_no_part():
    assert digest_of(PLAIN) == digest_of(DECORATED)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a + b", "a - b"),
        ("range(3)", "range(4)"),
        ("i == 2", "i != 2"),
        ("continue", "break"),
        ("ValueError", "TypeError"),
        ('"k"', '"l"'),
        ("g(x, a", "h(x, a"),
        ("name=b", "title=b"),
        ("if not x", "if x"),
        ("*, key", "key"),
        ("def f(a, b", "def f(a, c, b"),
        ("print(x)", "print(-x)"),
        ("def f", "async def f"),
        ("pass", "yield"),
        ("from error", "from None"),
    ],
)
def test_every_change_of_meaning_is_another_digest(old, new):
    assert old in PLAIN
    assert digest_of(PLAIN) != digest_of(PLAIN.replace(old, new, 1))


def test_the_name_of_a_function_has_no_part():
    assert digest_of("def f(x): return x") == digest_of("def g(x): return x")


def test_nested_functions_and_classes_count_without_their_annotations_and_docstrings():
    bare = """
    def f(y):
        def g(a, b=y, *, c=3): return a + b + c + y
        class C:
            z = 3
            def m(self): return y
        return g, C
    """
    documented = '''
    def f(y):
        """Doc."""
        def g(a: int, b: "x" = y, *, c: list[int | None] = 3) -> dict[str, y]:
            """Doc."""
            return a + b + c + y
        class C:
            """Doc."""
            z = 3
            def m(self) -> int:
                """Doc."""
                return y
        return g, C
    '''
    assert digest_of(bare) == digest_of(documented)
    assert digest_of(bare) != digest_of(bare.replace("c=3", "c=4"))
    assert digest_of(bare) != digest_of(bare.replace("b=y", "b=1"))
    assert digest_of(bare) != digest_of(bare.replace("z = 3", "z = 4"))


def test_equal_constants_of_different_types_differ():
    digests = {
        digest_of(f"def f(): return {constant}") for constant in ("1", "1.0", "True", "'1'", "b'1'", "-0.0", "0.0")
    }
    assert len(digests) == 7


def test_a_constant_set_counts_without_its_order():
    assert digest_of("def f(x): return x in {'a', 'b', 'c'}") == digest_of("def f(x): return x in {'c', 'b', 'a'}")
    assert digest_of("def f(x): return x in {'a', 'b'}") != digest_of("def f(x): return x in {'a', 'c'}")


def test_constants_are_listed_and_the_shape_leaves_them_blank():
    first = compile("lambda row: len(row) > 200 and any(c == 'x' for c in row)", "a", "eval").co_consts[0]
    second = compile("lambda row: len(row) > 300 and any(c == 'x' for c in row)", "a", "eval").co_consts[0]
    assert summarize_code(first).shape == summarize_code(second).shape
    assert summarize_code(first).digest != summarize_code(second).digest
    assert 200 in summarize_code(first).constants
    assert "x" in summarize_code(first).constants


def test_reformatting_real_code_changes_nothing():
    for module in (textwrap, json.decoder, string, ast):
        source = Path(module.__file__).read_text()
        original, reformatted = compile(source, "a", "exec"), compile(ast.unparse(ast.parse(source)), "b", "exec")
        assert summarize_code(original).digest == summarize_code(reformatted).digest


@pytest.mark.slow
def test_reformatting_the_standard_library_changes_nothing():
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
        source = path.read_text(errors="replace")
        original, reformatted = compile(source, "a", "exec"), compile(ast.unparse(ast.parse(source)), "b", "exec")
        assert summarize_code(original).digest == summarize_code(reformatted).digest, path
