"""One block of JSON lines to a record batch."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from raydata_ext.sources.json_faults import MAX_LEVELS, JsonFault, fault_of_row, find_fault, require_safe
from raydata_ext.table.unify import unify_schemas

_MOST_BYTES = 2**31 - 2
_INT64_END = 2.0**63
_UINT64_END = 2.0**64


class JsonBlockParser:
    """Parses the blocks of one piece with Arrow, and mends what Arrow infers wrongly.

    Arrow takes strings that look like dates for timestamps and integers from 2**63 on for doubles, and loses nulls at
    the begin of lists (apache/arrow issue 51305); a block where it did so is parsed again with the types given. Which
    strings look like dates is remembered for the blocks that follow.
    """

    def __init__(self) -> None:
        self._dates = pa.schema([])  # columns, as far as they hold strings that look like dates

    def parse(self, block: bytes) -> pa.RecordBatch:
        """The rows of a block.

        Args:
            block: whole lines; blank ones are skipped.

        Raises:
            JsonFault: a line is at fault; it says which and why.
        """
        known = self._dates
        try:
            return self._parse(block)
        except JsonFault:
            self._dates = known  # what a line at fault looked like must not show in blocks without it
            raise

    def _parse(self, block: bytes) -> pa.RecordBatch:
        if len(block) > _MOST_BYTES:
            raise JsonFault(block, 0, f"a line of {len(block)} bytes; {_MOST_BYTES} are the most that can be parsed")
        require_safe(block)
        try:
            batch = self._read_plain(block)
        except (pa.ArrowInvalid, RecursionError) as error:  # a deep line: its type is walked recursively
            if not block.strip():
                return pa.record_batch([], pa.schema([]))
            raise find_fault(block) or fault_of_row(block, str(error)) from error
        too_deep = any(1 + _levels(field.type) > MAX_LEVELS for field in batch.schema)
        suspicious = too_deep or batch.num_rows != _count_filled_lines(block)
        fault = find_fault(block) if suspicious else None
        if fault is not None:
            raise fault
        return batch

    def _read_plain(self, block: bytes) -> pa.RecordBatch:
        batch = _read(block, self._dates)
        plain = _plain_schema(batch, pa.uint64())
        if plain == batch.schema and _is_valid(batch):
            return batch
        dates = [field.with_type(kind) for field in batch.schema if (kind := _dates_in(field.type)) is not None]
        self._dates = unify_schemas([self._dates, pa.schema(dates)])
        try:
            return _read_as(block, plain)
        except pa.ArrowInvalid:  # not every number of a column is an integer below 2**64
            return _read_as(block, _plain_schema(batch, pa.float64()))


def _count_filled_lines(block: bytes) -> int:
    """Lines that are not blank."""
    data = np.frombuffer(block, np.uint8)
    starts = np.concatenate([[0], np.flatnonzero(data == ord("\n")) + 1])
    starts = starts[starts < len(block)]
    may_be_blank = starts[data[starts] <= ord(" ")].tolist()  # those that begin with white space
    blank = sum(not block[start : (block.find(b"\n", start) + 1) or len(block)].strip() for start in may_be_blank)
    return len(starts) - blank


def _read(block: bytes, schema: pa.Schema) -> pa.RecordBatch:
    options = pj.ReadOptions(use_threads=False, block_size=len(block) + 1)
    table = pj.read_json(pa.BufferReader(block), options, pj.ParseOptions(explicit_schema=schema))
    batches = table.combine_chunks().to_batches()
    return batches[0] if batches else pa.RecordBatch.from_pylist([], schema=table.schema)


def _read_as(block: bytes, schema: pa.Schema) -> pa.RecordBatch:
    """Read with all types given; null is given as bool, for lists lose values of type null even then."""
    batch = _read(block, pa.schema([field.with_type(_bool_for_null(field.type)) for field in schema]))
    columns = [_null_again(column, field.type) for column, field in zip(batch.columns, schema, strict=True)]
    batch = pa.RecordBatch.from_arrays(columns, schema=schema)
    batch.validate()
    return batch


def _is_valid(batch: pa.RecordBatch) -> bool:
    try:
        batch.validate()
    except pa.ArrowInvalid:
        return False
    return True


def _plain_schema(batch: pa.RecordBatch, big: pa.DataType) -> pa.Schema:
    columns = zip(batch.schema, batch.columns, strict=True)
    return pa.schema([field.with_type(_plain_type(column, big)) for field, column in columns])


def _plain_type(array: pa.Array, big: pa.DataType) -> pa.DataType:
    """The type without dates, and with `big` where all numbers may be integers that int64 is too narrow for."""
    kind = array.type
    if pa.types.is_timestamp(kind):
        return pa.string()
    if pa.types.is_struct(kind):
        return pa.struct([kind.field(i).with_type(_plain_type(array.field(i), big)) for i in range(kind.num_fields)])
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_plain_type(array.values, big)))
    if pa.types.is_floating(kind):
        bounds = pc.min_max(array).as_py()
        if bounds["min"] is not None and bounds["min"] >= 0 and _INT64_END <= bounds["max"] <= _UINT64_END:
            return big
    return kind


def _bool_for_null(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_null(kind):
        return pa.bool_()
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_bool_for_null(field.type)) for field in kind])
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_bool_for_null(kind.value_type)))
    return kind


def _null_again(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """The array, as parsed, with the type that `_bool_for_null` was made of."""
    if array.type == kind:
        return array
    if pa.types.is_null(kind):
        return pa.nulls(len(array))
    is_list = pa.types.is_list(kind)
    children = [array.values] if is_list else [array.field(i) for i in range(kind.num_fields)]
    children = [_null_again(child, kind.field(i).type) for i, child in enumerate(children)]
    return pa.Array.from_buffers(kind, len(array), array.buffers()[: 1 + is_list], children=children)


def _dates_in(kind: pa.DataType) -> pa.DataType | None:
    """The part of a type that Arrow took for dates, as strings."""
    if pa.types.is_timestamp(kind):
        return pa.string()
    if pa.types.is_struct(kind):
        fields = [field.with_type(part) for field in kind if (part := _dates_in(field.type)) is not None]
        return pa.struct(fields) if fields else None
    if pa.types.is_list(kind):
        part = _dates_in(kind.value_type)
        return None if part is None else pa.list_(kind.value_field.with_type(part))
    return None


def _levels(kind: pa.DataType) -> int:
    return max((1 + _levels(kind.field(i).type) for i in range(kind.num_fields)), default=0)
