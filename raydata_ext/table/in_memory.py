"""A table whose rows are in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
from typing_extensions import override

from raydata_ext.errors import StateError
from raydata_ext.table.ipc_reader import open_ipc_file
from raydata_ext.table.row_index import RowIndex
from raydata_ext.table.rows_without_columns import rows_without_columns
from raydata_ext.table.table import Table, TableBlock

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from raydata_ext.table.operations import Operation

_SPARE_BYTES = 4096  # so many bytes that belong to other rows may travel along, rather than be cut off by a copy


class InMemoryTable(TableBlock):
    """A table whose rows are in memory.

    Pickling takes the rows along: those that the table shows, however large the buffers are of which they are a part.
    With pickle protocol 5 their buffers can be handed out of band.

    Args:
        table: the rows.
    """

    def __init__(self, table: pa.Table) -> None:
        self._whole = table
        self._show(RowIndex.of_table(table), 0, table.num_rows, table)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> InMemoryTable:
        """Read an Arrow IPC file into memory.

        Raises:
            CorruptFileError: the file is truncated, damaged or no Arrow file.
        """
        return cls(_copied(open_ipc_file(path)))

    @classmethod
    def copy_of(cls, table: Table) -> InMemoryTable:
        """Return the rows of a table in memory of their own; nothing stays mapped for them."""
        return cls(_copied(table.table))

    @classmethod
    def from_buffer(cls, buffer: pa.Buffer) -> InMemoryTable:
        """Return the table in the bytes of an Arrow IPC stream, zero-copy."""
        return cls(pa.ipc.open_stream(buffer).read_all())

    @classmethod
    def from_pandas(cls, *args: Any, **kwargs: Any) -> InMemoryTable:
        """Return a `pandas.DataFrame` as a table; arguments as in `pyarrow.Table.from_pandas`."""
        return cls(pa.Table.from_pandas(*args, **kwargs))

    @classmethod
    def from_arrays(cls, *args: Any, **kwargs: Any) -> InMemoryTable:
        """Return Arrow arrays as columns of a table; arguments as in `pyarrow.Table.from_arrays`."""
        return cls(pa.Table.from_arrays(*args, **kwargs))

    @classmethod
    def from_pydict(cls, mapping: Mapping[str, Any], *args: Any, **kwargs: Any) -> InMemoryTable:
        """Return lists or arrays as columns of a table; arguments as in `pyarrow.Table.from_pydict`."""
        return cls(pa.Table.from_pydict(mapping, *args, **kwargs))

    @classmethod
    def from_pylist(cls, rows: Sequence[Mapping[str, Any]], *args: Any, **kwargs: Any) -> InMemoryTable:
        """Return dicts as rows of a table; arguments as in `pyarrow.Table.from_pylist`."""
        return cls(pa.Table.from_pylist(rows, *args, **kwargs))

    @classmethod
    def from_batches(cls, batches: Sequence[pa.RecordBatch], schema: pa.Schema | None = None) -> InMemoryTable:
        """Return record batches one after another as a table, zero-copy."""
        return cls(pa.Table.from_batches(batches, schema))

    @override
    def apply(self, operation: Operation) -> InMemoryTable:
        if not operation.keeps_rows_in_place:
            return InMemoryTable(operation.apply(self.table))
        applied = InMemoryTable(operation.apply(self._whole))
        return applied.slice(self._start, self.num_rows)

    @override
    def read(self) -> pa.Table:
        return self.table

    def __getstate__(self) -> dict[str, object]:
        table = self.table
        if table.get_total_buffer_size() > table.nbytes + _SPARE_BYTES:
            table = _copied(table)
        return {"table": table, "num_rows": table.num_rows}

    def __setstate__(self, state: object) -> None:
        match state:
            case {"table": pa.Table() as table, "num_rows": int(num_rows)}:
                if not table.num_columns:  # pyarrow forgets the number of rows that have no columns
                    table = rows_without_columns(num_rows, table.schema.metadata)
                InMemoryTable.__init__(self, table)
            case _:
                raise StateError("this is not the state of an InMemoryTable; make the table anew")


def _copied(table: pa.Table) -> pa.Table:
    """Return the rows in one buffer of their own, which holds nothing else."""
    if not table.num_columns:
        return table
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return pa.ipc.open_stream(sink.getvalue()).read_all()
