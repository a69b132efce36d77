"""Write a shard file whose schema is found out on the way."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from raydata_ext.errors import SchemaError
from raydata_ext.table.cast import cast_batch
from raydata_ext.table.ipc_reader import iter_ipc_batches
from raydata_ext.table.ipc_writer import DEFAULT_BATCH_BYTES, DEFAULT_BATCH_ROWS, FileSummary, ShardWriter
from raydata_ext.table.shown_types import shown_type, unify_shown
from raydata_ext.table.unify import unify_types

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence
    from types import TracebackType

    import pyarrow as pa
    from typing_extensions import Self


class EvolvingShardWriter:
    """Like `ShardWriter`, but the schema is that of the first batch and grows with later ones.

    A batch with new columns or wider types starts a new temporary file under the unified schema (see `unify_schemas`);
    if there came to be several, `finish` reads them back mapped and writes the rows once more, under the last schema.
    So the file is the same as if that schema had been known from the start, and nothing is rewritten more than once.
    The type of a column that showed no value, but nulls or empty lists, gives way to another one.

    Args:
        path: final name of the file.
        schema: schema to start from; None to take that of the first batch.
        metadata: called with each schema before it is written, to set its metadata.
        batch_rows: rows per record batch in the file.
        batch_bytes: size in memory above which a record batch is halved.
        sync: whether `finish` forces file and directory to the disk before it returns.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        schema: pa.Schema | None = None,
        metadata: Callable[[pa.Schema], pa.Schema] | None = None,
        batch_rows: int = DEFAULT_BATCH_ROWS,
        batch_bytes: int = DEFAULT_BATCH_BYTES,
        sync: bool = False,
    ) -> None:
        self.path = Path(path)
        self.schema = schema
        self._metadata = metadata
        self._batch_rows = batch_rows
        self._batch_bytes = batch_bytes
        self._sync = sync
        self._writers: list[ShardWriter] = []  # one a schema, all but the last sealed
        self._shown: dict[str, pa.DataType] = {}  # types that values showed, of columns where these are not all of it
        self._closed: str | None = None

    def write(self, batch: pa.RecordBatch) -> None:
        """Append the rows of `batch`, widening the schema where it has to be.

        Raises:
            SchemaError: a column has no common type with what was written; names its path and both types. Nothing of
                the batch was written.
            WriteError: the disk is full or fails. Everything is discarded.
            ValueError: the writer was finished or discarded before.
        """
        self._require_open()
        unified = self._unified(batch)
        is_new = not self._writers or not unified.equals(self.schema)
        cast = cast_batch(batch, unified, add_missing=True)
        if is_new or self._shown:
            self._look_at(batch, unified.names if is_new else [*self._shown], unified)
        try:
            if is_new:
                self._start_file(unified)
            self._writers[-1].write(cast)
        except BaseException:
            self.discard()
            raise

    def finish(self, schema_if_empty: pa.Schema | None = None) -> FileSummary:
        """Complete the file and publish it under its final name.

        Args:
            schema_if_empty: schema of the file if no batch came and no schema was given.

        Raises:
            SchemaError: no batch came and there is no schema; or a value that was written does not fit the last schema
                (an integer above 2**53 in a column that became float).
            WriteError: the disk is full or fails. Nothing appears under the final name.
            ValueError: the writer was finished or discarded before.
        """
        self._require_open()
        schema = self.schema if self.schema is not None else schema_if_empty
        if schema is None:
            raise SchemaError(f"{self.path}: no rows and no schema; pass a schema to write an empty file")
        try:
            if not self._writers:
                self._start_file(schema)
            summary = self._writers[-1].finish() if len(self._writers) == 1 else self._rewrite()
        except BaseException:
            self.discard()
            raise
        self._closed = "finished"
        return summary

    def discard(self) -> None:
        """Remove what was written. Does nothing after `finish`, and nothing the second time."""
        if self._closed is None:
            self._closed = "discarded"
            for writer in self._writers:
                writer.discard()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is not None:
            self.discard()
        elif self._closed is None:
            self.finish()

    def _unified(self, batch: pa.RecordBatch) -> pa.Schema:
        known = self.schema
        if known is None:
            return batch.schema
        if batch.schema.equals(known):
            return known
        return unify_shown(
            [
                (known, lambda name: self._shown.get(name, known.field(name).type)),
                (batch.schema, lambda name: shown_type(batch.column(name))),
            ]
        )

    def _look_at(self, batch: pa.RecordBatch, names: Sequence[str], unified: pa.Schema) -> None:
        """Note which types the values of some columns show by now."""
        known = self.schema
        for name in names:
            kinds = [shown_type(batch.column(name))] if name in batch.schema.names else []
            if known is not None and name in known.names:
                kinds.append(self._shown.pop(name, known.field(name).type))
            shown = unify_types(kinds, name)
            if shown != unified.field(name).type:
                self._shown[name] = shown

    def _start_file(self, schema: pa.Schema) -> None:
        if self._writers:
            self._writers[-1].seal()
        self.schema = schema
        self._writers.append(self._make_writer())

    def _make_writer(self) -> ShardWriter:
        schema = self._metadata(self.schema) if self._metadata else self.schema
        return ShardWriter(
            self.path, schema, batch_rows=self._batch_rows, batch_bytes=self._batch_bytes, sync=self._sync
        )

    def _rewrite(self) -> FileSummary:
        self._writers[-1].seal()
        with self._make_writer() as whole:
            for part in self._writers:
                for batch in iter_ipc_batches(part.temporary_path):
                    whole.write(cast_batch(batch, whole.schema, add_missing=True))
                part.discard()
            return whole.finish()

    def _require_open(self) -> None:
        if self._closed is not None:
            raise ValueError(f"{self.path}: cannot write, the writer is {self._closed}; make a new EvolvingShardWriter")
