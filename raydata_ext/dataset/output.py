"""Writing shards as a dataset directory: one task a file, the manifest last."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from raydata_ext.dataset.sizes import parse_bytes
from raydata_ext.engine import OutputTask
from raydata_ext.errors import StoreError
from raydata_ext.fingerprint import combine, hash_value
from raydata_ext.store import (
    DatasetDirectory,
    FormatState,
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

    from raydata_ext.dataset.export_run import ExportRun
    from raydata_ext.dataset.ordering import Ordering
    from raydata_ext.plan import InputShard
    from raydata_ext.store.directory_files import DirectoryFiles

DEFAULT_FILE_BYTES = "512MB"


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
    path: str | os.PathLike[str] | DirectoryFiles,
    groups: Sequence[Sequence[InputShard]],
    schema: pa.Schema,
    fingerprint: str,
    run: ExportRun,
    *,
    cut: int | str,
    format: FormatState | None = None,  # noqa: A002 - the word for it
    lineage: Mapping[str, Any] | None = None,
) -> Output:
    """Write shards, in order, as the files of a dataset directory.

    Args:
        path: the directory, or its URL, or what `open_directory` made of it, with options of its file system.
        groups: what goes into each file.
        schema: schema of the whole.
        fingerprint: of the data set.
        run: does the work.
        cut: what made the groups, such as the size of files that was asked for; another one is another directory.
        format: how its rows are handed out.
        lineage: what it was made from, for the manifest.

    Raises:
        StoreError: the directory holds files that belong to no data set.
    """
    identity = output_identity(fingerprint, cut, format)
    place = open_directory(path)
    found = find_output(place, identity)
    if found is not None:
        return found
    prepare_dataset_directory(place)
    target = with_huggingface_metadata(schema, fingerprint=fingerprint)
    tasks = [
        OutputTask(place, data_file_name(number, len(groups)), tuple(group), target)
        for number, group in enumerate(groups)
    ]
    files = list(run.in_order("writing", tasks, lambda output: output.file.rows or 0))
    tokens = sum(file.tokens for file in files)
    directory = write_dataset_directory(
        place,
        [file.file for file in files],
        schema=target,
        fingerprint=fingerprint,
        format=format,
        lineage={**(lineage or {}), "output": identity, "tokens": tokens},
    )
    return Output(directory, tokens, written=True)


def file_cut(
    max_shard_bytes: int | str = DEFAULT_FILE_BYTES,
    max_shard_size: int | str | None = None,
    num_shards: int | None = None,
) -> int | str:
    """How `save_to_disk` cuts rows into files, as a part of what a directory is: into files of a size, or so many.

    Raises:
        ValueError: both are asked for.
    """
    if max_shard_size is not None and num_shards is not None:
        raise ValueError(f"max_shard_size={max_shard_size!r} and num_shards={num_shards} exclude each other")
    if num_shards is not None:
        return f"{num_shards} files"
    return parse_bytes(max_shard_bytes if max_shard_size is None else max_shard_size)


def output_identity(fingerprint: str, cut: int | str, format_: FormatState | None = None) -> str:
    """Hash of what makes up a directory: the rows, how they are cut into files, and how they are handed out."""
    return combine("output", fingerprint, cut, hash_value(asdict(format_ or FormatState())))


def find_output(path: str | os.PathLike[str] | DirectoryFiles, identity: str) -> Output | None:
    """What a directory holds, where that is complete and has this identity."""
    try:
        directory = read_dataset_directory(path)
    except StoreError:
        return None
    lineage = directory.manifest.lineage if directory.manifest is not None else {}
    if lineage.get("output") != identity:
        return None
    return Output(directory, int(lineage.get("tokens", 0)), written=False)


def even_groups(rows: Ordering, num_files: int) -> list[tuple[InputShard, ...]]:
    """What goes into each of so many files that are to have about as many rows each."""
    if num_files < 1:
        raise ValueError(f"num_shards is {num_files}; it must be at least 1")
    return [rows.shard(num_files, number).shards for number in range(num_files)]


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
