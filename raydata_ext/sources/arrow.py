"""Arrow IPC files, stream or file format, memory-mapped where they are local, split at record batches."""

from __future__ import annotations

import itertools
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa
import xxhash

from raydata_ext.errors import DamagedInputError, ReadError
from raydata_ext.sources.compression import is_system_failure
from raydata_ext.sources.input_file import InputFile, Piece
from raydata_ext.sources.reader import OnBadRow, Reader, require_columns, runs_of_units

if TYPE_CHECKING:
    from collections.abc import Iterator

_FILE_MAGIC = b"ARROW1"
_FIRST_MESSAGE_OF_FILE = 8
_END_OF_STREAM = b"\xff\xff\xff\xff\x00\x00\x00\x00"
_RECORD_BATCH = "record batch"
_DAMAGE = (pa.ArrowException, OSError, EOFError, ValueError, TypeError, LookupError, MemoryError)


class ArrowReader(Reader):
    """Reads Arrow IPC files; a file above the shard size is split at record batches."""

    format: ClassVar[str] = "arrow"
    suffixes: ClassVar[tuple[str, ...]] = (".arrow", ".arrows", ".feather", ".ipc")

    def split(self, file: InputFile, max_bytes: int) -> list[Piece]:
        """Runs of record batches of at most `max_bytes` on disk (one batch where it is larger)."""
        if file.size <= max_bytes:
            return [Piece(file)]
        batches = (message for message in _messages(Piece(file)) if message.type == _RECORD_BATCH)
        try:
            sizes = [batch.metadata.size + batch.body.size for batch in batches]
        except DamagedInputError:
            return [Piece(file)]  # an error when it is read, or set aside
        return runs_of_units(file, sizes, max_bytes)

    def hash_piece(self, piece: Piece) -> str:
        """Hash of the schema, all dictionaries and the batches of the piece, or of the whole file."""
        if piece.end is None:
            return super().hash_piece(piece)
        digest, number = xxhash.xxh3_128(), 0
        for message in _messages(piece):
            if message.type != _RECORD_BATCH or piece.start <= number < piece.end:
                digest.update(message.metadata)
                digest.update(message.body)
            number += message.type == _RECORD_BATCH
        return digest.hexdigest()

    def read(self, piece: Piece, on_bad_row: OnBadRow | None = None) -> Iterator[pa.RecordBatch]:
        """The record batches of the file as they are; one of no rows where there is none."""
        with _opened(piece) as source:
            reader, error = self._opened_reader(source, tolerant=on_bad_row is not None)
            names = reader.schema.names if self.columns is None else list(self.columns)
            require_columns(piece, names, reader.schema.names)
            empty, position = True, source.tell()
            try:
                for batch in _batches(reader, piece):
                    batch.validate()
                    yield batch.select(names)
                    empty, position = False, source.tell()
            except _DAMAGE as damage:
                error = damage
            if error is not None:
                raise _damaged(piece, error, position) from error
            if empty:
                yield pa.RecordBatch.from_pylist([], schema=reader.schema).select(names)

    def _opened_reader(self, source: Any, *, tolerant: bool) -> tuple[Any, Exception | None]:
        """A reader of the batches, and why it may not give all of them where it need not."""
        try:
            return _make_reader(source), None
        except _DAMAGE as error:
            if not tolerant:
                raise
            source.seek(0)
            is_file = source.read(len(_FILE_MAGIC)) == _FILE_MAGIC
            source.seek(_FIRST_MESSAGE_OF_FILE if is_file else 0)  # what follows there is a stream
            return pa.ipc.open_stream(source), error


@contextmanager
def _opened(piece: Piece) -> Iterator[Any]:
    """Open the file of a piece, mapped where it is local; what goes wrong with it then is a ReadError."""
    with piece.file.open() as raw:
        try:
            local = pa.memory_map(os.fsencode(piece.file.path)) if piece.file.is_local else None
            with local or pa.PythonFile(raw, mode="r") as source:
                yield source
        except _DAMAGE as error:
            raise _damaged(piece, error) from error


def _damaged(piece: Piece, error: Exception, byte_offset: int | None = None) -> ReadError:
    message = f"{piece.label}: not an Arrow IPC file, or truncated or damaged ({error})"
    return ReadError(message) if is_system_failure(error) else DamagedInputError(message, byte_offset)


def _make_reader(source: Any) -> Any:
    if source.read(len(_FILE_MAGIC)) == _FILE_MAGIC:
        source.seek(0)
        return pa.ipc.open_file(source)
    size = source.size()
    source.seek(max(0, size - len(_END_OF_STREAM)))
    if source.read(len(_END_OF_STREAM)) != _END_OF_STREAM:
        # A stream cut between two messages reads like a shorter one; only the marker tells.
        raise EOFError("the end-of-stream marker is missing")
    source.seek(0)
    return pa.ipc.open_stream(source)


def _batches(reader: Any, piece: Piece) -> Iterator[pa.RecordBatch]:
    if isinstance(reader, pa.ipc.RecordBatchFileReader):
        end = reader.num_record_batches if piece.end is None else piece.end
        for number in range(piece.start, end):
            yield reader.get_batch(number)
    else:
        yield from itertools.islice(reader, piece.start, piece.end)


def _messages(piece: Piece) -> Iterator[Any]:
    """The messages of a file, schema first, without decoding them."""
    with _opened(piece) as source:
        is_file = isinstance(_make_reader(source), pa.ipc.RecordBatchFileReader)
        source.seek(_FIRST_MESSAGE_OF_FILE if is_file else 0)  # what follows there is a stream
        yield from pa.ipc.MessageReader.open_stream(source)
