"""Arrays beyond what 32-bit offsets can address take the large types instead of overflowing."""

from __future__ import annotations

import pyarrow as pa


def enlarge_type(kind: pa.DataType) -> pa.DataType:
    """The same type with 64-bit offsets wherever it has 32-bit ones."""
    if pa.types.is_string(kind):
        return pa.large_string()
    if pa.types.is_binary(kind):
        return pa.large_binary()
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.large_list(_enlarge_field(kind.value_field))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(_enlarge_field(kind.value_field), kind.list_size)
    if pa.types.is_struct(kind):
        return pa.struct([_enlarge_field(field) for field in kind])
    return kind


def one_array(chunked: pa.Array | pa.ChunkedArray) -> pa.Array:
    """All chunks as one array, of the enlarged type where 32-bit offsets do not reach.

    Args:
        chunked: Any array; one chunk alone, or what is no chunked array, is returned as it is, uncopied.
    """
    if isinstance(chunked, pa.Array):
        return chunked
    chunks = [chunk for chunk in chunked.chunks if len(chunk)]
    if len(chunks) == 1:
        return chunks[0]
    if not chunks:
        return pa.array([], type=chunked.type)
    try:
        return pa.concat_arrays(chunks)
    except pa.ArrowInvalid:
        large = enlarge_type(chunked.type)
        if large == chunked.type:
            raise
        return pa.concat_arrays([chunk.cast(large) for chunk in chunks])


def _enlarge_field(field: pa.Field) -> pa.Field:
    return field.with_type(enlarge_type(field.type))
