"""A data set for others: as a dataset directory, as files of other formats, to Ray Data, and as a stream."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, cast

from raydata_ext.dataset.export_files import compressed_suffix, directory_and_name, write_file, write_files
from raydata_ext.dataset.export_formats import CsvFormat, JsonLinesFormat, ParquetFormat
from raydata_ext.dataset.export_task import FileFormat, engine_of
from raydata_ext.dataset.formats import storable_format
from raydata_ext.dataset.output import even_groups, find_output, groups_of, output_identity, write_output
from raydata_ext.dataset.output_formats import writes
from raydata_ext.dataset.shards import MAX_SHARD_BYTES
from raydata_ext.dataset.sizes import parse_bytes
from raydata_ext.dataset.trainer_exports import TrainerExports
from raydata_ext.dataset.transforms import pool_size
from raydata_ext.engine import Silent
from raydata_ext.errors import StoreError
from raydata_ext.store import FormatState, open_directory
from raydata_ext.streaming import IterableDataset
from raydata_ext.table import with_huggingface_metadata

if TYPE_CHECKING:
    from raydata_ext.engine import Engine, RunProgress, Workers
    from raydata_ext.formatting import Format
    from raydata_ext.plan import InputShard
    from raydata_ext.remote import StorageOptions
    from raydata_ext.store import DatasetDirectory

DEFAULT_FILE_BYTES = "512MB"


class Exports(TrainerExports):
    """Rows in files for others. The engine writes several at a time, and each appears complete or not at all."""

    @writes("arrow")
    def save_to_disk(
        self,
        path: str | os.PathLike[str],
        *,
        max_shard_bytes: int | str = DEFAULT_FILE_BYTES,
        max_shard_size: int | str | None = None,
        num_shards: int | None = None,
        executor: str | Engine | None = None,
        workers: Workers | int | None = None,
        num_proc: int | None = None,
        progress: RunProgress | None = None,
        storage_options: StorageOptions | None = None,
    ) -> DatasetDirectory:
        """Write the rows, in their order, as a dataset directory, which Hugging Face `datasets` opens too.

        Where the directory holds this very data set already, nothing is written.

        Args:
            path: a new or empty directory, or one that holds an older data set.
            max_shard_bytes: size up to which rows are put into one file, as a number of bytes or as in `"512MB"`.
            max_shard_size: the same, under the name that it has in Hugging Face `datasets`.
            num_shards: write so many files, of about as many rows each, in place of files of a size.
            executor: see `Engine`, or an engine that is in use; as for `workers`.
            workers: size of the pool on Ray.
            num_proc: the same, under the name that it has in Hugging Face `datasets`.
            progress: is told how far it is.
            storage_options: further arguments of the file system of a URL; None is what this data set was given.

        Raises:
            ValueError: both a size and a number of files are given, or two sizes of the pool.
            StoreError: the directory holds files that belong to no data set, or those that these rows are mapped from.
        """
        if max_shard_size is not None and num_shards is not None:
            raise ValueError(f"max_shard_size={max_shard_size!r} and num_shards={num_shards} exclude each other")
        limit = parse_bytes(max_shard_bytes if max_shard_size is None else max_shard_size)
        cut = limit if num_shards is None else f"{num_shards} files"
        format_ = storable_format(self.parts.format)
        place = open_directory(path, self._options(storage_options))
        if find_output(place, output_identity(self.fingerprint, cut, format_)) is None:
            self._require_elsewhere(place.path)
        groups = self._of_size(limit) if num_shards is None else even_groups(self, num_shards)
        with engine_of(executor, pool_size(workers, num_proc)) as engine:
            return write_output(
                place,
                groups,
                self.schema,
                self.fingerprint,
                engine,
                self.parts.workspace.store,
                cut=cut,
                format=format_,
                progress=progress,
            ).directory

    @writes("parquet")
    def to_parquet(
        self,
        path: str | os.PathLike[str],
        *,
        row_group_bytes: int | str = "64MB",
        max_file_bytes: int | str = DEFAULT_FILE_BYTES,
        executor: str | Engine | None = None,
        workers: Workers | int | None = None,
        progress: RunProgress | None = None,
        storage_options: StorageOptions | None = None,
        **options: Any,
    ) -> list[str]:
        """Write the rows as Parquet, with statistics and with Hugging Face's features in the metadata.

        Args:
            path: a file that ends in `.parquet`; or a directory, which gets as many files as it takes and holds no
                others.
            row_group_bytes: about the size of a row group in memory.
            max_file_bytes: about the size of the rows in a file of a directory.
            executor: see `Engine`, or an engine that is in use; as for `workers`.
            workers: size of the pool on Ray.
            progress: is told how far it is.
            storage_options: further arguments of the file system of a URL; None is what this data set was given.
            options: those of `pyarrow.parquet.ParquetWriter`; `compression` is zstd.

        Returns:
            The paths of the files.
        """
        format_ = ParquetFormat(parse_bytes(row_group_bytes), options)
        return self._export(
            os.fspath(path), ".parquet", format_, max_file_bytes, executor, workers, progress, storage_options
        )

    @writes("json")
    def to_json(
        self,
        path: str | os.PathLike[str],
        *,
        compression: str | None = None,
        max_file_bytes: int | str = DEFAULT_FILE_BYTES,
        executor: str | Engine | None = None,
        workers: Workers | int | None = None,
        progress: RunProgress | None = None,
        storage_options: StorageOptions | None = None,
    ) -> list[str]:
        """Write the rows as JSON lines: times as ISO 8601, durations as seconds, decimals as text, NaN as null.

        Args:
            path: a file that ends in `.jsonl` or `.json`, and perhaps in the suffix of a compression, as in
                `.jsonl.zst`; or a directory, see `to_parquet`.
            compression: of the files of a directory: `"gzip"`, `"bz2"`, `"zstd"` or `"lz4"`.
            max_file_bytes: see `to_parquet`, as for the others.
            executor: see `Engine`.
            workers: size of the pool on Ray.
            progress: is told how far it is.
            storage_options: further arguments of the file system of a URL; None is what this data set was given.

        Returns:
            The paths of the files.

        Raises:
            SchemaError: values of a column have no form in JSON, such as bytes.
        """
        suffix, compression = compressed_suffix(os.fspath(path), (".jsonl", ".json"), compression)
        return self._export(
            os.fspath(path),
            suffix,
            JsonLinesFormat(compression),
            max_file_bytes,
            executor,
            workers,
            progress,
            storage_options,
        )

    @writes("csv")
    def to_csv(
        self,
        path: str | os.PathLike[str],
        *,
        compression: str | None = None,
        max_file_bytes: int | str = DEFAULT_FILE_BYTES,
        executor: str | Engine | None = None,
        workers: Workers | int | None = None,
        progress: RunProgress | None = None,
        storage_options: StorageOptions | None = None,
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
            progress: is told how far it is.
            storage_options: further arguments of the file system of a URL; None is what this data set was given.
            options: those of `pyarrow.csv.WriteOptions`, such as `delimiter`.

        Returns:
            The paths of the files.

        Raises:
            SchemaError: a column has no form in CSV, such as one of lists.
        """
        suffix, compression = compressed_suffix(os.fspath(path), (".csv",), compression)
        return self._export(
            os.fspath(path),
            suffix,
            CsvFormat(compression, options),
            max_file_bytes,
            executor,
            workers,
            progress,
            storage_options,
        )

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
        executor: str | Engine | None,
        workers: Workers | int | None,
        progress: RunProgress | None,
        storage_options: StorageOptions | None,
    ) -> list[str]:
        limit, options = parse_bytes(max_file_bytes), self._options(storage_options)
        schema, store, shown = with_huggingface_metadata(self.schema), self.parts.workspace.store, progress or Silent()
        with engine_of(executor, workers) as engine:
            if path.endswith(suffix):
                directory, name = directory_and_name(path, options)
                return write_file(directory, name, self.shards, schema, format_, engine, store, shown)
            place, groups = open_directory(path, options), self._of_size(limit)
            return write_files(place, suffix, groups, schema, format_, engine, store, shown)

    def _of_size(self, max_bytes: int) -> list[list[InputShard]]:
        """What goes into each file where files are to have a size."""
        return groups_of(self._cut(min(max_bytes, MAX_SHARD_BYTES)), max_bytes)

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
