"""Writing shards as a dataset directory: one task a file, the manifest last."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from raydata_ext.engine import Engine, OutputFile, OutputTask, Program, RunProgress, Silent
from raydata_ext.fingerprint import combine
from raydata_ext.plan import Chain, TableShard
from raydata_ext.store import (
    DatasetDirectory,
    Store,
    data_file_name,
    holds_dataset,
    prepare_dataset_directory,
    read_dataset_directory,
    write_dataset_directory,
)
from raydata_ext.table.metadata import with_huggingface_metadata

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa


@dataclass(frozen=True)
class Output:
    """A dataset directory that was written, or stood already.

    Attributes:
        directory: what it holds.
        tokens: elements of its token column, see `engine.output_task`.
        written: False where the directory held this very data set already.
    """

    directory: DatasetDirectory
    tokens: int
    written: bool


def write_output(
    path: str | os.PathLike[str],
    shards: Sequence[TableShard],
    schema: pa.Schema,
    fingerprint: str,
    engine: Engine,
    store: Store,
    max_shard_bytes: int,
    *,
    lineage: Mapping[str, Any] | None = None,
    progress: RunProgress | None = None,
) -> Output:
    """Write shards, in order, as the files of a dataset directory.

    Args:
        path: the directory.
        shards: what goes into it.
        schema: schema of the whole.
        fingerprint: of the data set.
        engine: does the work.
        store: of the shards.
        max_shard_bytes: size up to which shards are put together into one file.
        lineage: what it was made from, for the manifest.
        progress: is told how far it is.

    Raises:
        StoreError: the directory holds files that belong to no data set.
    """
    identity = combine("output", fingerprint, max_shard_bytes)
    if holds_dataset(path, identity):
        directory = read_dataset_directory(path)
        assert directory.manifest is not None
        return Output(directory, int(directory.manifest.lineage.get("tokens", 0)), written=False)
    prepare_dataset_directory(path)
    target = with_huggingface_metadata(schema, fingerprint=identity)
    groups = list(_groups(shards, max_shard_bytes)) or [[]]
    tasks = [
        OutputTask(str(Path(path).absolute() / data_file_name(number, len(groups))), tuple(group), target)
        for number, group in enumerate(groups)
    ]
    shown = progress or Silent()
    shown.begin("writing", len(tasks), 0, sum(task.num_bytes for task in tasks))
    files: dict[int, OutputFile] = {}
    try:
        for done in engine.run(Program(Chain.of(()), store), tasks):
            files[done.number] = done.value
            shown.advance(tasks[done.number].num_bytes, done.value.file.rows or 0)
    finally:
        shown.end()
    tokens = sum(file.tokens for file in files.values())
    directory = write_dataset_directory(
        path,
        [files[number].file for number in range(len(tasks))],
        schema=target,
        fingerprint=identity,
        lineage={**(lineage or {}), "dataset": fingerprint, "tokens": tokens},
    )
    return Output(directory, tokens, written=True)


def _groups(shards: Sequence[TableShard], max_bytes: int) -> Iterator[list[TableShard]]:
    """Put neighbours together as long as they fit."""
    group: list[TableShard] = []
    size = 0
    for shard in shards:
        if group and size + shard.num_bytes > max_bytes:
            yield group
            group, size = [], 0
        group.append(shard)
        size += shard.num_bytes
    if group:
        yield group
