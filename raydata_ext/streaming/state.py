"""Positions of a stream as JSON, and the stream that they belong to."""

from __future__ import annotations

import base64
import json
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from raydata_ext.errors import StateError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from raydata_ext.streaming.nodes.base import Node
    from raydata_ext.streaming.rows import References

VERSION = 3
"""Raised when the layout of a state changes."""

_ARRAY = "int64"
_INTEGER = "integer"
_SCHEMA = "arrow_schema"
_JSON_SAFE = 1 << 53


def encode(value: Any) -> Any:
    """A position as JSON: arrays and schemas packed to text, integers beyond 53 bits as text."""
    if isinstance(value, np.ndarray):
        return {_ARRAY: _packed(value)}
    if isinstance(value, pa.Schema):
        return {_SCHEMA: base64.b64encode(value.serialize().to_pybytes()).decode("ascii")}
    if isinstance(value, dict):
        return {key: encode(item) for key, item in value.items()}
    if isinstance(value, list):
        return [encode(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= _JSON_SAFE:
        return {_INTEGER: str(value)}
    return value


def decode(value: Any) -> Any:
    """The position that `encode` was given."""
    if isinstance(value, dict):
        if value.keys() == {_ARRAY}:
            return _unpacked(value[_ARRAY])
        if value.keys() == {_SCHEMA}:
            return pa.ipc.read_schema(pa.py_buffer(base64.b64decode(value[_SCHEMA])))
        if value.keys() == {_INTEGER}:
            return int(value[_INTEGER])
        return {key: decode(item) for key, item in value.items()}
    return [decode(item) for item in value] if isinstance(value, list) else value


def describe(node: Node) -> dict[str, Any]:
    """What a state of a node is bound to: each node of the tree, the root first, and its settings."""
    described: dict[str, Any] = {}
    for number, part in enumerate(_walk(node)):
        name = f"{number} {type(part).__name__}"
        described[name] = {"over": len(part.children)}
        described |= {f"{name}.{key}": value for key, value in part.settings.items()}
    return described


def _walk(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children:
        yield from _walk(child)


def require_same(saved: Mapping[str, Any], current: Mapping[str, Any]) -> None:
    """Check that a state belongs to a stream.

    Args:
        saved: description of the stream that it was taken of.
        current: description of this stream.

    Raises:
        StateError: it does not; names what differs.
    """
    saved, current = (json.loads(json.dumps(parts)) for parts in (saved, current))
    differences = [
        f"{name} was {saved.get(name, 'not there')} and is {current.get(name, 'not there')}"
        for name in {**saved, **current}
        if saved.get(name, StateError) != current.get(name, StateError)
    ]
    if differences:
        raise StateError(
            f"the state is of another stream: {'; '.join(differences[:5])}; make the stream as it was when the"
            " state was saved, or start without the state"
        )


def _packed(array: References) -> str:
    """Differences to the smallest number, their bytes sorted by place: the high ones are nearly all zero."""
    low = int(array.min()) if len(array) else 0
    planes = np.ascontiguousarray((array - low).astype("<i8").view(np.uint8).reshape(-1, 8).T)
    return f"{low}:" + base64.b64encode(zlib.compress(planes.tobytes(), 6)).decode("ascii")


def _unpacked(text: str) -> References:
    low, _, packed = text.partition(":")
    planes = np.frombuffer(zlib.decompress(base64.b64decode(packed)), np.uint8).reshape(8, -1)
    return np.ascontiguousarray(planes.T).view("<i8").reshape(-1).astype(np.int64) + int(low)
