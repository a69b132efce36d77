"""Cut string and binary views loose from the data that they do not show.

A view array is a row of references into shared buffers, and a slice of it keeps every buffer: written to a file, a
slice of a thousand rows would carry the text of all rows. Other types shrink by being copied; views do not.
"""

from __future__ import annotations

import pyarrow as pa
from pyarrow import types

from raydata_ext.table.cast import cast_batch


def compact_views(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the batch with its string and binary views, in structs and lists too, over their own values alone."""
    plain = pa.schema([_without_views(field) for field in batch.schema])
    if plain.equals(batch.schema):
        return batch
    return cast_batch(cast_batch(batch, plain), batch.schema)


def _without_views(field: pa.Field) -> pa.Field:
    data_type = field.type
    if types.is_string_view(data_type):
        return field.with_type(pa.string())
    if types.is_binary_view(data_type):
        return field.with_type(pa.binary())
    if types.is_struct(data_type):
        return field.with_type(pa.struct([_without_views(child) for child in data_type]))
    if types.is_list(data_type) or types.is_large_list(data_type):
        make = pa.list_ if types.is_list(data_type) else pa.large_list
        return field.with_type(make(_without_views(data_type.value_field)))
    return field
