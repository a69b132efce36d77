"""Tables joined below one another and side by side, without copying rows or opening files."""

from __future__ import annotations

from functools import partial
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa
from typing_extensions import override

from raydata_ext.errors import StateError
from raydata_ext.table.in_memory import InMemoryTable
from raydata_ext.table.memory_mapped import MemoryMappedTable
from raydata_ext.table.operations import AddColumn, Cast, Filter, Operation
from raydata_ext.table.row_blocks import RowBlock, apply_to_row_block, merge_in_memory, read_row_block
from raydata_ext.table.row_index import RowIndex
from raydata_ext.table.rows_without_columns import rows_without_columns
from raydata_ext.table.shown_types import shown_type, unify_shown
from raydata_ext.table.table import Table, TableBlock
from raydata_ext.table.unify import unify_types

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Blocks: TypeAlias = "TableBlock | Sequence[TableBlock] | Sequence[Sequence[TableBlock]]"
"""A block; or blocks below one another; or rows of blocks, below one another, whose blocks stand side by side."""


def concat_tables(tables: Iterable[Table | pa.Table], axis: int = 0) -> Table:
    """Join tables without copying rows or opening files.

    Args:
        tables: one at least.
        axis: 0 to join them below one another. Columns are found by name; types are widened to hold those of all
            tables, and columns that a table lacks are null in its rows. Where types do not go together, files are
            opened, since a type of which a table has no values gives way. 1 to join them side by side.

    Returns:
        A `ConcatenationTable`, or the table itself if there is just one.

    Raises:
        SchemaError: (axis 0) the types of a column have no type in common; names the column path and both types.
        ValueError: (axis 1) the numbers of rows differ. Or there is no table, or another axis.
    """
    tables = list(tables)
    if len(tables) == 1 and isinstance(tables[0], Table):
        return tables[0]
    return ConcatenationTable.from_tables(tables, axis)


def list_table_cache_files(table: Table) -> list[str]:
    """Return the absolute paths of the files that the rows of a table are mapped from, each once, in order."""
    return list(dict.fromkeys(block.path for block in blocks_of(table) if isinstance(block, MemoryMappedTable)))


def blocks_of(table: Table) -> Iterator[Table]:
    """Yield the tables that a table is joined from, in order; the table itself where it is of one piece."""
    if isinstance(table, ConcatenationTable):
        for row_block in table.blocks:
            yield from row_block
    else:
        yield table


class ConcatenationTable(Table):
    """Blocks joined below one another and side by side.

    Nothing is copied, and a file is opened when its rows are first touched. Pickling pickles each block: mapped ones as
    paths and operations, those in memory as their rows.

    Args:
        blocks: rows of blocks. The blocks of a row have equally many rows, and each row the columns of the schema.
        schema: the schema; None for that of the first row of blocks.

    Raises:
        TypeError: a block is not a `TableBlock`.
        ValueError: the blocks of a row have different numbers of rows, or not the columns of the schema.
    """

    def __init__(self, blocks: Sequence[Sequence[TableBlock]], schema: pa.Schema | None = None) -> None:
        row_blocks = [list(row_block) for row_block in blocks if row_block]
        if schema is None:
            if not row_blocks:
                raise ValueError("a table of no blocks needs a schema")
            schema = _schema_of(row_blocks[0])
        for row_block in row_blocks:
            _require_row_block(row_block, schema)
        self._row_blocks = row_blocks
        num_rows = [row_block[0].num_rows for row_block in row_blocks]
        index = RowIndex(
            schema,
            num_rows,
            lambda number: read_row_block(row_blocks[number], schema),
            lambda number: any(map(_is_remote, row_blocks[number])),
        )
        self._show(index, 0, index.num_rows)

    @classmethod
    def from_blocks(cls, blocks: Blocks) -> ConcatenationTable:
        """Join blocks; those in memory that stand side by side or below one another become one.

        Args:
            blocks: a block, blocks below one another, or rows of blocks.
        """
        if isinstance(blocks, TableBlock):
            return cls([[blocks]])
        rows = [[row] if isinstance(row, TableBlock) else list(row) for row in blocks]
        return _join_rows([(_schema_of(row), [row]) for row in rows if row])

    @classmethod
    def from_tables(cls, tables: Iterable[Table | pa.Table], axis: int = 0) -> ConcatenationTable:
        """Join tables; see `concat_tables`."""
        joined = [InMemoryTable(table) if isinstance(table, pa.Table) else table for table in tables]
        if not joined:
            raise ValueError("there are no tables to concatenate; pass one at least")
        for table in joined:
            if not isinstance(table, Table):
                raise TypeError(
                    f"cannot concatenate a {type(table).__name__}; pass tables of this package or of pyarrow"
                )
        if axis == 0:
            return _join_rows([(table.schema, _blocks(table)) for table in joined])
        if axis == 1:
            return _join_columns(joined)
        raise ValueError(f"axis must be 0 (rows) or 1 (columns), not {axis!r}")

    @property
    def blocks(self) -> list[RowBlock]:
        """The blocks: rows of blocks, below one another, whose blocks stand side by side."""
        if (self._start, self._stop) == (0, self._index.num_rows):
            return [list(row_block) for row_block in self._row_blocks]
        return [
            [block.slice(start, stop - start) for block in self._row_blocks[number]]
            for number, start, stop in self._index.spans(self._start, self._stop)
        ]

    @override
    def apply(self, operation: Operation) -> ConcatenationTable:
        schema = operation.schema_after(self.schema)
        if operation.keeps_columns:
            return ConcatenationTable(self.blocks, schema)
        applied = []
        first = 0
        for row_block in self.blocks:
            num_rows = row_block[0].num_rows
            part = operation.between(first, num_rows) if isinstance(operation, Filter | AddColumn) else operation
            applied.append(apply_to_row_block(part, row_block))
            first += num_rows
        return ConcatenationTable(applied, schema)

    @override
    def _materialise(self) -> pa.Table:
        if not self.num_columns:
            return rows_without_columns(self.num_rows, self.schema.metadata)
        tables = [read_row_block(row_block, self.schema) for row_block in self.blocks]
        return pa.concat_tables(tables) if tables else self.schema.empty_table()

    def __getstate__(self) -> dict[str, object]:
        return {"blocks": self.blocks, "schema": self.schema}

    def __setstate__(self, state: object) -> None:
        match state:
            case {"blocks": list(blocks), "schema": pa.Schema() as schema}:
                try:
                    ConcatenationTable.__init__(self, blocks, schema)
                except (TypeError, ValueError) as error:
                    raise StateError(f"the state of a table does not fit together: {error}") from error
            case _:
                raise StateError("this is not the state of a ConcatenationTable; make the table anew")


def _blocks(table: Table) -> list[RowBlock]:
    if isinstance(table, ConcatenationTable):
        return table.blocks
    assert isinstance(table, TableBlock), "every other table is a block"
    return [[table]]


def _schema_of(row_block: RowBlock) -> pa.Schema:
    if len(row_block) == 1:
        return row_block[0].schema
    return pa.schema([field for block in row_block for field in block.schema], metadata=row_block[0].schema.metadata)


def _require_row_block(row_block: RowBlock, schema: pa.Schema) -> None:
    for block in row_block:
        if not isinstance(block, TableBlock):
            raise TypeError(f"blocks must be InMemoryTable or MemoryMappedTable, not {type(block).__name__}")
        if block.num_rows != row_block[0].num_rows:
            raise ValueError(f"blocks side by side have {row_block[0].num_rows} and {block.num_rows} rows")
    found = _schema_of(row_block)
    if found is not schema and not _same_columns(found, schema):
        raise ValueError(f"a row of blocks has the columns {found.names}, types {found.types}; the schema is {schema}")


def _is_remote(block: TableBlock) -> bool:
    return isinstance(block, MemoryMappedTable) and block.origin is not None


def _same_columns(first: pa.Schema, second: pa.Schema) -> bool:
    """Tell whether names and types are equal; nullability and metadata may differ."""
    return bool(first.equals(second)) or (first.names == second.names and first.types == second.types)


def _join_rows(parts: list[tuple[pa.Schema, list[RowBlock]]]) -> ConcatenationTable:
    """Join rows of blocks, given with their schema, below one another."""
    schema = parts[0][0]
    if not all(found is schema or found.equals(schema) for found, _ in parts):
        schema = unify_shown([(found, partial(_shown_in, rows, found)) for found, rows in parts])
    cast = Cast(schema, add_missing=True)
    row_blocks = []
    for found, rows in parts:
        fits = found is schema or _same_columns(found, schema)
        row_blocks += rows if fits else [apply_to_row_block(cast, row) for row in rows]
    row_blocks = [merge_in_memory(row_block) for row_block in row_blocks]
    if len(schema) and all(len(row_block) == 1 for row_block in row_blocks):
        row_blocks = _merge_rows_in_memory(row_blocks, schema)
    return ConcatenationTable(row_blocks, schema)


def _shown_in(row_blocks: list[RowBlock], schema: pa.Schema, name: str) -> pa.DataType:
    """Return the type that the values of a column show."""
    return unify_types(shown_type(read_row_block(row_block, schema).column(name)) for row_block in row_blocks)


def _merge_rows_in_memory(row_blocks: list[RowBlock], schema: pa.Schema) -> list[RowBlock]:
    """Join single blocks in memory that stand below one another to one."""
    merged: list[RowBlock] = []
    for in_memory, group in groupby(row_blocks, key=lambda row_block: isinstance(row_block[0], InMemoryTable)):
        rows = list(group)
        if in_memory and len(rows) > 1:
            rows = [[InMemoryTable(pa.concat_tables([read_row_block(row, schema) for row in rows]))]]
        merged += rows
    return merged


def _join_columns(tables: list[Table]) -> ConcatenationTable:
    """Join tables side by side, their row blocks cut wherever a row block of any of them ends."""
    num_rows = tables[0].num_rows
    for table in tables:
        if table.num_rows != num_rows:
            raise ValueError(f"tables of {num_rows} and {table.num_rows} rows cannot be joined side by side (axis 1)")
    fields = [field for table in tables for field in table.schema]
    schema = pa.schema(fields, metadata=tables[0].schema.metadata)
    ends = {0}
    for table in tables:
        end = 0
        for row_block in _blocks(table):
            end += row_block[0].num_rows
            ends.add(end)
    rows = [
        [block for table in tables for block in _row_block_with_rows(table.slice(start, stop - start))]
        for start, stop in pairwise(sorted(ends))
    ]
    return _join_rows([(schema, rows or [[InMemoryTable(schema.empty_table())]])])


def _row_block_with_rows(table: Table) -> RowBlock:
    """Return the row block of a table that is cut so that all its rows are in one."""
    return next(row_block for row_block in _blocks(table) if row_block[0].num_rows)
