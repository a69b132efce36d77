"""The digest of a code object: what it does, not how it is laid out.

The instructions are read as a graph (next instruction, target of a jump, handler of an exception) in which
unconditional jumps are no step of their own, and hashed by what can be reached from the entry. So it makes no
difference whether the compiler shares or repeats the end of a branch, which it decides by line numbers; blank lines,
comments and line breaks have no effect. The names of arguments, locals and globals count, the names of the code
objects themselves do not.

Another minor version of Python compiles to other instructions, which is then another digest: safe, and never the
contrary.
"""

from __future__ import annotations

import inspect
import weakref
from dataclasses import dataclass
from types import CodeType
from typing import TYPE_CHECKING, Final

from raydata_ext.fingerprint.framing import digest, require_scalar
from raydata_ext.fingerprint.graph import Vertex, digest_vertices
from raydata_ext.fingerprint.instructions import read_instructions
from raydata_ext.fingerprint.reads import Reads, find_reads, nested_code

if TYPE_CHECKING:
    from collections.abc import Sequence

    from raydata_ext.fingerprint.instructions import Instruction

_UNCONDITIONAL: Final = frozenset({"JUMP", "JUMP_ABSOLUTE", "JUMP_NO_INTERRUPT"})
_LAST: Final = frozenset({"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE"})
_TESTS: Final = {
    "POP_JUMP_IF_TRUE": ("POP_JUMP_IF", b"true", b"false"),
    "POP_JUMP_IF_FALSE": ("POP_JUMP_IF", b"false", b"true"),
    "POP_JUMP_IF_NONE": ("POP_JUMP_IF_NONE", b"true", b"false"),
    "POP_JUMP_IF_NOT_NONE": ("POP_JUMP_IF_NONE", b"false", b"true"),
}
# Tests that keep the value if they jump: the same test that drops it, and the opposite test.
_KEEPING_TESTS: Final = {
    "JUMP_IF_TRUE_OR_POP": ("POP_JUMP_IF_TRUE", "JUMP_IF_FALSE_OR_POP"),
    "JUMP_IF_FALSE_OR_POP": ("POP_JUMP_IF_FALSE", "JUMP_IF_TRUE_OR_POP"),
}
_MEANINGFUL_FLAGS: Final = (
    inspect.CO_VARARGS
    | inspect.CO_VARKEYWORDS
    | inspect.CO_GENERATOR
    | inspect.CO_COROUTINE
    | inspect.CO_ITERABLE_COROUTINE
    | inspect.CO_ASYNC_GENERATOR
)


@dataclass(frozen=True)
class CodeSummary:
    """What the hash of a function needs of its code.

    Args:
        digest: Of the whole, 16 bytes.
        shape: The same with all constants left blank.
        constants: The constants in the order of their first use, those of nested code objects at their place.
        reads: The names of the outside world that it reads.
    """

    digest: bytes
    shape: bytes
    constants: tuple[object, ...]
    reads: Reads


def summarize_code(code: CodeType) -> CodeSummary:
    """Summarize a code object with the code objects nested in it; kept as long as the code object lives."""
    summary = _SUMMARIES.get(code)
    if summary is None:
        instructions = read_instructions(code)
        nested = {inner: summarize_code(inner) for inner in nested_code(instructions)}
        summary = CodeSummary(
            digest=_digest_code(code, instructions, [digest_constant(item.arg) for item in instructions]),
            shape=_digest_code(code, instructions, [_constant_shape(item.arg) for item in instructions]),
            constants=_constants(instructions),
            reads=find_reads(instructions, [inner.reads for inner in nested.values()]),
        )
        _SUMMARIES[code] = summary
    return summary


_SUMMARIES: weakref.WeakKeyDictionary[CodeType, CodeSummary] = weakref.WeakKeyDictionary()


def _digest_code(code: CodeType, instructions: Sequence[Instruction], constants: Sequence[bytes]) -> bytes:
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    numbers = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags & _MEANINGFUL_FLAGS)
    signature = [require_scalar(item) for item in (*numbers, *code.co_varnames[:count])]
    body = digest_vertices([_vertex(instructions, index, constants) for index in range(len(instructions))])
    return digest(b"code", *signature, body[_next(instructions, 0)])


def _vertex(instructions: Sequence[Instruction], index: int, constants: Sequence[bytes]) -> Vertex:
    instruction = instructions[index]
    operand = constants[index] if instruction.is_constant else require_scalar(instruction.arg)
    # A test that jumps where it holds, and one that jumps where it does not, are one test with two outcomes.
    op, target = _threaded(instructions, instruction.op, instruction.target)
    op, if_jump, if_next = _TESTS.get(op, (op, b"jump", b"next"))
    edges: list[tuple[bytes, int | bytes]] = []
    if op not in _LAST and op not in _UNCONDITIONAL:
        edges.append((if_next, _next(instructions, index + 1)))
    if target is not None and op not in _UNCONDITIONAL:
        edges.append((if_jump, _next(instructions, target)))
    if instruction.handler is not None:
        handler, depth, lasti = instruction.handler
        edges.append((b"handler %d %d" % (depth, lasti), _next(instructions, handler)))
    return Vertex(digest(op.encode(), operand), edges, ordered=False)


def _threaded(instructions: Sequence[Instruction], op: str, target: int | None) -> tuple[str, int | None]:
    """Where a test of `and` or `or` leads that jumps to another test of the same value.

    The compiler spares the second test if both stand on one line.
    """
    while op in _KEEPING_TESTS and target is not None:
        popping, opposite = _KEEPING_TESTS[op]
        place = _next(instructions, target)
        second = instructions[place]
        if second.op in {op, popping}:
            op, target = second.op, second.target
        elif second.op in {opposite, _KEEPING_TESTS[opposite][0]}:
            op, target = popping, place + 1
        else:
            break
    return op, target


def _next(instructions: Sequence[Instruction], index: int) -> int:
    """The instruction that is run at `index`, past unconditional jumps; an endless loop of jumps alone stays one."""
    seen: set[int] = set()
    while index not in seen:
        seen.add(index)
        instruction = instructions[index]
        if instruction.op not in _UNCONDITIONAL or instruction.target is None:
            break
        index = instruction.target
    return min(seen) if instructions[index].op in _UNCONDITIONAL else index


def digest_constant(value: object) -> bytes:
    """Digest a constant of a code object; the order of a frozenset has no part."""
    if isinstance(value, CodeType):
        return summarize_code(value).digest
    if isinstance(value, tuple):
        return digest(b"tuple", *[digest_constant(item) for item in value])
    if isinstance(value, frozenset):
        return digest(b"frozenset", *sorted(digest_constant(item) for item in value))
    if isinstance(value, slice):
        return digest(b"slice", *[digest_constant(item) for item in (value.start, value.stop, value.step)])
    return require_scalar(value)


def _constant_shape(value: object) -> bytes:
    return summarize_code(value).shape if isinstance(value, CodeType) else b""


def _constants(instructions: Sequence[Instruction]) -> tuple[object, ...]:
    found: dict[bytes, object] = {}
    for instruction in instructions:
        if not instruction.is_constant:
            continue
        if isinstance(instruction.arg, CodeType):
            inner = summarize_code(instruction.arg).constants
        else:
            inner = (instruction.arg,)
        found.update({digest_constant(value): value for value in inner if digest_constant(value) not in found})
    return tuple(found.values())
