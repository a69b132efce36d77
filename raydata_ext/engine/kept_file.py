"""The file of one result that is kept, written from the rows that pass on to the next step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from raydata_ext.errors import SchemaError
from raydata_ext.table.evolving_writer import EvolvingShardWriter
from raydata_ext.table.metadata import with_huggingface_metadata

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from typing_extensions import Self

    from raydata_ext.engine.chunk import Chunk
    from raydata_ext.engine.quarantine import QuarantineFile
    from raydata_ext.engine.trail import Trail
    from raydata_ext.table.ipc_writer import FileSummary


class KeptFile:
    """One such file; as a context, it is discarded where something fails.

    Args:
        path: where it goes.
        key: of the result.
        trail: where the rows come from.
        set_aside: records of the rows that are missing in it.
    """

    def __init__(self, path: str, key: str, trail: Trail, set_aside: QuarantineFile) -> None:
        self.key = key
        self.set_aside = set_aside
        self._trail = trail
        self._writer = EvolvingShardWriter(
            path, metadata=lambda schema: with_huggingface_metadata(schema, fingerprint=key)
        )
        self._empty = pa.schema([])

    def follow(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        """Write the chunks and pass them on."""
        for chunk in chunks:
            if chunk.num_rows:
                self._write(chunk)
            else:
                self._empty = chunk.batch.schema
            yield chunk

    def finish(self) -> FileSummary:
        """Make the file appear under its name."""
        return self._writer.finish(schema_if_empty=self._empty)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        if kind is not None:
            self._writer.discard()

    def _write(self, chunk: Chunk) -> None:
        try:
            self._writer.write(chunk.batch)
        except SchemaError as error:
            raise SchemaError(
                f"{self._trail.place(chunk.origins)}: what became of these rows does not go with the rows before:"
                f" {error}"
            ) from error
