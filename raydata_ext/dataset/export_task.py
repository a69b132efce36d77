"""Writing one file of another format from shards: under a temporary name, moved to its own when it is complete."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from raydata_ext.errors import SchemaError, WriteError
from raydata_ext.table import cast_batch, temporary_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from raydata_ext.engine import Program, Worker
    from raydata_ext.engine.watch import Watch
    from raydata_ext.plan import InputShard


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
class ExportTask:
    """One file: some shards, one after the other, under the schema of the whole.

    Attributes:
        path: where the file goes.
        shards: what goes into it.
        schema: of the rows.
        format: of the file.
    """

    path: str
    shards: tuple[InputShard, ...]
    schema: pa.Schema
    format: FileFormat

    @property
    def label(self) -> str:
        """The file as messages name it."""
        return self.path

    @property
    def num_bytes(self) -> int:
        """Bytes of input."""
        return sum(shard.num_bytes for shard in self.shards)

    def recover(self, program: Program) -> None:  # noqa: ARG002 - what every task is asked with
        """Nothing: the file is written again."""
        return

    def watched(self, watch: Watch) -> ExportTask:  # noqa: ARG002 - what every task is asked with
        """Itself: no user's function runs."""
        return self

    def run(self, worker: Worker) -> int:  # noqa: ARG002 - every task is given its worker
        """Write the file and return its size in bytes; an old one of that name stays until the new one is complete."""
        with _published(Path(self.path)) as path:
            try:
                self.format.write(path, self.schema, self._batches())
            except (pa.ArrowNotImplementedError, pa.ArrowInvalid, pa.ArrowTypeError, TypeError) as error:
                raise SchemaError(
                    f"{self.path}: a column cannot be written in this format ({error}); remove or convert it first"
                ) from error
        return Path(self.path).stat().st_size

    def _batches(self) -> Iterator[pa.RecordBatch]:
        for shard in self.shards:
            for _, batch in shard.read():
                if batch.num_rows:
                    yield cast_batch(batch, self.schema, add_missing=True)


@contextmanager
def _published(path: Path) -> Iterator[Path]:
    """A temporary file that takes the name of `path` when the block is left without an error."""
    temporary = temporary_name(path)
    try:
        yield temporary
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.replace(path)
    except OSError as error:
        raise WriteError(error.errno, f"cannot be written ({error.strerror or error})", str(path)) from error
    finally:
        temporary.unlink(missing_ok=True)
