"""Arrow IPC files, stream or file format, memory-mapped where they are local, split at record batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import pyarrow as pa
import xxhash

from raydata_ext.errors import ReadError
from raydata_ext.sources.input_file import InputFile, Piece
from raydata_ext.sources.reader import Reader, runs_of_units

_FILE_MAGIC = b"ARROW1"


class ArrowReader(Reader):
    """Reads Arrow IPC files; a file above the shard size is split at record batches."""

    format: ClassVar[str] = "arrow"
    suffixes: ClassVar[tuple[str, ...]] = (".arrow", ".arrows", ".feather", ".ipc")

    def split(self, file: InputFile, max_bytes: int) -> list[Piece]:
        """Runs of record batches of at most `max_bytes` (one batch where it is larger)."""
        if file.size <= max_bytes:
            return [Piece(file)]
        return runs_of_units(file, [batch.nbytes for batch in _batches(Piece(file))], max_bytes)

    def hash_piece(self, piece: Piece) -> str:
        """Hash of the messages of the batches, or of the whole file."""
        if piece.end is None:
            return super().hash_piece(piece)
        digest = xxhash.xxh3_128()
        for batch in _batches(piece):
            digest.update(batch.schema.serialize())
            digest.update(batch.serialize())
        return digest.hexdigest()

    def read(self, piece: Piece) -> Iterator[pa.RecordBatch]:
        """The record batches of the file as they are."""
        for batch in _batches(piece):
            if self.columns is None:
                yield batch
                continue
            missing = [name for name in self.columns if name not in batch.schema.names]
            if missing:
                raise ReadError(
                    f"{piece.label}: no column {missing[0]!r}; the file has {batch.schema.names}; check columns="
                )
            yield batch.select(list(self.columns))


def _batches(piece: Piece) -> Iterator[pa.RecordBatch]:
    try:
        with _open(piece.file) as source:
            is_file = source.read(len(_FILE_MAGIC)) == _FILE_MAGIC
            source.seek(0)
            batches = _file_batches(source) if is_file else pa.ipc.open_stream(source)
            for number, batch in enumerate(batches):
                if piece.end is not None and number >= piece.end:
                    break
                if number >= piece.start:
                    yield batch
    except (pa.ArrowException, OSError, EOFError) as error:
        raise ReadError(f"{piece.label}: not an Arrow IPC file, or truncated ({error})") from error


def _file_batches(source: Any) -> Iterator[pa.RecordBatch]:
    reader = pa.ipc.open_file(source)
    for number in range(reader.num_record_batches):
        yield reader.get_batch(number)


def _open(file: InputFile) -> Any:
    return pa.memory_map(file.path) if file.is_local else pa.PythonFile(file.open(), mode="r")
