"""A data set for others: as a dataset directory, as files of other formats, to Ray Data, and as a stream."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, cast

from raydata_ext.dataset.columns import Columns
from raydata_ext.dataset.export_formats import COMPRESSIONS, CsvFormat, JsonLinesFormat, ParquetFormat
from raydata_ext.dataset.export_task import ExportTask, FileFormat
from raydata_ext.dataset.formats import storable_format
from raydata_ext.dataset.output import find_output, groups_of, output_identity, write_output
from raydata_ext.dataset.shards import MAX_SHARD_BYTES
from raydata_ext.dataset.sizes import parse_bytes
from raydata_ext.engine import Engine, Program
from raydata_ext.errors import StoreError
from raydata_ext.plan import Chain
from raydata_ext.store import FormatState, open_directory
from raydata_ext.streaming import IterableDataset
from raydata_ext.table import parse_temporary_name, with_huggingface_metadata

if TYPE_CHECKING:
    from collections.abc import Sequence

    from raydata_ext.engine import Workers
    from raydata_ext.formatting import Format
    from raydata_ext.store import DatasetDirectory
    from raydata_ext.store.directory_files import DirectoryFiles

DEFAULT_FILE_BYTES = "512MB"


class Exports(Columns):
    """Rows in files for others. The engine writes several at a time, and each appears complete or not at all."""

    def save_to_disk(
        self,
        path: str | os.PathLike[str],
        *,
        max_shard_bytes: int | str = DEFAULT_FILE_BYTES,
        executor: str | None = None,
        workers: Workers | int | None = None,
    ) -> DatasetDirectory:
        """Write the rows, in their order, as a dataset directory, which Hugging Face `datasets` opens too.

        Where the directory holds this very data set already, nothing is written.

        Args:
            path: a new or empty directory, or one that holds an older data set.
            max_shard_bytes: size up to which rows are put into one file, as a number of bytes or as in `"512MB"`.
            executor: see `Engine`, as for `workers`.
            workers: size of the pool on Ray.

        Raises:
            StoreError: the directory holds files that belong to no data set, or those that these rows are mapped from.
        """
        limit = parse_bytes(max_shard_bytes)
        format_ = storable_format(self.parts.format)
        if find_output(path, output_identity(self.fingerprint, limit, format_)) is None:
            self._require_elsewhere(open_directory(path).path)
        with Engine(executor, workers) as engine:
            return write_output(
                path,
                self._cut(min(limit, MAX_SHARD_BYTES)),
                self.schema,
                self.fingerprint,
                engine,
                self.parts.workspace.store,
                limit,
                format=format_,
            ).directory

    def to_parquet(
        self,
        path: str | os.PathLike[str],
        *,
        row_group_bytes: int | str = "64MB",
        max_file_bytes: int | str = DEFAULT_FILE_BYTES,
        executor: str | None = None,
        workers: Workers | int | None = None,
        **options: Any,
    ) -> list[str]:
        """Write the rows as Parquet, with statistics and with Hugging Face's features in the metadata.

        Args:
            path: a file that ends in `.parquet`; or a directory, which gets as many files as it takes and holds no
                others.
            row_group_bytes: about the size of a row group in memory.
            max_file_bytes: about the size of the rows in a file of a directory.
            executor: see `Engine`, as for `workers`.
            workers: size of the pool on Ray.
            options: those of `pyarrow.parquet.ParquetWriter`; `compression` is zstd.

        Returns:
            The paths of the files.
        """
        format_ = ParquetFormat(parse_bytes(row_group_bytes), options)
        return self._export(os.fspath(path), ".parquet", format_, max_file_bytes, executor, workers)

    def to_json(
        self,
        path: str | os.PathLike[str],
        *,
        compression: str | None = None,
        max_file_bytes: int | str = DEFAULT_FILE_BYTES,
        executor: str | None = None,
        workers: Workers | int | None = None,
    ) -> list[str]:
        """Write the rows as JSON lines: times as ISO 8601, durations as seconds, decimals as text, NaN as null.

        Args:
            path: a file that ends in `.jsonl` or `.json`, and perhaps in the suffix of a compression, as in
                `.jsonl.zst`; or a directory, see `to_parquet`.
            compression: of the files of a directory: `"gzip"`, `"bz2"`, `"zstd"` or `"lz4"`.
            max_file_bytes: see `to_parquet`, as for the others.
            executor: see `Engine`.
            workers: size of the pool on Ray.

        Returns:
            The paths of the files.

        Raises:
            SchemaError: values of a column have no form in JSON, such as bytes.
        """
        suffix, compression = _compressed_suffix(os.fspath(path), (".jsonl", ".json"), compression)
        return self._export(os.fspath(path), suffix, JsonLinesFormat(compression), max_file_bytes, executor, workers)

    def to_csv(
        self,
        path: str | os.PathLike[str],
        *,
        compression: str | None = None,
        max_file_bytes: int | str = DEFAULT_FILE_BYTES,
        executor: str | None = None,
        workers: Workers | int | None = None,
        **options: Any,
    ) -> list[str]:
        """Write the rows as CSV with a header line.

        Args:
            path: a file that ends in `.csv`, and perhaps in the suffix of a compression; or a directory, see
                `to_parquet`.
            compression: see `to_json`.
            max_file_bytes: see `to_parquet`, as for the others.
            executor: see `Engine`.
            workers: size of the pool on Ray.
            options: those of `pyarrow.csv.WriteOptions`, such as `delimiter`.

        Returns:
            The paths of the files.

        Raises:
            SchemaError: a column has no form in CSV, such as one of lists.
        """
        suffix, compression = _compressed_suffix(os.fspath(path), (".csv",), compression)
        return self._export(os.fspath(path), suffix, CsvFormat(compression, options), max_file_bytes, executor, workers)

    def to_iterable_dataset(self, num_shards: int | None = None) -> IterableDataset:
        """The rows as a stream, in the format of this data set.

        Args:
            num_shards: how many shards the stream has, for shuffling and for dealing rows to nodes and workers; None is
                what this data set is made of.
        """
        stream = IterableDataset.from_shards(self.shards)
        if num_shards is not None:
            stream = stream.reshard(num_shards)
        shown = self.parts.format
        if shown == FormatState():
            return stream
        # The format's name is one of those that `with_format` took.
        return stream.with_format(cast("Format", shown.type), shown.columns, **shown.kwargs)

    def to_ray_dataset(self) -> Any:
        """The rows as a `ray.data.Dataset`: one read task a shard, which maps its file where it runs."""
        from raydata_ext.dataset.ray_data import read_shards  # noqa: PLC0415 - `ray.data` takes a second to import

        return read_shards(self.shards, self.schema)

    def _export(
        self,
        path: str,
        suffix: str,
        format_: FileFormat,
        max_file_bytes: int | str,
        executor: str | None,
        workers: Workers | int | None,
    ) -> list[str]:
        is_file = path.endswith(suffix)
        limit = parse_bytes(max_file_bytes)
        groups = [list(self.shards)] if is_file else groups_of(self._cut(min(limit, MAX_SHARD_BYTES)), limit)
        names = [f"data-{number:05d}-of-{len(groups):05d}{suffix}" for number in range(len(groups))]
        if is_file:
            path, _, names[0] = open_directory(path).path.rpartition("/")
        directory = open_directory(path)
        if is_file:
            directory.make()
        else:
            _prepare(directory, suffix)
        schema = with_huggingface_metadata(self.schema)
        tasks = [
            ExportTask(directory, name, tuple(group), schema, format_)
            for name, group in zip(names, groups, strict=True)
        ]
        with Engine(executor, workers) as engine:
            for _ in engine.run(Program(Chain.of(()), self.parts.workspace.store), tasks):
                pass  # a task that fails raises
        if not is_file:
            _remove_others(directory, suffix, names)
        return [task.label for task in tasks]

    def _require_elsewhere(self, directory: str) -> None:
        """Files that rows are mapped from must not be replaced while they are read."""
        names = [
            name
            for place, _, name in (file["filename"].rpartition("/") for file in self.cache_files)
            if place == directory
        ]
        if names:
            raise StoreError(
                f"{directory} holds files that this data set is mapped from, such as {names[0]}; save it to another"
                " directory"
            )


def _compressed_suffix(path: str, suffixes: tuple[str, ...], compression: str | None) -> tuple[str, str | None]:
    """The suffix of files, and their compression: that of a path to a file, or else the one that was asked for."""
    for suffix in suffixes:
        for end, name in (("", None), *COMPRESSIONS.items()):
            if path.endswith(suffix + end):
                if compression is not None and compression != name:
                    raise ValueError(f"compression is {compression!r}, but {path} says {name or 'none'}")
                return suffix + end, name
    ends = {name: end for end, name in COMPRESSIONS.items()}
    if compression is not None and compression not in ends:
        raise ValueError(f"compression is {compression!r}; choose one of {list(ends)} or None")
    return suffixes[0] + ends.get(compression or "", ""), compression


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


def _remove_others(directory: DirectoryFiles, suffix: str, keep: Sequence[str]) -> None:
    """Remove what an older export left there, so that the directory holds these rows and no others."""
    for name in directory.names():
        if name not in keep and _is_of_export(name, suffix) and parse_temporary_name(name) is None:
            directory.delete(name)


def _is_of_export(name: str, suffix: str) -> bool:
    own = re.fullmatch(rf"data-\d{{5,}}-of-\d{{5,}}{re.escape(suffix)}", name)
    return own is not None or parse_temporary_name(name) is not None
