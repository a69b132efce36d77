"""The types of CSV columns, as all values of a file allow."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

TRUE_VALUES = ("true", "True", "TRUE")
FALSE_VALUES = ("false", "False", "FALSE")

_INTEGER = r"^-?(0|[1-9][0-9]*)$"
_LOSSY = r"^[-+]?(0[0-9]|[0-9]{16,}$)"
"""What a double would not give back: leading zeros, and more digits than it holds."""


@dataclass
class ColumnType:
    """Narrows down the type of one column, block by block.

    Only what can be written again as it was becomes a number: `007`, integers beyond int64 and dates stay strings.
    """

    _possible: list[pa.DataType] = field(default_factory=lambda: [pa.bool_(), pa.int64(), pa.float64()])
    _empty: bool = True

    def add(self, values: pa.Array) -> None:
        """Take more values into account.

        Args:
            values: strings; what counts as null is null.
        """
        filled = values.drop_null()
        if len(filled):
            self._empty = False
            self._possible = [kind for kind in self._possible if _can_be(filled, kind)]

    @property
    def type(self) -> pa.DataType:
        """The narrowest type of all values so far: null, bool, int64, double or string."""
        if self._empty:
            return pa.null()
        return self._possible[0] if self._possible else pa.string()


def _can_be(values: pa.Array, kind: pa.DataType) -> bool:
    if pa.types.is_boolean(kind):
        return bool(pc.all(pc.is_in(values, pa.array([*TRUE_VALUES, *FALSE_VALUES]))).as_py())
    if pa.types.is_integer(kind) and not pc.all(pc.match_substring_regex(values, _INTEGER)).as_py():
        return False
    if pa.types.is_floating(kind) and pc.any(pc.match_substring_regex(values, _LOSSY)).as_py():
        return False
    try:
        values.cast(kind)
    except pa.ArrowInvalid:
        return False
    return True
