"""Writing rows as files of other formats: as one file, or as a directory of them whose files appear together."""

from __future__ import annotations

import re
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from raydata_ext.dataset.export_formats import COMPRESSIONS
from raydata_ext.dataset.export_task import ExportTask, FileFormat
from raydata_ext.errors import StoreError
from raydata_ext.redaction import redacted
from raydata_ext.store import open_directory
from raydata_ext.store.directory_files import LocalDirectory
from raydata_ext.table import parse_temporary_name, temporary_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from raydata_ext.dataset.export_run import ExportRun
    from raydata_ext.plan import InputShard
    from raydata_ext.remote import StorageOptions
    from raydata_ext.store.directory_files import DirectoryFiles


def directory_and_name(path: str, options: StorageOptions) -> tuple[DirectoryFiles, str]:
    """Where a file goes, and its name there; the directory is made."""
    place, _, name = open_directory(path, options).path.rpartition("/")
    directory = open_directory(place or "/", options)
    directory.make()
    return directory, name


def write_file(
    directory: DirectoryFiles,
    name: str,
    shards: Sequence[InputShard],
    schema: pa.Schema,
    format_: FileFormat,
    run: ExportRun,
) -> list[str]:
    """Write all rows to one file, and return its path."""
    task = ExportTask(directory, name, tuple(shards), schema, format_, place=name)
    _write([task], run)
    return [task.path]


def write_files(
    directory: DirectoryFiles,
    suffix: str,
    groups: Sequence[Sequence[InputShard]],
    schema: pa.Schema,
    format_: FileFormat,
    run: ExportRun,
) -> list[str]:
    """Write each group of shards to a file of a directory, `data-00000-of-00004` and so on, and return their paths.

    On a file system they get their names when the last of them is complete; on an object store each does by itself. An
    older export goes before the first of the new files is there, so that no files of two exports are taken for one.

    Raises:
        StoreError: the directory holds other files.
    """
    _prepare(directory, suffix)
    names = [f"data-{number:05d}-of-{len(groups):05d}{suffix}" for number in range(len(groups))]
    with _together(directory, suffix, names) as places:
        tasks = [
            ExportTask(directory, name, tuple(group), schema, format_, place)
            for name, place, group in zip(names, places, groups, strict=True)
        ]
        _write(tasks, run)
    return [task.path for task in tasks]


def compressed_suffix(path: str, suffixes: tuple[str, ...], compression: str | None) -> tuple[str, str | None]:
    """The suffix of files, and their compression: that of a path to a file, or else the one that was asked for.

    Raises:
        ValueError: the path says another compression than was asked for, or there is no such one.
    """
    for suffix in suffixes:
        for end, name in (("", None), *COMPRESSIONS.items()):
            if path.endswith(suffix + end):
                if compression is not None and compression != name:
                    raise ValueError(f"compression is {compression!r}, but {redacted(path)} says {name or 'none'}")
                return suffix + end, name
    ends = {name: end for end, name in COMPRESSIONS.items()}
    if compression is not None and compression not in ends:
        raise ValueError(f"compression is {compression!r}; choose one of {list(ends)} or None")
    return suffixes[0] + ends.get(compression or "", ""), compression


def _write(tasks: Sequence[ExportTask], run: ExportRun) -> None:
    for _ in run.in_order("writing", tasks, int):
        pass  # a task that fails raises


def _prepare(directory: DirectoryFiles, suffix: str) -> None:
    """Make a directory for files of an export; it may hold an older export and nothing else."""
    try:
        directory.make()
    except StoreError as error:
        raise StoreError(f"{error}, or a file that ends in {suffix}") from error
    foreign = [name for name in directory.names() if not _is_of_export(name, suffix)]
    if foreign:
        raise StoreError(
            f"{directory.path} holds other files, such as {foreign[0]}; give a new or empty directory, or a file that"
            f" ends in {suffix}"
        )
    for name in directory.leftovers():
        directory.delete(name)


@contextmanager
def _together(directory: DirectoryFiles, suffix: str, names: Sequence[str]) -> Iterator[list[str]]:
    """The names under which files are to be put; those of a file system get their own when the block is left."""
    if not isinstance(directory, LocalDirectory):
        _remove_older(directory, suffix)
        yield list(names)
        return
    places = [temporary_name(Path(directory.path, name)) for name in names]
    try:
        yield [place.name for place in places]
        _remove_older(directory, suffix)
        for place, name in zip(places, names, strict=True):
            place.replace(Path(directory.path, name))
    finally:
        for place in places:
            place.unlink(missing_ok=True)


def _remove_older(directory: DirectoryFiles, suffix: str) -> None:
    for name in directory.names():
        if _is_of_export(name, suffix) and parse_temporary_name(name) is None:
            directory.delete(name)


def _is_of_export(name: str, suffix: str) -> bool:
    own = re.fullmatch(rf"data-\d{{5,}}-of-\d{{5,}}{re.escape(suffix)}", name)
    return own is not None or parse_temporary_name(name) is not None
