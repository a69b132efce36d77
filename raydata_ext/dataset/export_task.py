"""Writing one file of another format from shards, which appears when it is complete."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from raydata_ext.engine import FileTask
from raydata_ext.errors import RaydataError, SchemaError, WriteError
from raydata_ext.table import temporary_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from raydata_ext.engine import Worker


class FileFormat(Protocol):
    """How rows become a file; picklable."""

    def write(self, path: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> None:
        """Write all rows to a new file.

        Args:
            path: the file.
            schema: of the rows.
            batches: the rows, in order.
        """


@dataclass(frozen=True, eq=False)
class ExportTask(FileTask[int]):
    """One file of another format.

    Attributes:
        format: of the file.
        place: the name under which it is put there, until it gets its own with the others; its own where it is alone.
    """

    format: FileFormat
    place: str

    def run(self, worker: Worker) -> int:  # noqa: ARG002 - every task is given its worker
        """Write the file and return its number of rows; an old one of that name stays until the new one is complete."""
        rows = 0

        def counted() -> Iterator[pa.RecordBatch]:
            nonlocal rows
            for batch in self.batches():
                rows += batch.num_rows
                yield batch

        with self.directory.written(self.place) as local, published(Path(local)) as path:
            try:
                self.format.write(path, self.schema, counted())
            except (pa.ArrowNotImplementedError, pa.ArrowInvalid, pa.ArrowTypeError, TypeError) as error:
                raise SchemaError(
                    f"{self.label}: a column cannot be written in this format ({error}); remove or convert it first"
                ) from error
        return rows


@contextmanager
def published(path: Path) -> Iterator[Path]:
    """A temporary file that takes the name of `path` when the block is left without an error.

    Raises:
        WriteError: the disk is full or fails; nothing is left behind.
    """
    temporary = temporary_name(path)
    try:
        yield temporary
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.replace(path)
    except RaydataError:
        raise
    except OSError as error:
        raise WriteError(error.errno, f"cannot be written ({error.strerror or error})", str(path)) from error
    finally:
        temporary.unlink(missing_ok=True)
