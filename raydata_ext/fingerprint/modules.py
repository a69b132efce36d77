"""Whose code is it: the user's own, which counts by content, or installed code, which counts by name and version.

The code of an installed distribution is not looked into: its name and version stand for it. A module in
`site-packages` that belongs to no distribution, and a distribution installed in editable mode, count as the user's
own. A module of the standard library counts by its name and the minor version of Python; the built-in functions and
types count by name alone.
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import importlib.util
import site
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Final

import xxhash

from raydata_ext.fingerprint.code import summarize_code
from raydata_ext.fingerprint.framing import digest
from raydata_ext.fingerprint.node import Node, Role, Scope, named

if TYPE_CHECKING:
    from collections.abc import Mapping

_PYTHON: Final = f"python {sys.version_info.major}.{sys.version_info.minor}"
# This package counts by version even where it runs from a checkout: its modules hold caches of their own.
_THIS_PACKAGE: Final = __name__.partition(".")[0]
# Names of a module that say where its code was found, and nothing about what the code does.
WHEREABOUTS: Final = frozenset(
    {
        "__name__",
        "__file__",
        "__doc__",
        "__package__",
        "__spec__",
        "__loader__",
        "__path__",
        "__cached__",
        "__builtins__",
    }
)


@dataclass(frozen=True)
class Reference:
    """A value that is known by its name in code that counts by version: `numpy==2.4.1`, `numpy.linalg`, `norm`.

    Args:
        source: Distribution and version, or Python's.
        module: Full name of the module.
        name: Qualified name in the module; empty for the module itself.
    """

    source: str
    module: str
    name: str = ""


def describe_reference(reference: Reference, _scope: Scope) -> Node:
    """Describe a reference by its texts."""
    texts = (reference.source, reference.module, reference.name)
    return Node(
        "reference", tuple(text.encode() for text in texts), name=f"{reference.module}.{reference.name}".strip(".")
    )


def installed_source(module: str, file: str | None = None) -> str | None:
    """What a module counts by, or None where it is the user's own code.

    Args:
        module: Full name of the module; it need not be imported.
        file: Where its code was found, if that is known.

    Returns:
        For example `"numpy==2.4.1"`, `"python 3.11"` or, for built-ins, `"python"`.
    """
    if module in {"builtins", "__builtin__"}:
        return "python"
    if module in {"__main__", "__mp_main__", ""}:
        return None
    return _source_of(module, _file_of(module) if file is None else file)


def resolve(module: str, qualname: str) -> object:
    """The value that the imported module has under a qualified name, or None."""
    value: object = sys.modules.get(module)
    for name in qualname.split("."):
        value = getattr(value, name, None)
    return value


def reference_to(value: object) -> Reference | None:
    """A reference to a class, function or other named value, if installed code has that very value under its name."""
    module = getattr(value, "__module__", None)
    qualname = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    if not isinstance(module, str) or not isinstance(qualname, str):
        return None
    source = installed_source(module)
    if source is None or resolve(module, qualname) is not value:
        return None
    return Reference(source, module, qualname)


def imported_module(name: str, level: int, namespace: Mapping[str, object]) -> ModuleType | Reference | None:
    """The module that an import statement names: a user's module is imported, an installed one is not needed.

    Args:
        name: As in the statement.
        level: Number of leading dots.
        namespace: Globals of the function that imports.

    Returns:
        The user's module, a reference to an installed one, or None if there is none that can be imported.
    """
    if level:
        package = namespace.get("__package__") or str(namespace.get("__name__", "")).rpartition(".")[0]
        name = importlib.util.resolve_name("." * level + name, str(package))
    source = installed_source(name)
    if source is not None:
        return Reference(source, name)
    try:
        return importlib.import_module(name)
    except Exception:  # noqa: BLE001 (any code may run on import; that it fails is the answer)
        return None


def describe_module(module: ModuleType, scope: Scope) -> Node:
    """Describe a module that is used as a value, as in `getattr(module, name)`.

    A user's module counts by its code on disk and the functions, classes and modules that it has from other user's
    modules.
    """
    name = module.__name__
    source = installed_source(name, getattr(module, "__file__", None))
    if source is not None:
        return describe_reference(Reference(source, name), scope)
    edges = [
        named(Role.GLOBAL, key, value)
        for key, value in vars(module).items()
        if key not in WHEREABOUTS and not scope.excludes(name, key) and _comes_from_elsewhere(value, name)
    ]
    return Node("module", (_content_of(module),), edges, ordered=False, name=name, module=name)


def _comes_from_elsewhere(value: object, module: str) -> bool:
    if isinstance(value, ModuleType):
        return True
    return isinstance(value, (FunctionType, type)) and value.__module__ != module


def _content_of(module: ModuleType) -> bytes:
    spec = getattr(module, "__spec__", None)
    get_code = getattr(getattr(spec, "loader", None), "get_code", None)
    code = get_code(module.__name__) if get_code is not None else None
    if isinstance(code, CodeType):
        return summarize_code(code).digest
    file = getattr(module, "__file__", None)
    if file is not None:
        return xxhash.xxh3_128_digest(Path(file).read_bytes())
    members = {key: value for key, value in vars(module).items() if isinstance(value, FunctionType)}
    return digest(*[summarize_code(members[key].__code__).digest for key in sorted(members)])


def _file_of(module: str) -> str | None:
    """Where a module comes from, without importing it."""
    loaded = sys.modules.get(module)
    if loaded is not None:
        file = getattr(loaded, "__file__", None)
        return file if file is not None else _directory_of(getattr(loaded, "__path__", ()))
    top = module.partition(".")[0]
    if top != module:
        return _file_of(top)
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return None
    if spec is None:
        return None
    return spec.origin if spec.has_location else _directory_of(spec.submodule_search_locations or ())


def _directory_of(paths: object) -> str | None:
    return next((str(path) for path in paths), None) if hasattr(paths, "__iter__") else None


@functools.cache
def _source_of(module: str, file: str | None) -> str | None:
    top = module.partition(".")[0]
    if top == _THIS_PACKAGE:
        return _distribution_of(top) or top
    if file is None:
        return _PYTHON if top in sys.stdlib_module_names else None
    directory = Path(file)
    if (
        "site-packages" in directory.parts
        or "dist-packages" in directory.parts
        or _is_under(directory, _site_directories())
    ):
        return _distribution_of(top)
    if top in sys.stdlib_module_names and _is_under(directory, _standard_directories()):
        return _PYTHON
    return None


def _is_under(path: Path, directories: frozenset[Path]) -> bool:
    return not directories.isdisjoint(path.parents) or not directories.isdisjoint(path.resolve().parents)


@functools.cache
def _site_directories() -> frozenset[Path]:
    names = [
        *site.getsitepackages(),
        site.getusersitepackages(),
        sysconfig.get_path("purelib"),
        sysconfig.get_path("platlib"),
    ]
    return frozenset(Path(name).resolve() for name in names)


@functools.cache
def _standard_directories() -> frozenset[Path]:
    return frozenset(Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib"))


@functools.cache
def _distribution_of(top: str) -> str | None:
    try:
        return f"{top}=={importlib.metadata.version(top)}"
    except importlib.metadata.PackageNotFoundError:
        names = sorted(set(_distributions_of_modules().get(top, ())))
        return " ".join(f"{name}=={importlib.metadata.version(name)}" for name in names) or None


@functools.cache
def _distributions_of_modules() -> Mapping[str, list[str]]:
    return importlib.metadata.packages_distributions()
