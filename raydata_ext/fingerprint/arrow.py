"""Arrow data by logical content: chunks, slices, offsets, and what lies under a null have no part in the hash.

A column is hashed as a few streams of bytes: the positions of nulls, and by type the values, the lengths and the
bytes, or the streams of the children. Each chunk adds to the same streams, so where the chunks end cannot be seen.
Buffers are read in place.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import xxhash

from raydata_ext.fingerprint.framing import digest
from raydata_ext.fingerprint.node import Node, Role, Scope, UnhashableError, named, placed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    _Bytes = np.ndarray[Any, np.dtype[np.uint8]]
    _Numbers = np.ndarray[Any, np.dtype[np.int64]]

# Encoded data is decoded so many rows at a time.
_DECODED_ROWS: Final = 1 << 16


def _describe_table(value: pa.Table | pa.RecordBatch, _scope: Scope) -> Node:
    columns = zip(value.schema.names, value.columns, strict=True)
    edges = [named(Role.ITEM, name, hash_column(_chunks(column), column.type)) for name, column in columns]
    return Node("arrow table", (str(value.num_rows).encode(),), edges)


def _describe_column(value: pa.Array | pa.ChunkedArray, _scope: Scope) -> Node:
    return Node("arrow column", (hash_column(_chunks(value), value.type),))


def _describe_scalar(value: pa.Scalar, _scope: Scope) -> Node:
    return Node("arrow scalar", (hash_column([pa.repeat(value, 1)], value.type),), name=str(value)[:80])


def _describe_type(value: pa.DataType, _scope: Scope) -> Node:
    return Node("arrow type", (type_text(value).encode(),), name=str(value)[:80])


def _describe_field(value: pa.Field, _scope: Scope) -> Node:
    content = (value.name.encode(), type_text(value.type).encode(), str(value.nullable).encode())
    return Node("arrow field", content, name=str(value)[:80])


def _describe_schema(value: pa.Schema, _scope: Scope) -> Node:
    return Node("arrow schema", (), [placed(Role.ITEM, field.name, field) for field in value])


def _describe_buffer(value: pa.Buffer, _scope: Scope) -> Node:
    return Node("arrow buffer", (xxhash.xxh3_128_digest(value),))


def _chunks(column: pa.Array | pa.ChunkedArray) -> list[pa.Array]:
    return column.chunks if isinstance(column, pa.ChunkedArray) else [column]


def hash_column(chunks: Iterable[pa.Array], type_: pa.DataType) -> bytes:
    """Hash a column of Arrow data by its logical content.

    Args:
        chunks: Arrays of the type; where one ends and the next begins has no part.
        type_: Their type; the names of list items and the index type of a dictionary have no part.

    Returns:
        16 bytes.
    """
    streams = _Streams()
    try:
        for chunk in chunks:
            _feed(streams, "", chunk)
    except pa.ArrowNotImplementedError as error:
        raise UnhashableError(str(error)) from error
    return digest(type_text(type_).encode(), *streams.digests())


def type_text(type_: pa.DataType) -> str:
    """A text for a type that is the same for types that hold the same values."""
    text = next((text for matches, text in _TYPE_TEXTS if matches(type_)), str)
    return text(type_)


def _is_extension(type_: pa.DataType) -> bool:
    return isinstance(type_, pa.BaseExtensionType)


def _fields_text(type_: pa.DataType) -> str:
    fields = [type_.field(index) for index in range(type_.num_fields)]
    return repr([(field.name, type_text(field.type)) for field in fields])


_TYPE_TEXTS: Final[tuple[tuple[Callable[[pa.DataType], bool], Callable[[pa.DataType], str]], ...]] = (
    (_is_extension, lambda type_: f"extension {type_.extension_name}({type_text(type_.storage_type)})"),
    (pa.types.is_dictionary, lambda type_: f"dictionary({type_text(type_.value_type)})"),
    (pa.types.is_run_end_encoded, lambda type_: f"run_end_encoded({type_text(type_.value_type)})"),
    (pa.types.is_map, lambda type_: f"map({type_text(type_.key_type)}, {type_text(type_.item_type)})"),
    (pa.types.is_struct, lambda type_: f"struct{_fields_text(type_)}"),
    (pa.types.is_union, lambda type_: f"{type_.mode} union{type_.type_codes}{_fields_text(type_)}"),
    (pa.types.is_fixed_size_list, lambda type_: f"list[{type_.list_size}]({type_text(type_.value_type)})"),
    (pa.types.is_nested, lambda type_: f"{str(type_).partition('<')[0]}({type_text(type_.value_type)})"),
)


class _Streams:
    """The byte streams of one column, by the path of the type they belong to, and the rows that each path has seen."""

    def __init__(self) -> None:
        self.rows: defaultdict[str, int] = defaultdict(int)
        self._hashers: defaultdict[str, Any] = defaultdict(xxhash.xxh3_128)

    def add(self, path: str, content: Any) -> None:
        self._hashers[path].update(content)

    def digests(self) -> list[bytes]:
        counts = [f"{path} {rows}".encode() for path, rows in sorted(self.rows.items()) if rows]
        empty = xxhash.xxh3_128_digest(b"")
        streams = [(path.encode(), hasher.digest()) for path, hasher in sorted(self._hashers.items())]
        return [*counts, *(part for path, content in streams if content != empty for part in (path, content))]


def _feed(streams: _Streams, path: str, array: pa.Array) -> None:
    """Add an array to the streams of the type at a path."""
    type_ = array.type
    decode = _decoder(type_)
    if decode is not None:
        for start in range(0, len(array), _DECODED_ROWS):
            _feed(streams, path + "/decoded", decode(array.slice(start, _DECODED_ROWS)))
        return
    nulls = np.flatnonzero(np.asarray(array.is_null())) if array.null_count else _NO_NULLS
    if len(nulls):
        streams.add(path + "/nulls", nulls + streams.rows[path])
    streams.rows[path] += len(array)
    if len(array):
        feeder = next((feeder for matches, feeder in _FEEDERS if matches(type_)), _feed_fixed_width)
        feeder(streams, path, array, nulls)


_NO_NULLS: Final = np.empty(0, np.int64)


def _decoder(type_: pa.DataType) -> Callable[[pa.Array], pa.Array] | None:
    """How data in an encoding of its own becomes plain data."""
    if isinstance(type_, pa.BaseExtensionType):
        return lambda array: array.storage
    if pa.types.is_dictionary(type_):
        return lambda array: array.dictionary_decode()
    if pa.types.is_run_end_encoded(type_):
        return pc.run_end_decode  # type: ignore[no-any-return]
    if pa.types.is_string_view(type_):
        return lambda array: array.cast(pa.large_string())
    if pa.types.is_binary_view(type_):
        return lambda array: array.cast(pa.large_binary())
    return None


def _feed_variable(streams: _Streams, path: str, array: pa.Array, nulls: _Numbers) -> None:
    """Lists and binary data: lengths, and the values that the lengths delimit."""
    type_ = array.type
    is_large = pa.types.is_large_string(type_) or pa.types.is_large_binary(type_) or pa.types.is_large_list(type_)
    offsets = _numbers(array, 1, len(array) + 1, 8 if is_large else 4)
    lengths = np.diff(offsets)
    # A null may hide values, which must not count.
    hidden = nulls[lengths[nulls] > 0]
    lengths[hidden] = 0
    places = _places(offsets[:-1], lengths) if len(hidden) else slice(int(offsets[0]), int(offsets[-1]))
    streams.add(path + "/lengths", lengths)
    if pa.types.is_nested(type_):
        _feed_items(streams, path, array.values, places)
    elif lengths.any():
        content = np.frombuffer(array.buffers()[2], np.uint8)[places]
        streams.add(path + "/values", content)


def _feed_nothing(_streams: _Streams, _path: str, _array: pa.Array, _nulls: _Numbers) -> None:
    """Data of the null type: the positions say all."""


def _feed_struct(streams: _Streams, path: str, array: pa.Array, _nulls: _Numbers) -> None:
    for index, child in enumerate(array.flatten()):
        _feed(streams, f"{path}/{index}", child)


def _feed_fixed_size_list(streams: _Streams, path: str, array: pa.Array, _nulls: _Numbers) -> None:
    _feed(streams, path + "/items", array.flatten())


def _feed_boolean(streams: _Streams, path: str, array: pa.Array, _nulls: _Numbers) -> None:
    streams.add(path + "/values", np.asarray(pc.fill_null(array, fill_value=False).cast(pa.uint8())))


def _feed_list_view(streams: _Streams, path: str, array: pa.Array, nulls: _Numbers) -> None:
    """Lists that may share, swap or leave out values."""
    width = 8 if pa.types.is_large_list_view(array.type) else 4
    starts = _numbers(array, 1, len(array), width)
    lengths = _numbers(array, 2, len(array), width)
    lengths[nulls] = 0
    streams.add(path + "/lengths", lengths)
    _feed_items(streams, path, array.values, _places(starts, lengths))


def _feed_items(streams: _Streams, path: str, items: pa.Array, places: slice | _Numbers) -> None:
    if isinstance(places, slice):
        _feed(streams, path + "/items", items.slice(places.start, places.stop - places.start))
    else:
        _feed(streams, path + "/items", items.take(pa.array(places)))


def _numbers(array: pa.Array, buffer: int, count: int, width: int) -> _Numbers:
    """Integers from a buffer of an array, such as the offsets of lists, as a copy in 64 bits."""
    numbers = np.frombuffer(array.buffers()[buffer], f"i{width}", count, array.offset * width)
    return numbers.astype(np.int64)


def _places(starts: _Numbers, lengths: _Numbers) -> _Numbers:
    """The indices of all values of lists that begin at `starts`, in order."""
    ends = np.cumsum(lengths)
    shifts: _Numbers = np.repeat(starts - (ends - lengths), lengths)
    return shifts + np.arange(len(shifts))


def _feed_union(streams: _Streams, path: str, array: pa.UnionArray, _nulls: _Numbers) -> None:
    codes = _numbers(array, 1, len(array), 1)
    streams.add(path + "/codes", codes)
    for index, code in enumerate(array.type.type_codes):
        rows = np.flatnonzero(codes == code)
        places = _numbers(array, 2, len(array), 4)[rows] if array.type.mode == "dense" else rows
        _feed(streams, f"{path}/{index}", array.field(index).take(pa.array(places)))


def _feed_fixed_width(streams: _Streams, path: str, array: pa.Array, nulls: _Numbers) -> None:
    try:
        width = array.type.bit_width // 8
    except ValueError as error:
        raise UnhashableError(f"Arrow type {array.type}") from error
    buffer = array.buffers()[1]
    if buffer is None or width == 0:
        return
    content = np.frombuffer(buffer, np.uint8, len(array) * width, array.offset * width)
    if len(nulls):
        content = content.copy()
        content.reshape(len(array), width)[nulls] = 0
    streams.add(path + "/values", content)


_FEEDERS: Final[tuple[tuple[Callable[[pa.DataType], bool], Callable[..., None]], ...]] = (
    (pa.types.is_null, _feed_nothing),
    (pa.types.is_boolean, _feed_boolean),
    (pa.types.is_struct, _feed_struct),
    (pa.types.is_union, _feed_union),
    (pa.types.is_fixed_size_list, _feed_fixed_size_list),
    (pa.types.is_list_view, _feed_list_view),
    (pa.types.is_large_list_view, _feed_list_view),
    (pa.types.is_string, _feed_variable),
    (pa.types.is_binary, _feed_variable),
    (pa.types.is_large_string, _feed_variable),
    (pa.types.is_large_binary, _feed_variable),
    (pa.types.is_list, _feed_variable),
    (pa.types.is_large_list, _feed_variable),
    (pa.types.is_map, _feed_variable),
)


FAMILIES: Final[dict[type, Callable[[Any, Scope], Node]]] = {
    pa.Table: _describe_table,
    pa.RecordBatch: _describe_table,
    pa.Array: _describe_column,
    pa.ChunkedArray: _describe_column,
    pa.Scalar: _describe_scalar,
    pa.DataType: _describe_type,
    pa.Field: _describe_field,
    pa.Schema: _describe_schema,
    pa.Buffer: _describe_buffer,
}
