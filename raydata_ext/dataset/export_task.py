"""Tasks that write files for others: what they have in common, and writing one file of another format from shards."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

import pyarrow as pa

from raydata_ext.errors import RaydataError, SchemaError, WriteError
from raydata_ext.table import cast_batch, temporary_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from typing_extensions import Self

    from raydata_ext.engine import Program, Worker
    from raydata_ext.engine.watch import Watch
    from raydata_ext.plan import InputShard
    from raydata_ext.store.directory_files import DirectoryFiles

Outcome = TypeVar("Outcome")


class RepeatableTask(Generic[Outcome]):
    """A task in which no user's function runs, and which is simply done again where its worker died."""

    def recover(self, program: Program) -> Outcome | None:  # noqa: ARG002 - what every task is asked with
        """Nothing: the work is done again."""
        return None

    def watched(self, watch: Watch) -> Self:  # noqa: ARG002 - what every task is asked with
        """Itself: no user's function runs."""
        return self


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
class ExportTask(RepeatableTask[int]):
    """One file: some shards, one after the other, under the schema of the whole.

    Attributes:
        directory: where the file goes.
        name: of the file.
        place: the name under which it is put there, until it gets its own with the others; its own where it is alone.
        shards: what goes into it.
        schema: of the rows.
        format: of the file.
    """

    directory: DirectoryFiles
    name: str
    place: str
    shards: tuple[InputShard, ...]
    schema: pa.Schema
    format: FileFormat

    @property
    def label(self) -> str:
        """The file as messages name it."""
        return f"{self.directory.path}/{self.name}"

    @property
    def num_bytes(self) -> int:
        """Bytes of input."""
        return sum(shard.num_bytes for shard in self.shards)

    def run(self, worker: Worker) -> int:  # noqa: ARG002 - every task is given its worker
        """Write the file and return its number of rows; an old one of that name stays until the new one is complete."""
        rows = 0

        def counted() -> Iterator[pa.RecordBatch]:
            nonlocal rows
            for batch in batches_of(self.shards, self.schema):
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


def batches_of(shards: Sequence[InputShard], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The rows of shards, one after the other, under one schema; no batch is empty."""
    for shard in shards:
        for _, batch in shard.read():
            if batch.num_rows:
                yield cast_batch(batch, schema, add_missing=True)


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
