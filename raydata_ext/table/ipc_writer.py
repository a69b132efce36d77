"""Write a shard file: an uncompressed Arrow IPC stream that appears under its name complete or not at all."""

from __future__ import annotations

import os
import re
import secrets
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

import pyarrow as pa

from raydata_ext.errors import SchemaError, WriteError
from raydata_ext.table.batch_frames import BatchFrames
from raydata_ext.table.cast import cast_batch
from raydata_ext.table.hashed_file import HashedFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

    from typing_extensions import Self

DEFAULT_BATCH_ROWS = 1000
DEFAULT_BATCH_BYTES = 64 << 20

_MAX_NAME_BYTES = 255
_TEMPORARY_NAME = re.compile(r"\.(?P<name>.*)\.(?P<host>[^.]+)\.(?P<pid>\d+)\.(?P<random>[0-9a-f]+)\.tmp", re.DOTALL)


@dataclass(frozen=True)
class FileSummary:
    """What a shard file holds.

    Attributes:
        rows: number of rows.
        batches: number of record batches.
        num_bytes: size of the file in bytes.
        checksum: xxh3-128 of the file, 32 hexadecimal digits.
        schema: Arrow schema as stored, metadata included.
    """

    rows: int
    batches: int
    num_bytes: int
    checksum: str
    schema: pa.Schema


class ShardWriter:
    """Writes record batches to one Arrow IPC stream file, in bounded memory.

    The file is written beside its final name and renamed to it by `finish`; the checksum is computed on the way. Equal
    sequences of rows give equal files, however the rows were batched when they were passed in (but for bytes that
    Arrow leaves open, such as those of a fixed-width value under a null).

    As a context manager it finishes on success and discards on an exception.

    Args:
        path: final name of the file; missing directories are made, an existing file is replaced.
        schema: schema of the file, metadata included. Batches of another schema are cast to it, safely.
        batch_rows: rows per record batch in the file.
        batch_bytes: size in memory above which a record batch is halved (see `BatchFrames`).
        sync: whether `finish` forces file and directory to the disk before it returns.

    Raises:
        WriteError: the file cannot be made.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        schema: pa.Schema,
        *,
        batch_rows: int = DEFAULT_BATCH_ROWS,
        batch_bytes: int = DEFAULT_BATCH_BYTES,
        sync: bool = False,
    ) -> None:
        self.path = Path(path)
        self.schema = schema
        self._sync = sync
        self._frames = BatchFrames(batch_rows, batch_bytes)
        self._rows = 0
        self._batches = 0
        self._state = "open"
        self.temporary_path = temporary_name(self.path)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = HashedFile(self.temporary_path)
        except OSError as error:
            raise _write_error(error, self.path) from error
        self._stream = self._guarded(pa.ipc.new_stream, pa.PythonFile(self._file.sink, mode="w"), schema)

    def write(self, batch: pa.RecordBatch) -> None:
        """Append the rows of `batch`.

        Raises:
            SchemaError: the batch cannot be cast to the schema of the file. Nothing of it was written.
            WriteError: the disk is full or fails. The file is discarded.
            ValueError: the writer was finished or discarded before.
        """
        self._require_open()
        if not batch.schema.equals(self.schema):  # metadata may differ: that of the file stands at its begin
            batch = cast_batch(batch, self.schema)
        self._guarded(self._write_frames, self._frames.push(batch))

    def seal(self) -> FileSummary:
        """Complete the file under `temporary_path`, without publishing it."""
        self._require_open()
        self._guarded(self._write_frames, self._frames.flush())
        self._guarded(self._complete_stream)
        self._state = "sealed"
        return FileSummary(self._rows, self._batches, self._file.num_bytes, self._file.hexdigest(), self.schema)

    def finish(self) -> FileSummary:
        """Complete the file and publish it under its final name.

        Raises:
            WriteError: the disk is full or fails. Nothing appears under the final name.
            ValueError: the writer was finished or discarded before.
        """
        summary = self.seal()
        self._guarded(self._publish)
        self._state = "finished"
        return summary

    def discard(self) -> None:
        """Remove what was written. Does nothing after `finish`, and nothing the second time."""
        if self._state in ("finished", "discarded"):
            return
        self._state = "discarded"
        self._file.close()
        self.temporary_path.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is not None:
            self.discard()
        elif self._state == "open":
            self.finish()

    def _write_frames(self, batches: Iterator[pa.RecordBatch]) -> None:
        for batch in batches:
            self._stream.write_batch(batch)
            self._file.write_out()
            self._rows += batch.num_rows
            self._batches += 1

    def _complete_stream(self) -> None:
        self._stream.close()
        self._file.write_out()
        if self._sync:
            self._file.sync()
        self._file.close()

    def _publish(self) -> None:
        self.temporary_path.replace(self.path)
        if self._sync:
            _sync_directory(self.path.parent)

    def _require_open(self) -> None:
        if self._state != "open":
            raise ValueError(f"{self.path}: cannot write, the writer is {self._state}; make a new ShardWriter")

    def _guarded(self, action: Callable[..., Any], *args: Any) -> Any:
        """Run an action on the file. If it fails the file is discarded, since what it holds is no longer known."""
        try:
            return action(*args)
        except OSError as error:
            self.discard()
            raise _write_error(error, self.path) from error
        except pa.ArrowException as error:
            self.discard()
            raise SchemaError(f"{self.path}: cannot be stored in an Arrow IPC stream: {error}") from error
        except BaseException:
            self.discard()
            raise


def temporary_name(path: str | os.PathLike[str]) -> Path:
    """Return a fresh name beside `path` for a file in the making.

    It is `.{name}.{host}.{pid}.{random}.tmp`, so that leftovers of dead processes can be told from files in use.
    """
    path = Path(path)
    host = quote(socket.gethostname(), safe="").replace(".", "%2E") or "localhost"
    suffix = f".{host}.{os.getpid()}.{secrets.token_hex(8)}.tmp"
    name = path.name.encode()[: _MAX_NAME_BYTES - len(suffix) - 1].decode(errors="ignore")
    return path.with_name(f".{name}{suffix}")


def parse_temporary_name(name: str | os.PathLike[str]) -> tuple[str, int] | None:
    """Return host and process id that a temporary name carries, or None if it is not such a name."""
    match = _TEMPORARY_NAME.fullmatch(Path(name).name)
    return (unquote(match["host"]), int(match["pid"])) if match else None


def _write_error(error: OSError, path: Path) -> WriteError:
    return WriteError(
        error.errno,
        f"cannot write ({error.strerror or error}); make room or check the directory, and try again",
        str(path),
    )


def _sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
