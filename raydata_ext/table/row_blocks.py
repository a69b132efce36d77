"""Blocks side by side: the columns of one run of rows, some from one table and some from another.

A row block is a list of tables with equally many rows. Its columns are those of its blocks from left to right. When
columns are chosen or added, the blocks are cut and put together anew so that this stays true; no order of columns has
to be remembered beside the blocks.
"""

from __future__ import annotations

from collections import defaultdict, deque
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa

from raydata_ext.table.in_memory import InMemoryTable
from raydata_ext.table.operations import AddColumn, Cast, Operation, RenameColumns, Select, SetColumn
from raydata_ext.table.rows_without_columns import rows_without_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from raydata_ext.table.table import TableBlock

RowBlock: TypeAlias = "list[TableBlock]"
"""Blocks side by side, at least one, all with the same number of rows."""

_Column: TypeAlias = "tuple[TableBlock, int]"  # a block, and the position of a column in it


def read_row_block(row_block: RowBlock, schema: pa.Schema) -> pa.Table:
    """Return the rows of blocks side by side, zero-copy and without keeping files open.

    Args:
        row_block: the blocks.
        schema: the schema of the result. It has the types of the blocks; nullability and metadata are its own.
    """
    tables = [block.read() for block in row_block]
    if len(tables) == 1 and tables[0].schema.equals(schema, check_metadata=True):
        return tables[0]
    if not len(schema):
        return rows_without_columns(tables[0].num_rows, schema.metadata)
    return pa.Table.from_arrays([column for table in tables for column in table.columns], schema=schema)


def apply_to_row_block(operation: Operation, row_block: RowBlock) -> RowBlock:
    """Return what an operation makes of blocks side by side.

    Args:
        operation: the operation; of masks and columns that it holds, the part for these rows.
        row_block: the blocks.
    """
    if len(row_block) == 1 and not isinstance(operation, AddColumn):
        return [row_block[0].apply(operation)]
    match operation:
        case Select(positions):
            columns = _columns(row_block)
            return _regroup([columns[position] for position in positions], row_block)
        case AddColumn(position, field, column):
            stop = position + 1 if isinstance(operation, SetColumn) else position
            return _with_column(row_block, position, stop, field, column)
        case RenameColumns(names):
            return _rename(row_block, names)
        case Cast(schema, add_missing):
            return _cast(row_block, schema, add_missing=add_missing)
        case _:
            return [block.apply(operation) for block in row_block]


def merge_in_memory(row_block: RowBlock) -> RowBlock:
    """Join the blocks in memory that stand side by side to one."""
    merged: RowBlock = []
    for in_memory, group in groupby(row_block, key=lambda block: isinstance(block, InMemoryTable)):
        blocks = list(group)
        if in_memory and len(blocks) > 1:
            fields = [field for block in blocks for field in block.schema]
            schema = pa.schema(fields, metadata=blocks[0].schema.metadata)
            blocks = [InMemoryTable(read_row_block(blocks, schema))]
        merged += blocks
    return merged


def _columns(row_block: RowBlock) -> list[_Column]:
    return [(block, position) for block in row_block for position in range(block.num_columns)]


def _regroup(columns: Sequence[_Column], row_block: RowBlock) -> RowBlock:
    """Return blocks whose columns are the given ones; columns in a row that are of one block stay together."""
    if not columns:
        return [row_block[0].apply(Select(()))]  # there are still rows
    regrouped = []
    for _, group in groupby(columns, key=lambda column: id(column[0])):
        run = list(group)
        block = run[0][0]
        positions = tuple(position for _, position in run)
        whole = positions == tuple(range(block.num_columns))
        regrouped.append(block if whole else block.apply(Select(positions)))
    return regrouped


def _with_column(row_block: RowBlock, start: int, stop: int, field: pa.Field, column: pa.ChunkedArray) -> RowBlock:
    """Return blocks with another column in the place of those from start up to stop."""
    added = InMemoryTable(pa.Table.from_arrays([column], schema=pa.schema([field])))
    columns = _columns(row_block)
    columns[start:stop] = [(added, 0)]
    return _regroup(columns, row_block)


def _rename(row_block: RowBlock, names: Iterable[str]) -> RowBlock:
    remaining = iter(names)
    return [block.apply(RenameColumns(tuple(next(remaining) for _ in range(block.num_columns)))) for block in row_block]


def _cast(row_block: RowBlock, schema: pa.Schema, *, add_missing: bool) -> RowBlock:
    """Cast each block to the fields of its columns; the last one also gets the columns that no block has."""
    wanted: defaultdict[str, deque[pa.Field]] = defaultdict(deque)
    for field in schema:
        wanted[field.name].append(field)
    fields = [[wanted[name].popleft() for name in block.schema.names] for block in row_block]
    fields[-1] += [field for left_over in wanted.values() for field in left_over]
    cast = [
        block.apply(Cast(pa.schema(of_block), add_missing)) for block, of_block in zip(row_block, fields, strict=True)
    ]
    named: defaultdict[str, deque[_Column]] = defaultdict(deque)
    for block, position in _columns(cast):
        named[block.schema.names[position]].append((block, position))
    return _regroup([named[field.name].popleft() for field in schema], cast)
