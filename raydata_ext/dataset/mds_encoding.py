"""Rows as samples of MosaicML's MDS format: one array of bytes for a record batch, made by Arrow, not row by row.

A sample is the sizes (u32) of those columns whose size varies, then the values of all columns, both in the order of
their names. An array is its values; where the shape varies, before them stand a byte, `ndim << 2 | log2(width)`, and
the shape in numbers of that width.

Source: MosaicML Streaming, `streaming/base/format/mds/{encodings,writer}.py`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from raydata_ext.errors import SchemaError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

_NUMBERS: Mapping[str, Any] = {
    **{f"{sign}int{bits}": getattr(pa, f"{sign}int{bits}")() for sign in ("", "u") for bits in (8, 16, 32, 64)},
    **{f"float{bits}": getattr(pa, f"float{bits}")() for bits in (16, 32, 64)},
}
"""The types of numbers, as single values and in arrays."""

_BYTES = ("bytes", "jpeg", "png")
"""What is stored as it is; readers decode images."""

_TEXTS = ("str_int", "str_float", "str_decimal")


@dataclass(frozen=True)
class MdsColumn:
    """A column and how its values become bytes.

    Attributes:
        name: of the column.
        encoding: as index and shards name it.
        size: bytes of each value; None where it varies.
    """

    name: str
    encoding: str
    size: int | None

    @classmethod
    def of(cls, field: pa.Field, encoding: str | None = None) -> MdsColumn:
        """Choose or check an encoding.

        Args:
            field: name and type of the column.
            encoding: what was asked for; None is what the type stands for.

        Raises:
            SchemaError: the type has no encoding, or not this one.
        """
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        known = _encodings_of(kind)
        if not known:
            raise SchemaError(
                f"column {field.name!r} is {kind}, which MDS has no encoding for; cast it to a string or number"
            )
        chosen = encoding or known[0]
        if chosen not in known:
            raise SchemaError(f"column {field.name!r} is {kind}, which cannot be {chosen!r}; choose one of {known}")
        return cls(field.name, chosen, _size_of(chosen))

    def encode(self, values: pa.Array, first_row: int) -> list[pa.Array]:
        """The bytes of each value, in arrays of large binary that are to be joined row by row.

        Raises:
            SchemaError: a value is null or an empty array, or does not fit.
        """
        if pa.types.is_dictionary(values.type):
            values = values.dictionary_decode()
        if self.encoding == "json":
            return [_from_python(values, lambda value: json.dumps(value).encode())]
        self._require(values.is_valid(), first_row, "null")
        if self.encoding in _BYTES or self.encoding == "str":
            return [values.cast(pa.large_binary())]
        if self.encoding in _TEXTS:
            return [_from_python(values, lambda value: str(value).encode())]
        if self.encoding.startswith("ndarray:"):
            return self._encode_arrays(values, first_row)
        numbers = values.cast(_NUMBERS.get(self.encoding, pa.int64())).to_numpy()
        return [_binary(numbers, np.full(len(numbers), numbers.dtype.itemsize))]

    def _encode_arrays(self, lists: pa.Array, first_row: int) -> list[pa.Array]:
        lengths = pc.list_value_length(lists).to_numpy().astype(np.int64)
        self._require(pa.array(lengths > 0), first_row, "an empty array")
        elements = lists.flatten()
        if elements.null_count:
            nulls = np.add.reduceat(elements.is_null().to_numpy(zero_copy_only=False), np.cumsum(lengths) - lengths)
            self._require(pa.array(nulls == 0), first_row, "null in an array")
        numbers = elements.cast(_NUMBERS[self.encoding.split(":")[1]]).to_numpy()
        values = _binary(numbers, lengths * numbers.dtype.itemsize)
        return [values] if self.size is not None else [_shapes(lengths), values]

    def _require(self, good: pa.Array, first_row: int, what: str) -> None:
        row = pc.index(good, value=False).as_py()
        if row >= 0:
            raise SchemaError(
                f"row {first_row + row}: column {self.name!r} is {what}, which MDS cannot hold as {self.encoding!r};"
                f" fill it or filter such rows, or give columns={{{self.name!r}: 'json', ...}}"
            )


def encode_samples(columns: Sequence[MdsColumn], batch: pa.RecordBatch, first_row: int) -> pa.Array:
    """The sample of each row, as an array of large binary.

    Args:
        columns: in the order of their names.
        batch: the rows.
        first_row: number of the first of them in the data set, for messages.

    Raises:
        SchemaError: a value has no form in the encoding of its column.
    """
    pieces = _pieces(columns, batch, first_row)
    return pc.binary_join_element_wise(*pieces, pa.scalar(b"", pa.large_binary()))


def sample_sizes(columns: Sequence[MdsColumn], batch: pa.RecordBatch, first_row: int) -> NDArray[np.int64]:
    """Bytes of the sample of each row, without making it; see `encode_samples`."""
    return _lengths(_pieces(columns, batch, first_row))


def _pieces(columns: Sequence[MdsColumn], batch: pa.RecordBatch, first_row: int) -> list[pa.Array]:
    """What samples are made of, in arrays of large binary that are to be joined row by row."""
    pieces: list[pa.Array] = []
    sizes: list[NDArray[np.int64]] = []
    for column in columns:
        try:
            encoded = column.encode(batch.column(column.name), first_row)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, TypeError) as error:
            raise SchemaError(
                f"rows {first_row} to {first_row + batch.num_rows - 1}: column {column.name!r} has a value that cannot"
                f" be {column.encoding!r} ({error})"
            ) from error
        if column.size is None:
            sizes.append(_lengths(encoded))
        pieces += encoded
    head = np.array(sizes, "<u4").reshape(len(sizes), batch.num_rows).T
    return [_binary(head, np.full(batch.num_rows, 4 * len(sizes))), *pieces]


def _lengths(pieces: Sequence[pa.Array]) -> NDArray[np.int64]:
    """Bytes of each row in all of these together."""
    lengths: NDArray[np.int64] = np.sum([pc.binary_length(piece).to_numpy() for piece in pieces], axis=0)
    return lengths


def _encodings_of(kind: pa.DataType) -> list[str]:  # noqa: PLR0911 - a table of types
    """The encodings that a type may have, that which it has by default first."""
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return ["str", "json"]
    if any(test(kind) for test in (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary)):
        return list(_BYTES)
    if pa.types.is_integer(kind):
        own = next(name for name, number in _NUMBERS.items() if number == kind)
        first = ["int", "int64"] if own == "int64" else [own, "int"]
        return [*first, *(name for name in _NUMBERS if name not in first), "str_int", "json"]
    if pa.types.is_floating(kind):
        own = next(name for name, number in _NUMBERS.items() if number == kind)
        return [own, *(name for name in _NUMBERS if name.startswith("float") and name != own), "str_float", "json"]
    if pa.types.is_decimal(kind):
        return ["str_decimal"]
    if pa.types.is_fixed_size_list(kind) and kind.value_type in _NUMBERS.values() and kind.list_size:
        return [f"{name}:{kind.list_size}" for name in _arrays_of(kind.value_type)] + ["json"]
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return [*_arrays_of(kind.value_type), "json"]
    if pa.types.is_boolean(kind) or pa.types.is_struct(kind) or pa.types.is_map(kind) or pa.types.is_null(kind):
        return ["json"]
    return []


def _arrays_of(kind: pa.DataType) -> list[str]:
    own = [f"ndarray:{name}" for name, number in _NUMBERS.items() if number == kind]
    return own and [*own, *(f"ndarray:{name}" for name in _NUMBERS if f"ndarray:{name}" not in own)]


def _size_of(encoding: str) -> int | None:
    if encoding == "int":
        return 8
    if encoding in _NUMBERS:
        return int(_NUMBERS[encoding].bit_width) // 8
    name, _, shape = encoding.removeprefix("ndarray:").partition(":")
    return int(shape) * int(_NUMBERS[name].bit_width) // 8 if shape else None


def _from_python(values: pa.Array, encode: Callable[[Any], bytes]) -> pa.Array:
    return pa.array(map(encode, values.to_pylist()), pa.large_binary(), size=len(values))


def _shapes(lengths: NDArray[np.int64]) -> pa.Array:
    """What stands before arrays of one dimension."""
    widths = np.digitize(lengths, [1 << 8, 1 << 16, 1 << 32])  # 1, 2, 4 and 8 bytes, as their binary logarithm
    heads = np.empty((len(lengths), 1 + 8), np.uint8)
    heads[:, 0] = 1 << 2 | widths
    heads[:, 1:] = lengths.astype("<u8").view(np.uint8).reshape(-1, 8)
    sizes = 1 + (1 << widths)
    return _binary(heads[np.arange(1 + 8) < sizes[:, None]], sizes)


def _binary(values: NDArray[Any], sizes: NDArray[np.int64]) -> pa.Array:
    """Bytes that lie one after the other, cut into values of these sizes."""
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(values))]
    return pa.Array.from_buffers(pa.large_binary(), len(sizes), buffers)
