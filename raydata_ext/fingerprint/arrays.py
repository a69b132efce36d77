"""numpy arrays and scalars by type, shape and content, at about the cost of reading them."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import xxhash

from raydata_ext.fingerprint.framing import digest
from raydata_ext.fingerprint.modules import Reference, describe_reference, installed_source, resolve
from raydata_ext.fingerprint.node import Node, Role, Scope, UnhashableError, named, placed

if TYPE_CHECKING:
    from collections.abc import Callable

_BUFFER_ITEMS: Final = 1 << 17


def describe_array(value: np.ndarray[Any, Any], _scope: Scope) -> Node:
    """Describe an array by dtype, shape and content in row-major order.

    A map of a file counts as the array that it shows, and arrays of Python objects element by element. The layout in
    memory (strides, Fortran order, padding of records) has no part.
    """
    head = (_dtype_text(value.dtype), repr(value.shape).encode())
    edges = []
    if isinstance(value, np.ma.MaskedArray):
        edges = [
            named(Role.ATTRIBUTE, "mask", np.ma.getmaskarray(value)),
            named(Role.ATTRIBUTE, "fill_value", value.fill_value),
        ]
        value = value.filled()
    elif type(value) not in {np.ndarray, np.memmap}:
        edges = [named(Role.CLASS, type(value).__name__, type(value))]
        edges += [named(Role.ATTRIBUTE, key, item) for key, item in sorted(getattr(value, "__dict__", {}).items())]
    plain = value.view(np.ndarray)
    if plain.dtype.hasobject:
        return Node("ndarray", head, [*edges, placed(Role.ITEM, "elements", plain.reshape(-1).tolist())])
    return Node("ndarray", (*head, hash_array(plain)), edges)


def hash_array(value: np.ndarray[Any, Any]) -> bytes:
    """Hash the content in row-major order; a contiguous array is read in place, any other piece by piece."""
    if value.dtype.names is not None:
        return digest(*[hash_array(value[name]) for name in value.dtype.names])
    hasher = xxhash.xxh3_128()
    if value.flags.c_contiguous:
        hasher.update(_as_bytes(value))
        return hasher.digest()
    flags: Any = ["external_loop", "buffered", "zerosize_ok"]
    for piece in np.nditer(value, flags=flags, order="C", buffersize=_BUFFER_ITEMS):
        hasher.update(_as_bytes(np.ascontiguousarray(piece)))
    return hasher.digest()


def _as_bytes(value: np.ndarray[Any, Any]) -> memoryview:
    # The buffer protocol knows no datetime64, so hand over bytes.
    return (value.reshape(-1).view(np.uint8) if value.dtype.itemsize else np.empty(0, np.uint8)).data


def _describe_scalar(value: np.generic, scope: Scope) -> Node:
    node = describe_array(np.asarray(value), scope)
    return Node("numpy scalar", node.content, node.edges, name=str(value))


def _describe_dtype(value: np.dtype[Any], _scope: Scope) -> Node:
    return Node("dtype", (_dtype_text(value),), name=str(value))


def _dtype_text(dtype: np.dtype[Any]) -> bytes:
    if dtype.names is not None:
        return repr([(name, _dtype_text(dtype[name])) for name in dtype.names]).encode()
    return repr((dtype.subdtype, dtype.str) if dtype.kind != "T" else str(dtype)).encode()


def _describe_ufunc(value: np.ufunc, scope: Scope) -> Node:
    module = pickle.whichmodule(value, value.__name__)  # type: ignore[attr-defined]
    source = installed_source(module)
    if source is None or resolve(module, value.__name__) is not value:
        raise UnhashableError
    return describe_reference(Reference(source, module, value.__name__), scope)


def _describe_vectorized(value: np.vectorize, _scope: Scope) -> Node:
    names = ("pyfunc", "otypes", "signature", "excluded")  # the rest is what it has built for calls
    return Node("vectorized", (), [named(Role.ATTRIBUTE, name, getattr(value, name)) for name in names])


FAMILIES: Final[dict[type, Callable[[Any, Scope], Node]]] = {
    np.ndarray: describe_array,
    np.generic: _describe_scalar,
    np.dtype: _describe_dtype,
    np.ufunc: _describe_ufunc,
    np.vectorize: _describe_vectorized,
}
