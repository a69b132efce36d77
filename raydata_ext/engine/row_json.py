"""A row as JSON of bounded size, for people to look at."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_BYTES = 10_000

_CUTS = ((4_000, 100), (500, 20), (50, 3))
"""Longest text and longest list that are kept whole, tried in this order until the row is short enough."""
_DEEPEST = 30


def row_json(row: Mapping[str, Any]) -> str:
    """The row as a JSON object of at most `MOST_BYTES`; what is left out of it is said in its place."""
    for characters, items in _CUTS:
        text = orjson.dumps({str(name): _plain(value, characters, items, 0) for name, value in row.items()})
        if len(text) <= MOST_BYTES:
            return text.decode()
    names = [_plain(str(name), *_CUTS[-1], 0) for name in row]
    return orjson.dumps({"columns": len(names), "names": names[:100]}).decode()


def _plain(value: Any, characters: int, items: int, depth: int) -> Any:
    if depth > _DEEPEST:
        return "..."
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, int):
        return value if -(2**53) < value < 2**53 else str(value)
    if isinstance(value, bytes):
        value = "base64:" + base64.b64encode(value[: characters * 3 // 4 + 3]).decode()
    if isinstance(value, np.ndarray):
        value = value[: items + 1].tolist() if value.ndim else value.item()
    if isinstance(value, dict):
        pairs = list(value.items())[:items]
        short = {str(name): _plain(part, characters, items, depth + 1) for name, part in pairs}
        return short if len(value) <= items else {**short, "...": f"{len(value) - items} more"}
    if isinstance(value, list | tuple):
        parts = [_plain(part, characters, items, depth + 1) for part in value[:items]]
        return parts if len(value) <= items else [*parts, f"... {len(value) - items} more"]
    text = str(value)
    cut = text if len(text) <= characters else f"{text[:characters]}... {len(text) - characters} more characters"
    return cut.encode("utf-8", "backslashreplace").decode()
