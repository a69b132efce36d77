"""A table whose rows are in a mapped file: a path, and the operations that lead from the file to the table."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
from typing_extensions import override

from raydata_ext.errors import StaleFileError, StateError
from raydata_ext.table.file_origin import FileOrigin, open_copy
from raydata_ext.table.ipc_reader import open_ipc_file
from raydata_ext.table.operations import Operation, OperationState, ReplaceSchemaMetadata, Slice
from raydata_ext.table.replay import Replays
from raydata_ext.table.row_index import RowIndex
from raydata_ext.table.table import TableBlock


class MappedFile(NamedTuple):
    """An Arrow IPC file as it was when a table was made of it.

    Args:
        path: absolute path; of a file that is copied here to be mapped, the place that it is copied from.
        schema: its schema.
        num_rows: its number of rows.
        num_bytes: its size; None if not known.
        origin: gives a copy of it; None where the path is one of this machine.
    """

    path: str
    schema: pa.Schema
    num_rows: int
    num_bytes: int | None
    origin: FileOrigin | None = None

    def open(self) -> pa.Table:
        """Map the file.

        Raises:
            StaleFileError: it is not the file that it was.
            CorruptFileError: it is truncated, damaged or no Arrow file.
        """
        if self.origin is not None:
            return self.checked(*open_copy(self.origin))
        num_bytes = Path(self.path).stat().st_size
        if self.num_bytes is not None and num_bytes != self.num_bytes:
            raise self._changed(f"it has {num_bytes} bytes and had {self.num_bytes}")
        return self.checked(open_ipc_file(self.path), num_bytes)

    def checked(self, table: pa.Table, num_bytes: int) -> pa.Table:
        """Return the table that was found in the file.

        Raises:
            StaleFileError: it is not what was in the file.
        """
        if self.num_bytes is not None and num_bytes != self.num_bytes:
            raise self._changed(f"it has {num_bytes} bytes and had {self.num_bytes}")
        if table.num_rows != self.num_rows:
            raise self._changed(f"it has {table.num_rows} rows and had {self.num_rows}")
        if not table.schema.equals(self.schema):
            raise self._changed(f"its columns are {_describe(table.schema)} and were {_describe(self.schema)}")
        return ReplaceSchemaMetadata.of(self.schema.metadata).apply(table)

    def _changed(self, difference: str) -> StaleFileError:
        return StaleFileError(
            f"{self.path} has changed since this table was made of it: {difference}; make the table anew"
        )


class _MappedRows:
    """The rows that replays make of a mapped file, mapped when they are first needed; shared by all slices of them.

    Args:
        file: the file.
        replays: the operations.
        schema: the schema of what they make of it.
        whole: the rows, if they are at hand.
    """

    def __init__(self, file: MappedFile, replays: Replays, schema: pa.Schema, whole: pa.Table | None = None) -> None:
        self.file = file
        self.replays = replays
        self.schema = schema
        self.num_rows = replays.rows_after(file.num_rows)
        self.whole = whole

    def read(self) -> pa.Table:
        """Return the rows, without holding on to them."""
        return self.replays.apply(self.file.open()) if self.whole is None else self.whole

    def keep(self) -> pa.Table:
        """Return the rows, and hold on to them; to those of a copy only the index does, which can let go of them."""
        if self.whole is None and self.file.origin is None:
            self.whole = self.read()
        return self.read()


class MemoryMappedTable(TableBlock):
    """A table whose rows are in a mapped Arrow IPC file. Made by `from_file`.

    Rows are read from disk as they are touched, and take no memory of the process. Pickling takes no rows along: only
    the path of the file and the operations done since, which are done again when rows are touched.
    """

    def __init__(self, rows: _MappedRows) -> None:
        self._rows = rows
        self._show(RowIndex(rows.schema, [rows.num_rows], lambda _: rows.keep()), 0, rows.num_rows)

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        *,
        schema: pa.Schema | None = None,
        num_rows: int | None = None,
        num_bytes: int | None = None,
        origin: FileOrigin | None = None,
    ) -> MemoryMappedTable:
        """Map an Arrow IPC file.

        Where schema and number of rows are given, the file is not opened until rows are touched. A file that does not
        have what was given is a `StaleFileError` when it is opened.

        Args:
            path: the file.
            schema: its schema, if known.
            num_rows: its number of rows, if known.
            num_bytes: its size, if known.
            origin: gives a copy of a file that is not on this machine, whenever it is opened; the path is then only
                what the file is called.

        Raises:
            StaleFileError: the file is opened and is not as given.
            CorruptFileError: the file is opened and is truncated, damaged or no Arrow file.
            FileNotFoundError: the file is opened and is not there.
        """
        if origin is None:
            path = os.path.abspath(path)  # noqa: PTH100  # a tenth of the time of Path, for ten thousand receipts
        path = os.fspath(path)
        if schema is not None and num_rows is not None:
            return cls(_MappedRows(MappedFile(path, schema, num_rows, num_bytes, origin), Replays(), schema))
        if origin is None:
            size = Path(path).stat().st_size
            table = open_ipc_file(path)
        else:
            table, size = open_copy(origin)
        file = MappedFile(
            path,
            table.schema if schema is None else schema,
            table.num_rows if num_rows is None else num_rows,
            size if num_bytes is None else num_bytes,
            origin,
        )
        whole = file.checked(table, size)
        return cls(_MappedRows(file, Replays(), file.schema, whole if origin is None else None))

    @property
    def path(self) -> str:
        """The absolute path of the file; of one that is copied here to be mapped, the URL that it is copied from."""
        return self._rows.file.path

    @property
    def origin(self) -> FileOrigin | None:
        """What gives a copy of the file; None where the file is one of this machine."""
        return self._rows.file.origin

    @property
    def file_bytes(self) -> int:
        """Size of the file."""
        file = self._rows.file
        return Path(file.path).stat().st_size if file.num_bytes is None else file.num_bytes

    @property
    def file_rows(self) -> int:
        """Number of rows of the file."""
        return self._rows.file.num_rows

    @property
    def replays(self) -> list[OperationState]:
        """Name and arguments of the operations that lead from the file to this table, merged where that is equal."""
        return self._replays_shown().state()

    def _replays_shown(self) -> Replays:
        """Return the operations, with the slice that the window is."""
        rows = self._rows
        if self._start == 0 and self._stop == rows.num_rows:
            return rows.replays
        return rows.replays.then(Slice(self._start, self.num_rows), rows.file.schema)

    @override
    def apply(self, operation: Operation) -> MemoryMappedTable:
        rows = self._rows
        in_place = operation.keeps_rows_in_place
        replays = (rows.replays if in_place else self._replays_shown()).then(operation, rows.file.schema)
        whole = None
        if rows.whole is not None:
            whole = operation.apply(rows.whole if in_place else self.table)
        schema = operation.schema_after(rows.schema) if whole is None else whole.schema
        applied = MemoryMappedTable(_MappedRows(rows.file, replays, schema, whole))
        return applied.slice(self._start, self.num_rows) if in_place else applied

    @override
    def _materialise(self) -> pa.Table:
        whole = self._start == 0 and self._stop == self._rows.num_rows
        return self._rows.keep() if whole else super()._materialise()

    @override
    def read(self) -> pa.Table:
        return Slice(self._start, self.num_rows).apply(self._rows.read())

    def __getstate__(self) -> dict[str, object]:
        return {"file": tuple(self._rows.file), "replays": self.replays, "schema": self.schema}

    def __setstate__(self, state: object) -> None:
        match state:
            case {
                "file": (str(), pa.Schema(), int(), int() | None, _) as file,
                "replays": replays,
                "schema": pa.Schema() as schema,
            }:
                MemoryMappedTable.__init__(self, _MappedRows(MappedFile(*file), Replays.from_state(replays), schema))
            case _:
                raise StateError("this is not the state of a MemoryMappedTable; make the table anew")


def _describe(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name}: {field.type}" for field in schema) or "none"
