"""A dataset directory: Hugging Face's layout, which it opens with `load_from_disk`, and a manifest that can be checked.

`data-00000-of-00004.arrow` and so on, `state.json`, `dataset_info.json`, and last of all `manifest.json`: a directory
that has one is complete. Writing goes in three steps: `prepare_dataset_directory`, then the shard files under the names
of `data_file_name`, then `write_dataset_directory`.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from raydata_ext.errors import CorruptFileError, RaydataError, StaleFileError, StoreError
from raydata_ext.redaction import redacted
from raydata_ext.store.directory_files import DirectoryFiles, open_directory
from raydata_ext.store.huggingface_files import (
    INFO_FILE,
    SPLITS_FILE,
    STATE_FILE,
    DatasetState,
    FormatState,
    dataset_info_json,
    split_names,
)
from raydata_ext.store.manifest import MANIFEST_FILE, Manifest, ShardFile, check_member_name
from raydata_ext.table.ipc_writer import parse_temporary_name
from raydata_ext.table.verify import verify_ipc_file

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa

    Place: TypeAlias = str | os.PathLike[str] | DirectoryFiles
    """A path, a URL, or what `open_directory` made of one, with options of its file system."""

logger = logging.getLogger(__name__)

_DATA_FILE = re.compile(r"data-\d{5,}-of-\d{5,}\.arrow")


@dataclass(frozen=True)
class DatasetDirectory:
    """A dataset on disk, all of whose shard files are there.

    Args:
        place: The directory.
        files: Shard files in the order of their rows; rows and checksum are None where Hugging Face wrote them.
        fingerprint: Fingerprint of the dataset.
        schema: Its schema, or None where only the shard files tell.
        split: Name of the split, if it has one.
        format: How rows are handed out.
        manifest: Our manifest, or None.
    """

    place: DirectoryFiles
    files: tuple[ShardFile, ...]
    fingerprint: str
    schema: pa.Schema | None = None
    split: str | None = None
    format: FormatState = field(default_factory=FormatState)
    manifest: Manifest | None = None

    @property
    def path(self) -> str:
        """Absolute path of the directory, or URL."""
        return self.place.path

    def file_path(self, file: ShardFile) -> str:
        """Return the path of one of the files."""
        return f"{self.path}/{file.name}"


def data_file_name(index: int, count: int) -> str:
    """Return the name of shard file `index` of `count`.

    Args:
        index: Counted from 0.
        count: Number of shard files.

    Raises:
        IndexError: If there is no such shard.
    """
    if not 0 <= index < count:
        raise IndexError(f"there is no shard {index} of {count}")
    return f"data-{index:05d}-of-{count:05d}.arrow"


def prepare_dataset_directory(path: Place) -> None:
    """Make the directory ready to be written: it is made, or an older dataset in it ceases to count as one.

    Its shard files stay until the new ones stand, so whoever has them mapped can go on.

    Args:
        path: A directory, or URL of one, that does not exist, is empty, or holds a dataset and nothing else.

    Raises:
        StoreError: If there are other files, which are left as they are.
    """
    directory = open_directory(path)
    directory.make()
    foreign = [name for name in directory.names() if not _belongs_to_a_dataset(name)]
    if foreign:
        some = foreign[0] if len(foreign) == 1 else f"{foreign[0]} and {len(foreign) - 1} more"
        raise StoreError(
            f"{directory.path} holds files that are no part of a dataset ({some}); give a new or empty directory"
        )
    for name in (MANIFEST_FILE, STATE_FILE, INFO_FILE):
        directory.delete(name)


def write_dataset_directory(
    path: Place,
    files: Sequence[ShardFile],
    *,
    schema: pa.Schema,
    fingerprint: str,
    lineage: Mapping[str, Any],
    split: str | None = None,
    format: FormatState | None = None,  # noqa: A002  the word of the reference system
    sync: bool = True,
) -> DatasetDirectory:
    """Complete a directory whose shard files are written; what an older dataset left there is removed afterwards.

    Args:
        path: The directory, after `prepare_dataset_directory`.
        files: The shard files in the order of their rows, with rows and checksum; at least one, without rows if the
            dataset has none.
        schema: Arrow schema of the dataset.
        fingerprint: Fingerprint of the dataset.
        lineage: What it was made from, in JSON values.
        split: Name of the split, if it has one.
        format: How rows are handed out; None for Python objects.
        sync: Whether to wait until the three files are on the disk.

    Returns:
        The directory as `read_dataset_directory` would give it.

    Raises:
        ValueError: If there is no file, or rows or checksum of one are not given.
        StoreError: If a file is not there or has another size.
    """
    if not files:
        raise ValueError("a dataset directory has at least one shard file; write one without rows")
    for file in files:
        check_member_name(file.name)
        if file.rows is None or file.checksum is None:
            raise ValueError(f"{file.name}: rows and checksum of a shard file must be given")
    directory = open_directory(path)
    state = DatasetState(tuple(file.name for file in files), fingerprint, split, format or FormatState())
    manifest = Manifest(tuple(files), schema, fingerprint, lineage, split)
    _require_files(directory, manifest.shards, MANIFEST_FILE)
    directory.write(INFO_FILE, dataset_info_json(schema), sync=sync)
    directory.write(STATE_FILE, state.to_json(), sync=sync)
    directory.write(MANIFEST_FILE, manifest.to_json(), sync=sync)
    _remove_leftovers(directory, keep={file.name for file in files})
    return _from_manifest(directory, manifest, state)


def read_dataset_directory(path: Place) -> DatasetDirectory:
    """Read what a directory holds, one of ours or one of Hugging Face's; no shard file is opened.

    Args:
        path: The directory.

    Raises:
        StoreError: If it is not one complete dataset: a `DatasetDict`, an unfinished one, a shard file missing or of
            another size, or a name that leads out of the directory.
    """
    directory = open_directory(path)
    try:
        return _read_directory(directory)
    except StoreError as error:
        raise StoreError(f"{directory.path}: {error}") from error


def verify_dataset_directory(path: Place) -> Iterator[tuple[ShardFile, RaydataError]]:
    """Read all shard files of a directory and compare them with the manifest.

    Args:
        path: The directory. Where there is no manifest the structure of the files is checked, and no checksum.

    Yields:
        Each damaged file and what is wrong with it.

    Raises:
        StoreError: As `read_dataset_directory`.
    """
    files = open_directory(path)
    for file in read_dataset_directory(path).files:
        with files.fetched(file.name) as local:
            problem = _verify_file(local, file)
        if problem is not None:
            yield file, problem


def _read_directory(directory: DirectoryFiles) -> DatasetDirectory:
    manifest_text, state_text = (directory.read(name) for name in (MANIFEST_FILE, STATE_FILE))
    if state_text is None:
        raise StoreError(_why_no_dataset(directory))
    state = DatasetState.from_json(state_text)
    if manifest_text is not None:
        manifest = Manifest.from_json(manifest_text)
        if manifest.fingerprint == state.fingerprint:
            _require_files(directory, manifest.shards, MANIFEST_FILE)
            return _from_manifest(directory, manifest, state)
        logger.warning("%s: %s is of an older dataset and not used", redacted(directory.path), MANIFEST_FILE)
    sizes = _sizes(directory, state.file_names, STATE_FILE)
    files = tuple(ShardFile(name, sizes[name]) for name in state.file_names)
    return DatasetDirectory(directory, files, state.fingerprint, None, state.split, state.format)


def _verify_file(path: str, file: ShardFile) -> RaydataError | None:
    try:
        summary = verify_ipc_file(path, checksum=file.checksum, num_bytes=file.num_bytes)
    except (CorruptFileError, StaleFileError) as error:
        return error
    if file.rows not in (None, summary.rows):
        return CorruptFileError(f"{path}: has {summary.rows} rows, not {file.rows} as {MANIFEST_FILE} says")
    return None


def _belongs_to_a_dataset(name: str) -> bool:
    ours = name in (MANIFEST_FILE, STATE_FILE, INFO_FILE)
    return ours or _DATA_FILE.fullmatch(name) is not None or parse_temporary_name(name) is not None


def _require_files(directory: DirectoryFiles, files: Sequence[ShardFile], source: str) -> None:
    sizes = _sizes(directory, [file.name for file in files], source)
    for file in files:
        if sizes[file.name] != file.num_bytes:
            raise StoreError(
                f"shard file {file.name} has {sizes[file.name]} bytes, not {file.num_bytes} as {source} says"
            )


def _sizes(directory: DirectoryFiles, names: Sequence[str], source: str) -> dict[str, int]:
    sizes = directory.sizes(names)
    for name in names:
        if name not in sizes:
            raise StoreError(f"shard file {name}, which {source} names, is missing; copy it there or write anew")
    return sizes


def _remove_leftovers(directory: DirectoryFiles, keep: set[str]) -> None:
    old_data = [name for name in directory.names() if _DATA_FILE.fullmatch(name) and name not in keep]
    for name in old_data + directory.leftovers():
        directory.delete(name)


def _from_manifest(directory: DirectoryFiles, manifest: Manifest, state: DatasetState) -> DatasetDirectory:
    return DatasetDirectory(
        directory,
        manifest.shards,
        manifest.fingerprint,
        manifest.schema,
        manifest.split,
        state.format,
        manifest,
    )


def _why_no_dataset(directory: DirectoryFiles) -> str:
    splits = directory.read(SPLITS_FILE)
    if splits is not None:
        names = split_names(splits)
        some = f", for instance {directory.path}/{names[0]}" if names else ""
        return f"this is a DatasetDict with the splits {', '.join(names)}; open one of them{some}"
    if not directory.exists():
        return "no such directory"
    return f"there is no {STATE_FILE}; this is no dataset directory, or one whose writing did not finish"
