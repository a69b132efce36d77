"""The fingerprint of a value: 128 bits, and its components in words people can compare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from raydata_ext.fingerprint.node import Scope
from raydata_ext.fingerprint.parts import list_parts
from raydata_ext.fingerprint.walk import walk

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping


@dataclass(frozen=True)
class Fingerprint:
    """What a value is, as far as it can change a result.

    Args:
        digest: 32 hexadecimal digits (xxh3, 128 bits). Not meant to withstand forgery.
        parts: Label of a component to its short text, or `#` and its digest; a few hundred at most, for
        `explain_difference`.
    """

    digest: str
    parts: Mapping[str, str]


def fingerprint(value: object, name: str = "value", *, exclude: Collection[str] = ()) -> Fingerprint:
    """Fingerprint a function, class or other value by all that can change what it does, and nothing else.

    Functions count by code, defaults, closure and the globals they read, and so does all that they call in the user's
    own modules; installed modules count by name and version. Comments, formatting, docstrings, annotations, names and
    places of files do not count, nor do hash seed, process and machine. Another minor version of Python compiles to
    other code, so a function has another fingerprint there; data has the same.

    A module of the user's that a function imports while it runs is imported now, to see what it uses there. A dict
    counts with the order of its items, a set without. Changing state that a function reads, such as a global, changes
    its fingerprint; exclude what is only a cache, or let the object say what counts: `__fingerprint__`,
    `__getstate__`, or `register`.

    Args:
        value: Anything that has stable content.
        name: What to call the value in `parts` and errors.
        exclude: Names of attributes, closure variables and globals that do not count, bare or as `"Owner.name"`.

    Raises:
        TypeError: `exclude` is a text.
        FingerprintError: Something in the value has no stable content, such as a lock; the message gives the way to it.
    """
    if isinstance(exclude, str):
        raise TypeError(f"exclude takes a collection of names, not the text {exclude!r}; write ({exclude!r},)")
    graph = walk(value, name, Scope(frozenset(exclude)))
    return Fingerprint(graph.digests[0].hex(), list_parts(value, graph, name))


def hash_value(value: object) -> str:
    """The digest of `fingerprint(value)`, without the parts.

    Raises:
        FingerprintError: As `fingerprint`.
    """
    return walk(value, "value", Scope()).digests[0].hex()
