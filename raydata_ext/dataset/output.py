"""Writing shards as a dataset directory: one task a file, the manifest last."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from raydata_ext.engine import Engine, OutputFile, OutputTask, Program, RunProgress, Silent
from raydata_ext.errors import StoreError
from raydata_ext.fingerprint import combine, hash_value
from raydata_ext.plan import Chain
from raydata_ext.store import (
    DatasetDirectory,
    FormatState,
    Store,
    data_file_name,
    open_directory,
    prepare_dataset_directory,
    read_dataset_directory,
    write_dataset_directory,
)
from raydata_ext.table.metadata import with_huggingface_metadata

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from raydata_ext.plan import InputShard


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
    shards: Sequence[InputShard],
    schema: pa.Schema,
    fingerprint: str,
    engine: Engine,
    store: Store,
    max_shard_bytes: int,
    *,
    format: FormatState | None = None,  # noqa: A002 - the word for it
    lineage: Mapping[str, Any] | None = None,
    progress: RunProgress | None = None,
) -> Output:
    """Write shards, in order, as the files of a dataset directory.

    Args:
        path: the directory, or its URL.
        shards: what goes into it.
        schema: schema of the whole.
        fingerprint: of the data set.
        engine: does the work.
        store: of the shards.
        max_shard_bytes: size up to which shards are put together into one file.
        format: how its rows are handed out.
        lineage: what it was made from, for the manifest.
        progress: is told how far it is.

    Raises:
        StoreError: the directory holds files that belong to no data set.
    """
    identity = output_identity(fingerprint, max_shard_bytes, format)
    found = find_output(path, identity)
    if found is not None:
        return found
    prepare_dataset_directory(path)
    target = with_huggingface_metadata(schema, fingerprint=fingerprint)
    groups = groups_of(shards, max_shard_bytes)
    directory_path = open_directory(path).path
    tasks = [
        OutputTask(f"{directory_path}/{data_file_name(number, len(groups))}", tuple(group), target)
        for number, group in enumerate(groups)
    ]
    files = _write_files(tasks, engine, store, progress or Silent())
    tokens = sum(file.tokens for file in files)
    directory = write_dataset_directory(
        path,
        [file.file for file in files],
        schema=target,
        fingerprint=fingerprint,
        format=format,
        lineage={**(lineage or {}), "output": identity, "tokens": tokens},
    )
    return Output(directory, tokens, written=True)


def _write_files(tasks: Sequence[OutputTask], engine: Engine, store: Store, progress: RunProgress) -> list[OutputFile]:
    """Write all files; they are returned in the order of the tasks."""
    files: dict[int, OutputFile] = {}
    progress.begin("writing", len(tasks), 0, sum(task.num_bytes for task in tasks))
    try:
        for done in engine.run(Program(Chain.of(()), store), tasks):
            files[done.number] = done.value
            progress.advance(tasks[done.number].num_bytes, done.value.file.rows or 0)
    finally:
        progress.end()
    return [files[number] for number in range(len(tasks))]


def output_identity(fingerprint: str, max_shard_bytes: int, format_: FormatState | None = None) -> str:
    """Hash of what makes up a directory: the rows, how they are cut into files, and how they are handed out."""
    return combine("output", fingerprint, max_shard_bytes, hash_value(asdict(format_ or FormatState())))


def find_output(path: str | os.PathLike[str], identity: str) -> Output | None:
    """What a directory holds, where that is complete and has this identity."""
    try:
        directory = read_dataset_directory(path)
    except StoreError:
        return None
    lineage = directory.manifest.lineage if directory.manifest is not None else {}
    if lineage.get("output") != identity:
        return None
    return Output(directory, int(lineage.get("tokens", 0)), written=False)


def groups_of(shards: Sequence[InputShard], max_bytes: int) -> list[list[InputShard]]:
    """Put neighbours together as long as they fit; one group at least."""
    groups: list[list[InputShard]] = [[]]
    size = 0
    for shard in shards:
        if groups[-1] and size + shard.num_bytes > max_bytes:
            groups.append([])
            size = 0
        groups[-1].append(shard)
        size += shard.num_bytes
    return groups
