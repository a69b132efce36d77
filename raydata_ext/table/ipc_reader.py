"""Open an Arrow IPC file memory-mapped, and refuse what is not a whole one."""

from __future__ import annotations

import os
import weakref
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pyarrow as pa

from raydata_ext.errors import CorruptFileError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_FILE_MAGIC = b"ARROW1"
_END_OF_STREAM = b"\xff\xff\xff\xff\x00\x00\x00\x00"
_DAMAGE = (pa.ArrowException, OSError, ValueError, TypeError, LookupError, MemoryError)


def open_ipc_file(path: str | os.PathLike[str], *, when_unmapped: Callable[[], None] | None = None) -> pa.Table:
    """Open an Arrow IPC file, of stream or file format, as a table whose columns are views of the mapped file.

    Checked here, at a cost that does not depend on the size of the data: every message is well-formed, every buffer
    lies inside the file and has room for its array, the outermost offsets of each array are in order, and the stream
    is complete. The values themselves are not read: in a file that was damaged after it was written, reading them can
    go as wrong as reading any memory, unless `verify_ipc_file` has passed it.

    Args:
        path: a local file.
        when_unmapped: is called when the last view of the file is gone, or at the end of the process; also where the
            file cannot be opened.

    Returns:
        The table, one chunk per record batch. It holds the mapping but no open file. The file must not be changed in
        place while the table is in use; replacing it under its name is fine.

    Raises:
        CorruptFileError: the file is empty, truncated, damaged, or no Arrow IPC file.
        FileNotFoundError: there is no such file.
    """
    with _open_reader(path, when_unmapped) as (source, reader):
        table = reader.read_all()
        table.validate()
        _require_end(source, reader)
    return table


def iter_ipc_batches(path: str | os.PathLike[str]) -> Iterator[pa.RecordBatch]:
    """Yield the record batches of an Arrow IPC file, each a view of the mapped file, checked as by `open_ipc_file`.

    Raises:
        CorruptFileError: as soon as damage is met, so perhaps after some batches.
        FileNotFoundError: there is no such file.
    """
    with _open_reader(path) as (source, reader):
        for batch in _batches(reader):
            batch.validate()
            yield batch
        _require_end(source, reader)


def read_ipc_schema(path: str | os.PathLike[str]) -> pa.Schema:
    """Return the schema of an Arrow IPC file. Nothing else is looked at but the end of the file.

    Raises:
        CorruptFileError: the file is empty, truncated, or no Arrow IPC file.
        FileNotFoundError: there is no such file.
    """
    with _open_reader(path) as (_, reader):
        return reader.schema


@contextmanager
def _open_reader(
    path: str | os.PathLike[str], when_unmapped: Callable[[], None] | None = None
) -> Iterator[tuple[pa.NativeFile, pa.RecordBatchReader]]:
    """Map the file and read its schema; whatever goes wrong until the caller is done with it is damage."""
    with _mapped(os.fspath(path), when_unmapped) as source:
        size = source.size()
        try:
            reader = _make_reader(source, size)
            _require_readable_names(reader.schema)
            yield source, reader
        except _DAMAGE as error:
            raise CorruptFileError(
                f"{os.fspath(path)}: not a complete Arrow IPC file, at byte {source.tell()} of {size}: {error}; "
                "remove it and make or copy it again"
            ) from error


def _mapped(path: str, when_unmapped: Callable[[], None] | None) -> pa.NativeFile:
    """Map a file; views of it are views of one buffer, which Arrow keeps as long as there are any."""
    if when_unmapped is None:
        return pa.memory_map(os.fsencode(path))
    end = _End()
    weakref.finalize(end, when_unmapped)
    with pa.memory_map(os.fsencode(path)) as file:
        whole = file.read_buffer()
    return pa.BufferReader(pa.foreign_buffer(whole.address, whole.size, base=(whole, end)))


class _End:
    """Lives as long as the buffer that it is the base of."""


def _make_reader(source: pa.NativeFile, size: int) -> pa.RecordBatchReader:
    if size == 0:
        raise ValueError("it is empty")
    if source.read_at(len(_FILE_MAGIC), 0) == _FILE_MAGIC:
        return pa.ipc.open_file(source)
    tail = min(size, len(_END_OF_STREAM))
    if source.read_at(tail, size - tail) != _END_OF_STREAM:
        # A stream cut between two messages reads like a shorter one; only the marker tells.
        raise ValueError("the end-of-stream marker is missing: truncated, never finished, or no Arrow file")
    return pa.ipc.open_stream(source)


def _require_readable_names(fields: Iterable[pa.Field]) -> None:
    """Decode every name and time zone once: one that is not UTF-8 would fail wherever it is first looked at."""
    for field in fields:
        data_type = field.type
        field.name  # noqa: B018 - decoding is the point
        getattr(data_type, "tz", None)
        while isinstance(data_type, pa.BaseExtensionType | pa.DictionaryType):
            data_type = data_type.value_type if isinstance(data_type, pa.DictionaryType) else data_type.storage_type
        _require_readable_names(data_type.field(index) for index in range(data_type.num_fields))


def _batches(reader: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
    if isinstance(reader, pa.ipc.RecordBatchFileReader):
        for index in range(reader.num_record_batches):
            yield reader.get_batch(index)
    else:
        yield from reader


def _require_end(source: pa.NativeFile, reader: pa.RecordBatchReader) -> None:
    if not isinstance(reader, pa.ipc.RecordBatchFileReader) and source.tell() != source.size():
        raise ValueError("the stream ends before the file does")
