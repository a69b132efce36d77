"""A data set for others: as a dataset directory, as files of other formats, to Ray Data, and as a stream."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, cast

from raydata_ext.dataset.absent import EXPORT_ARGUMENTS, require_known
from raydata_ext.dataset.export_files import compressed_suffix, directory_and_name, write_file, write_files
from raydata_ext.dataset.export_formats import CsvFormat, JsonLinesFormat, ParquetFormat
from raydata_ext.dataset.formats import storable_format
from raydata_ext.dataset.output import (
    DEFAULT_FILE_BYTES,
    even_groups,
    file_cut,
    find_output,
    groups_of,
    output_identity,
    write_output,
)
from raydata_ext.dataset.output_formats import writes
from raydata_ext.dataset.shards import MAX_SHARD_BYTES
from raydata_ext.dataset.sizes import parse_bytes
from raydata_ext.dataset.trainer_exports import TrainerExports
from raydata_ext.dataset.transforms import pool_size
from raydata_ext.errors import StoreError
from raydata_ext.remote import is_url
from raydata_ext.store import FormatState, open_directory
from raydata_ext.streaming import IterableDataset
from raydata_ext.table import with_huggingface_metadata

if TYPE_CHECKING:
    from raydata_ext.dataset.export_run import ExportRun
    from raydata_ext.dataset.export_task import FileFormat
    from raydata_ext.engine import Engine, RunProgress, Workers
    from raydata_ext.formatting import Format
    from raydata_ext.plan import InputShard
    from raydata_ext.remote import StorageOptions
    from raydata_ext.store import DatasetDirectory
    from raydata_ext.store.directory_files import DirectoryFiles


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
        cut = file_cut(max_shard_bytes, max_shard_size, num_shards)
        format_ = storable_format(self.parts.format)
        place = open_directory(path, self._options(storage_options))
        self.require_savable(place, cut)
        groups = self._of_size(int(cut)) if num_shards is None else even_groups(self, num_shards)
        with self._export_run(executor, pool_size(workers, num_proc), progress) as run:
            return write_output(
                place,
                groups,
                self.schema,
                self.fingerprint,
                run,
                cut=cut,
                format=format_,
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
        num_proc: int | None = None,
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
            num_proc: the same, under the name that it has in Hugging Face `datasets`.
            progress: is told how far it is.
            storage_options: further arguments of the file system of a URL; None is what this data set was given.
            options: those of `pyarrow.parquet.ParquetWriter`; `compression` is zstd.

        Returns:
            The paths of the files.

        Raises:
            TypeError: there is no such option.
            SchemaError: a column has no form in Parquet.
        """
        require_known(options, EXPORT_ARGUMENTS)
        format_ = ParquetFormat(parse_bytes(row_group_bytes), options)
        with self._export_run(executor, pool_size(workers, num_proc), progress) as run:
            return self._export(path, ".parquet", format_, max_file_bytes, self._options(storage_options), run)

    @writes("json")
    def to_json(
        self,
        path: str | os.PathLike[str],
        *,
        compression: str | None = None,
        orient: str = "records",
        lines: bool = True,
        max_file_bytes: int | str = DEFAULT_FILE_BYTES,
        executor: str | Engine | None = None,
        workers: Workers | int | None = None,
        num_proc: int | None = None,
        progress: RunProgress | None = None,
        storage_options: StorageOptions | None = None,
    ) -> list[str]:
        """Write the rows as JSON lines: times as ISO 8601, durations as seconds, decimals as text, NaN as null.

        Args:
            path: a file that ends in `.jsonl` or `.json`, and perhaps in the suffix of a compression, as in
                `.jsonl.zst`; or a directory, see `to_parquet`.
            compression: of the files of a directory: `"gzip"`, `"bz2"`, `"zstd"` or `"lz4"`.
            orient: `"records"`, as for `lines`: what Hugging Face `datasets` writes by default.
            lines: true.
            max_file_bytes: see `to_parquet`, as for the others.
            executor: see `Engine`.
            workers: size of the pool on Ray.
            num_proc: the same, under the name that it has in Hugging Face `datasets`.
            progress: is told how far it is.
            storage_options: further arguments of the file system of a URL; None is what this data set was given.

        Returns:
            The paths of the files.

        Raises:
            ValueError: another form is asked for.
            SchemaError: values of a column have no form in JSON, such as bytes.
        """
        suffix, compression = compressed_suffix(os.fspath(path), (".jsonl", ".json"), compression)
        if orient != "records" or not lines:
            raise ValueError(
                f"orient={orient!r}, lines={lines!r}: what is written is an object a line, orient='records' and"
                " lines=True; to_pandas().to_json(...) writes other forms"
            )
        format_ = JsonLinesFormat(compression)
        with self._export_run(executor, pool_size(workers, num_proc), progress) as run:
            return self._export(path, suffix, format_, max_file_bytes, self._options(storage_options), run)

    @writes("csv")
    def to_csv(
        self,
        path: str | os.PathLike[str],
        *,
        compression: str | None = None,
        index: bool = False,
        max_file_bytes: int | str = DEFAULT_FILE_BYTES,
        executor: str | Engine | None = None,
        workers: Workers | int | None = None,
        num_proc: int | None = None,
        progress: RunProgress | None = None,
        storage_options: StorageOptions | None = None,
        **options: Any,
    ) -> list[str]:
        """Write the rows as CSV with a header line.

        Args:
            path: a file that ends in `.csv`, and perhaps in the suffix of a compression; or a directory, see
                `to_parquet`.
            compression: see `to_json`.
            index: false; there is no index to write.
            max_file_bytes: see `to_parquet`, as for the others.
            executor: see `Engine`.
            workers: size of the pool on Ray.
            num_proc: the same, under the name that it has in Hugging Face `datasets`.
            progress: is told how far it is.
            storage_options: further arguments of the file system of a URL; None is what this data set was given.
            options: those of `pyarrow.csv.WriteOptions`, such as `delimiter`.

        Returns:
            The paths of the files.

        Raises:
            TypeError: there is no such option.
            SchemaError: a column has no form in CSV, such as one of lists.
        """
        suffix, compression = compressed_suffix(os.fspath(path), (".csv",), compression)
        if index:
            raise ValueError(
                "index=True: rows have no index but their number; make it a column, or write by to_pandas().to_csv(...)"
            )
        require_known(options, EXPORT_ARGUMENTS)
        format_ = CsvFormat(compression, options)
        with self._export_run(executor, pool_size(workers, num_proc), progress) as run:
            return self._export(path, suffix, format_, max_file_bytes, self._options(storage_options), run)

    def require_savable(self, directory: DirectoryFiles, cut: int | str) -> None:
        """See whether these rows may be written into a directory: not over the files that they are mapped from.

        Args:
            directory: where they would go.
            cut: how they would be cut into files, see `output.file_cut`.

        Raises:
            StoreError: they may not; unless these very rows stand there, so that nothing would be written.
        """
        names = {place: name for place, _, name in (file["filename"].rpartition("/") for file in self.cache_files)}
        own = next((name for place, name in names.items() if _followed(place) == _followed(directory.path)), None)
        if own is None:
            return
        identity = output_identity(self.fingerprint, cut, storable_format(self.parts.format))
        if find_output(directory, identity) is None:
            raise StoreError(
                f"{directory.path} holds files that this data set is mapped from, such as {own}; save it to another"
                " directory"
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
        path: str | os.PathLike[str],
        suffix: str,
        format_: FileFormat,
        max_file_bytes: int | str,
        options: StorageOptions,
        run: ExportRun,
    ) -> list[str]:
        """Write one file where the path ends in the suffix, else a directory of them."""
        place, schema = os.fspath(path), with_huggingface_metadata(self.schema)
        if place.endswith(suffix):
            directory, name = directory_and_name(place, options)
            return write_file(directory, name, self.shards, schema, format_, run)
        groups = self._of_size(parse_bytes(max_file_bytes))
        return write_files(open_directory(place, options), suffix, groups, schema, format_, run)

    def _of_size(self, max_bytes: int) -> list[list[InputShard]]:
        """What goes into each file where files are to have a size."""
        return groups_of(self._cut(min(max_bytes, MAX_SHARD_BYTES)), max_bytes)


def _followed(place: str) -> str:
    """A directory by what links to it lead to."""
    return place if is_url(place) else os.path.realpath(place)
