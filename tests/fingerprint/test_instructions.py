"""Normalised instructions."""

from __future__ import annotations

from raydata_ext.fingerprint.instructions import read_instructions


def outer(limit):
    def inner(value: int, other: limit = 3, *, last: list[int] = limit) -> str:
        return value + other + limit + last

    return inner


def operations(function):
    return [instruction.op for instruction in read_instructions(function.__code__)]


def test_annotations_of_nested_functions_are_left_out_and_defaults_stay():
    constants = [
        instruction.arg for instruction in read_instructions(outer.__code__) if not hasattr(instruction.arg, "co_code")
    ]
    assert not {"value", "other", "return"} & {constant for constant in constants if isinstance(constant, str)}
    assert (3,) in constants or 3 in constants


def test_what_a_class_body_stores_for_inspection_is_left_out():
    namespace = {}
    exec('class C:\n    """Doc."""\n    x = 1\n', namespace)
    code = compile('class C:\n    """Doc."""\n    x = 1\n', "a", "exec").co_consts[0]
    stored = {instruction.arg for instruction in read_instructions(code) if instruction.op == "STORE_NAME"}
    assert stored == {"__module__", "x"}


def test_a_function_that_ran_often_has_the_same_instructions():
    def add(first, second):
        total = 0
        for value in (first, second):
            total += value
        return total

    before = read_instructions(add.__code__)
    for _ in range(1000):
        add(1, 2)
    assert read_instructions(add.__code__) == before


def test_jumps_lead_to_instructions_and_handlers_cover_the_block():
    def guarded(value):
        try:
            return int(value)
        except ValueError:
            return 0

    instructions = read_instructions(guarded.__code__)
    assert all(0 <= item.target < len(instructions) for item in instructions if item.target is not None)
    assert any(item.handler is not None for item in instructions) or "SETUP_FINALLY" in operations(guarded)
