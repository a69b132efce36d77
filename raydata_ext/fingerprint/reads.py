"""Which outside names a code object reads: globals, closure variables and imports, each with its attributes."""

from __future__ import annotations

import itertools
from types import CodeType
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from raydata_ext.fingerprint.instructions import Instruction

_GLOBAL_LOADS: Final = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"})
_FREE_LOADS: Final = frozenset({"LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"})
_LOCAL_LOADS: Final = frozenset({"LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_BORROW"})
_LOADS: Final = _GLOBAL_LOADS | _FREE_LOADS | _LOCAL_LOADS
_STORES: Final = frozenset({"STORE_FAST", "STORE_DEREF", "STORE_NAME", "STORE_GLOBAL"})
_ATTRIBUTES: Final = frozenset({"LOAD_ATTR"})


class Import(NamedTuple):
    """A module that a code object imports: as in `from ..package import name`, `level` counts the dots."""

    module: str
    level: int


class Reads(NamedTuple):
    """What a code object, with the code objects nested in it, reads; sorted, so that the order of the source has no
    part.

    Args:
        globals: Chains such as `("clean", "normalise")` for `clean.normalise(...)`; the first name is a global.
        free: The same for closure variables.
        imports: Imported modules, with the chain of attributes that are read from them.
    """

    globals: tuple[tuple[str, ...], ...]
    free: tuple[tuple[str, ...], ...]
    imports: tuple[tuple[Import, tuple[str, ...]], ...]


def find_reads(code: Sequence[Instruction], nested: Iterable[Reads]) -> Reads:
    """Collect what the instructions of one code object read, and what its nested code objects do.

    Args:
        code: Normalised instructions.
        nested: The reads of the code objects among its constants.

    Returns:
        All of them as one value. A local name that an import binds is followed to the attributes read from it, here
        and in the nested code objects.
    """
    bound, imports = _bound_imports(code)
    globals_: set[tuple[str, ...]] = set()
    free: set[tuple[str, ...]] = set()
    for op, chain in _chains(code):
        if chain[0] in bound:
            imports |= {(module, (*path, *chain[1:])) for module, path in bound[chain[0]]}
        elif op in _GLOBAL_LOADS:
            globals_.add(chain)
        elif op in _FREE_LOADS:
            free.add(chain)
    for reads in nested:
        globals_.update(reads.globals)
        imports.update(reads.imports)
        for chain in reads.free:
            if chain[0] in bound:
                imports |= {(module, (*path, *chain[1:])) for module, path in bound[chain[0]]}
            else:
                free.add(chain)
    return Reads(tuple(sorted(globals_)), tuple(sorted(free)), tuple(sorted(imports)))


_Target = tuple[Import, tuple[str, ...]]


def _bound_imports(code: Sequence[Instruction]) -> tuple[dict[str, set[_Target]], set[_Target]]:
    """Names that imports bind here, and what counts as read although no name is followed (`from m import *`)."""
    bound: dict[str, set[_Target]] = {}
    unbound: set[_Target] = set()
    for position, instruction in enumerate(code):
        if instruction.op != "IMPORT_NAME":
            continue
        level, names = (previous.arg for previous in code[position - 2 : position])
        assert isinstance(level, int)
        module = Import(str(instruction.arg), level)
        following = code[position + 1 : position + 2 + 4 * (len(names) if isinstance(names, tuple) else 8)]
        if names == ("*",):
            unbound.add((module, ()))
        elif isinstance(names, tuple):
            for source, store in _imported_names(following):
                bound.setdefault(store, set()).add((module, (source,)))
        else:
            _bind_module(bound, module, following)
    return bound, unbound


def _imported_names(following: Sequence[Instruction]) -> Iterator[tuple[str, str]]:
    for source, store in itertools.pairwise(following):
        if source.op == "IMPORT_FROM" and store.op in _STORES:
            yield str(source.arg), str(store.arg)
        elif source.op == "POP_TOP":
            return


def _bind_module(bound: dict[str, set[_Target]], module: Import, following: Sequence[Instruction]) -> None:
    """`import a.b` binds `a`; `import a.b as c` binds what `a.b` is."""
    if following and following[0].op in _STORES:
        name = str(following[0].arg)
        top, *_ = module.module.split(".")
        # A dotted import makes `a.b` available under `a`, so the chain that follows leads to it.
        bound.setdefault(name, set()).add((Import(top, module.level), ()))
        return
    store = next((instruction for instruction in following if instruction.op in _STORES), None)
    if store is not None:
        bound.setdefault(str(store.arg), set()).add((module, ()))


def _chains(code: Sequence[Instruction]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Every load of a name with the attributes that are read from it at once."""
    position = 0
    while position < len(code):
        instruction = code[position]
        position += 1
        if instruction.op not in _LOADS:
            continue
        chain = [str(instruction.arg)]
        while position < len(code) and code[position].op in _ATTRIBUTES:
            chain.append(str(code[position].arg))
            position += 1
        yield instruction.op, tuple(chain)


def nested_code(code: Sequence[Instruction]) -> list[CodeType]:
    """The code objects among the constants that the instructions load, in order."""
    return [instruction.arg for instruction in code if isinstance(instruction.arg, CodeType)]
