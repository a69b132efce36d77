"""The instructions of a code object, without what cannot change a result.

Left out are caches, no-ops (the compiler keeps some for the sake of line numbers), the annotations of nested
functions, and the docstring, qualified name and line number that a class body stores. Calls of methods and of functions
look alike, since the compiler chooses between them by the imports of the file. Instructions that the compiler fuses
only when they stand on one line are split again. Specialised (adaptive) instructions never appear: a function that ran
looks as before.
"""

from __future__ import annotations

import dis
import itertools
import sys
from bisect import bisect_left
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType

_CODE_CARRIES_QUALNAME: Final = sys.version_info >= (3, 11)
_SILENT: Final = frozenset({"CACHE", "EXTENDED_ARG", "NOP", "RESUME", "NOT_TAKEN"})
_FUSED: Final = {
    "LOAD_FAST_LOAD_FAST": ("LOAD_FAST", "LOAD_FAST"),
    "LOAD_FAST_BORROW_LOAD_FAST_BORROW": ("LOAD_FAST_BORROW", "LOAD_FAST_BORROW"),
    "STORE_FAST_LOAD_FAST": ("STORE_FAST", "LOAD_FAST"),
    "STORE_FAST_STORE_FAST": ("STORE_FAST", "STORE_FAST"),
}
# Whether a call is made as that of a method depends on which modules the same file (or notebook cell) imports.
_CALL_PROTOCOL: Final = frozenset({"PUSH_NULL"})
_SAME_CALL: Final = {"LOAD_METHOD": "LOAD_ATTR", "CALL_METHOD": "CALL_FUNCTION"}
_STORED_FOR_INSPECTION: Final = frozenset({"__doc__", "__qualname__", "__firstlineno__", "__static_attributes__"})
_ANNOTATIONS: Final = 0x04
_CLOSURE: Final = 0x08


class Handler(NamedTuple):
    """Where an exception goes: index of the handler, depth of the stack, and whether the place is kept."""

    target: int
    depth: int
    lasti: bool


class Instruction(NamedTuple):
    """One instruction.

    Args:
        op: Name of the operation, without the direction of a jump.
        arg: Operand: a name, a constant, a number, or None.
        is_constant: Whether the operand is a constant of the code object.
        target: For jumps, the index of the instruction to go to (that of the end, if it is one past the last).
        handler: Handler of exceptions raised here.
    """

    op: str
    arg: object
    is_constant: bool
    target: int | None
    handler: Handler | None


def read_instructions(code: CodeType) -> list[Instruction]:
    """Normalise the instructions of one code object (nested code objects stay constants)."""
    bytecode = dis.Bytecode(code)
    raw = [instruction for instruction in bytecode if instruction.opname not in _SILENT]
    erased = _class_body_inspection(raw) | _nested_annotations(raw)
    split = [
        (instruction.offset, op, arg, instruction)
        for position, instruction in enumerate(raw)
        if position not in erased and instruction.opname not in _CALL_PROTOCOL
        for op, arg in _split(code, instruction)
    ]
    offsets = [offset for offset, *_ in split]
    handlers = [
        (entry.start, entry.end, Handler(bisect_left(offsets, entry.target), entry.depth, entry.lasti))
        for entry in getattr(bytecode, "exception_entries", ())
    ]
    jumps = set(dis.hasjrel) | set(dis.hasjabs)
    constants = set(dis.hasconst)
    return [
        Instruction(
            op=_SAME_CALL.get(op, op).replace("_FORWARD", "").replace("_BACKWARD", ""),
            arg=None if source.opcode in jumps else arg,
            is_constant=source.opcode in constants,
            target=bisect_left(offsets, source.argval) if source.opcode in jumps else None,
            handler=next((handler for start, end, handler in handlers if start <= offset < end), None),
        )
        for offset, op, arg, source in split
    ]


def _split(code: CodeType, instruction: dis.Instruction) -> list[tuple[str, object]]:
    parts = _FUSED.get(instruction.opname)
    if parts is not None:
        return list(zip(parts, instruction.argval, strict=True))
    return [(instruction.opname, _operand(code, instruction))]


def _operand(code: CodeType, instruction: dis.Instruction) -> object:
    if instruction.opname == "MAKE_FUNCTION" and instruction.arg is not None:
        return instruction.arg & ~_ANNOTATIONS
    if instruction.opcode in dis.hasconst and instruction.arg is not None:
        return code.co_consts[instruction.arg]  # `dis` itself does not know those of keyword names
    if isinstance(instruction.argval, str):
        return instruction.argval
    return instruction.arg


def _class_body_inspection(raw: Sequence[dis.Instruction]) -> set[int]:
    erased: set[int] = set()
    for position, (load, store) in enumerate(itertools.pairwise(raw)):
        if load.opname == "LOAD_CONST" and store.opname == "STORE_NAME" and store.argval in _STORED_FOR_INSPECTION:
            erased |= {position, position + 1}
    return erased


def _nested_annotations(raw: Sequence[dis.Instruction]) -> set[int]:
    """Positions that compute annotations of nested functions, and (before Python 3.11) their qualified names."""
    erased: set[int] = set()
    for position, instruction in enumerate(raw):
        if instruction.opname != "MAKE_FUNCTION":
            continue
        flags = instruction.arg or 0
        following = position + 1
        while following < len(raw) and raw[following].opname == "SET_FUNCTION_ATTRIBUTE":
            flags |= raw[following].arg or 0
            if raw[following].arg == _ANNOTATIONS:
                erased.add(following)
            following += 1
        end = position - 1  # the code object
        if not _CODE_CARRIES_QUALNAME:
            erased.add(end)
            end -= 1
        if not flags & _ANNOTATIONS:
            continue
        end -= 1
        if flags & _CLOSURE:
            end = _start_of_expression(raw, end) - 1
        erased |= set(range(_start_of_expression(raw, end), end + 1))
    return erased


def _start_of_expression(raw: Sequence[dis.Instruction], end: int) -> int:
    """Where the instructions begin that leave one value on the stack at `end`; `end + 1` if they branch."""
    missing = 1
    for position in range(end, -1, -1):
        instruction = raw[position]
        if instruction.opcode in dis.hasjrel or instruction.opcode in dis.hasjabs:
            break
        operand = instruction.arg if instruction.opcode >= dis.HAVE_ARGUMENT else None
        missing -= dis.stack_effect(instruction.opcode, operand, jump=False)
        if missing == 0:
            return position
        if instruction.is_jump_target:
            break
    return end + 1
