"""Writing rows as a directory of MosaicML's MDS shards, by many workers at once.

What a sample takes in a shard is known from its size alone. So the rows are looked at twice: first the size of each
sample is found, from which follows which rows make up each shard, as the writer of MosaicML would cut them one after
the other; then each shard is written by itself. The index comes last, and without it a directory is no dataset.

    samples  u32
    offsets  u32[samples + 1]   where each sample begins in the file, and where the last one ends
    config   JSON
    samples  one after the other

Source: MosaicML Streaming, `streaming/base/format/{base,mds}/writer.py`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import override

from raydata_ext.dataset.export_task import published
from raydata_ext.dataset.mds_encoding import encode_samples, sample_sizes
from raydata_ext.dataset.mds_format import MAX_BYTES, MDS_VERSION
from raydata_ext.engine import FileTask, ReadingTask, batches_of
from raydata_ext.errors import SchemaError, StoreError
from raydata_ext.table import parse_temporary_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from raydata_ext.dataset.export_run import ExportRun
    from raydata_ext.dataset.mds_encoding import MdsColumn
    from raydata_ext.dataset.mds_format import MdsFormat
    from raydata_ext.engine import Worker
    from raydata_ext.plan import InputShard
    from raydata_ext.store.directory_files import DirectoryFiles

INDEX = "index.json"

_OFFSET_BYTES = 4


@dataclass(frozen=True, eq=False)
class MeasureTask(ReadingTask["NDArray[np.uint32]"]):
    """Finds the size of each sample of a shard of rows, and with it whether all values can be encoded."""

    shard: InputShard
    schema: pa.Schema
    columns: tuple[MdsColumn, ...]
    first_row: int

    @property
    def label(self) -> str:
        """The rows as messages name them."""
        return self.shard.label

    @property
    @override
    def inputs(self) -> Sequence[InputShard]:
        return (self.shard,)

    def run(self, worker: Worker) -> NDArray[np.uint32]:  # noqa: ARG002 - every task is given its worker
        """The sizes, a number a row."""
        found = [np.empty(0, np.uint32)]
        row = self.first_row
        for batch in batches_of([self.shard], self.schema):
            sizes = sample_sizes(self.columns, batch, row)
            if sizes.max() > MAX_BYTES:
                raise SchemaError(f"row {row + int(sizes.argmax())}: {sizes.max()} bytes are too many for an MDS shard")
            found.append(sizes.astype(np.uint32))
            row += batch.num_rows
        return np.concatenate(found)


@dataclass(frozen=True, eq=False)
class MdsShardTask(FileTask["dict[str, Any]"]):
    """Writes one MDS shard, under its name or, where it is compressed, with a suffix.

    Attributes:
        format: of the file.
    """

    format: MdsFormat

    def run(self, worker: Worker) -> dict[str, Any]:  # noqa: ARG002 - every task is given its worker
        """Write it, and return what the index says of it."""
        format_, config = self.format, self.format.config_json
        batches = [encode_samples(format_.columns, batch, 0) for batch in self.batches()]
        sizes = np.concatenate([np.diff(_offsets(samples)) for samples in batches])
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        offsets += _OFFSET_BYTES * (1 + len(offsets)) + len(config)
        header = np.uint32(len(sizes)).tobytes() + offsets.astype("<u4").tobytes() + config
        parts = [header, *map(_bytes_of, batches)]
        raw, packed = format_.describe(self.name, parts), None
        name = self.name
        if format_.compression is not None:
            name += ".zstd"
            parts = [format_.compressed(parts)]
            packed = format_.describe(name, parts)
        with self.directory.written(name) as local, published(Path(local)) as path, path.open("xb") as file:
            for part in parts:
                file.write(part)
        return {"samples": len(sizes), "raw_data": raw, "zip_data": packed, **format_.config}


def write_mds(
    directory: DirectoryFiles,
    shards: Sequence[InputShard],
    rows_of: Callable[[int, int], Sequence[InputShard]],
    schema: pa.Schema,
    format_: MdsFormat,
    run: ExportRun,
) -> list[str]:
    """Write a directory of shards with its index.

    Args:
        directory: a new or empty one, or one that holds an older export.
        shards: the rows.
        rows_of: gives the rows of a run (start, stop) as shards.
        schema: of the rows.
        format_: of the files.
        run: does the work.

    Returns:
        The paths of the files, that of the index last.

    Raises:
        SchemaError: a value has no form in the encoding of its column; the message names the row.
        StoreError: the directory holds other files.
    """
    directory.make()
    foreign = [name for name in directory.names() if not _is_of_export(name)]
    if foreign:
        raise StoreError(f"{directory.path} holds other files, such as {foreign[0]}; give a new or empty directory")
    firsts = np.cumsum([0, *(shard.num_rows or 0 for shard in shards)]).tolist()
    measuring = [
        MeasureTask(shard, schema, format_.columns, first) for shard, first in zip(shards, firsts, strict=False)
    ]
    sizes = run.in_order("measuring", measuring, len)
    borders = np.cumsum([0, *cut(sizes, format_.size_limit, 2 * _OFFSET_BYTES + len(format_.config_json))]).tolist()
    for old in (INDEX, *directory.leftovers()):
        directory.delete(old)
    tasks = [
        MdsShardTask(directory, f"shard.{number:05d}.mds", tuple(rows_of(start, stop)), schema, format_)
        for number, (start, stop) in enumerate(pairwise(borders))
    ]
    written = list(run.in_order("writing", tasks, lambda shard: int(shard["samples"])))
    names = [(shard["zip_data"] or shard["raw_data"])["basename"] for shard in written]
    for name in directory.names():
        if name not in names and parse_temporary_name(name) is None:
            directory.delete(name)
    index = json.dumps({"version": MDS_VERSION, "shards": written}, sort_keys=True)
    directory.write(INDEX, index.encode(), sync=True)
    return [f"{directory.path}/{name}" for name in (*names, INDEX)]


def cut(sizes: Iterable[NDArray[np.uint32]], size_limit: int, overhead: int) -> Iterator[int]:
    """Put samples into shards, one after the other, as long as they fit.

    Args:
        sizes: bytes of each sample, some at a time.
        size_limit: bytes of a shard; a sample that is larger is one by itself.
        overhead: bytes of a shard without samples.

    Yields:
        How many samples each shard has.
    """
    samples, room = 0, size_limit - overhead
    for part in sizes:
        ends = np.cumsum(part + np.int64(_OFFSET_BYTES))
        at, used = 0, 0
        while at < len(part):
            stop = max(at, int(np.searchsorted(ends, used + room, "right")))
            if stop == at and samples:
                yield samples
                samples, room = 0, size_limit - overhead
                continue
            stop = max(stop, at + 1)
            room -= int(ends[stop - 1]) - used
            samples, at, used = samples + stop - at, stop, int(ends[stop - 1])
    if samples:
        yield samples


def _offsets(samples: pa.Array) -> NDArray[np.int64]:
    return np.frombuffer(samples.buffers()[1], np.int64, len(samples) + 1, 8 * samples.offset)


def _bytes_of(samples: pa.Array) -> Any:
    offsets = _offsets(samples)
    return samples.buffers()[2].slice(int(offsets[0]), int(offsets[-1] - offsets[0]))


def _is_of_export(name: str) -> bool:
    own = re.fullmatch(r"shard\.\d{5,}\.mds(\.zstd)?", name)
    return own is not None or name == INDEX or parse_temporary_name(name) is not None
