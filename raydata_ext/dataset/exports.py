"""Writing a data set: as a dataset directory, as files of other formats, and to Ray Data."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from raydata_ext.table import parse_temporary_name, with_huggingface_metadata

if TYPE_CHECKING:
    import os

    from raydata_ext.engine import Workers
    from raydata_ext.store import DatasetDirectory

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
            self._require_elsewhere(Path(path).absolute())
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
    ) -> list[Path]:
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
            The files.
        """
        format_ = ParquetFormat(parse_bytes(row_group_bytes), options)
        return self._export(Path(path), ".parquet", format_, max_file_bytes, executor, workers)

    def to_json(
        self,
        path: str | os.PathLike[str],
        *,
        compression: str | None = None,
        max_file_bytes: int | str = DEFAULT_FILE_BYTES,
        executor: str | None = None,
        workers: Workers | int | None = None,
    ) -> list[Path]:
        """Write the rows as JSON lines: dates and times as ISO 8601, decimals as text, NaN as null.

        Args:
            path: a file that ends in `.jsonl` or `.json`, and perhaps in the suffix of a compression, as in
                `.jsonl.zst`; or a directory, see `to_parquet`.
            compression: of the files of a directory: `"gzip"`, `"bz2"`, `"zstd"` or `"lz4"`.
            max_file_bytes: see `to_parquet`, as for the others.
            executor: see `Engine`.
            workers: size of the pool on Ray.

        Returns:
            The files.

        Raises:
            SchemaError: values of a column have no form in JSON, such as bytes.
        """
        suffix, compression = _compressed_suffix(Path(path), (".jsonl", ".json"), compression)
        return self._export(Path(path), suffix, JsonLinesFormat(compression), max_file_bytes, executor, workers)

    def to_csv(
        self,
        path: str | os.PathLike[str],
        *,
        compression: str | None = None,
        max_file_bytes: int | str = DEFAULT_FILE_BYTES,
        executor: str | None = None,
        workers: Workers | int | None = None,
        **options: Any,
    ) -> list[Path]:
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
            The files.

        Raises:
            SchemaError: a column has no form in CSV, such as one of lists.
        """
        suffix, compression = _compressed_suffix(Path(path), (".csv",), compression)
        return self._export(Path(path), suffix, CsvFormat(compression, options), max_file_bytes, executor, workers)

    def to_ray_dataset(self) -> Any:
        """The rows as a `ray.data.Dataset`: one read task a shard, which maps its file where it runs."""
        from raydata_ext.dataset.ray_data import read_shards  # noqa: PLC0415 - `ray.data` takes a second to import

        return read_shards(self.shards, self.schema)

    def _export(
        self,
        path: Path,
        suffix: str,
        format_: FileFormat,
        max_file_bytes: int | str,
        executor: str | None,
        workers: Workers | int | None,
    ) -> list[Path]:
        schema = with_huggingface_metadata(self.schema)
        if path.name.endswith(suffix):
            path.parent.mkdir(parents=True, exist_ok=True)
            paths, groups = [path.absolute()], [list(self.shards)]
        else:
            limit = parse_bytes(max_file_bytes)
            groups = groups_of(self._cut(min(limit, MAX_SHARD_BYTES)), limit)
            _prepare(path, suffix)
            paths = [path.absolute() / f"data-{n:05d}-of-{len(groups):05d}{suffix}" for n in range(len(groups))]
        tasks = [
            ExportTask(str(file), tuple(group), schema, format_) for file, group in zip(paths, groups, strict=True)
        ]
        with Engine(executor, workers) as engine:
            for _ in engine.run(Program(Chain.of(()), self.parts.workspace.store), tasks):
                pass  # a task that fails raises
        if not path.name.endswith(suffix):
            _remove_others(path, suffix, {file.name for file in paths})
        return paths

    def _require_elsewhere(self, directory: Path) -> None:
        """Files that rows are mapped from must not be replaced while they are read."""
        inside = [file["filename"] for file in self.cache_files if Path(file["filename"]).parent == directory]
        if inside:
            raise StoreError(
                f"{directory} holds files that this data set is mapped from, such as {Path(inside[0]).name}; save it to"
                " another directory"
            )


def _compressed_suffix(path: Path, suffixes: tuple[str, ...], compression: str | None) -> tuple[str, str | None]:
    """The suffix of files, and their compression: that of a path to a file, or else the one that was asked for."""
    for suffix in suffixes:
        for end, name in (("", None), *COMPRESSIONS.items()):
            if path.name.endswith(suffix + end):
                if compression is not None and compression != name:
                    raise ValueError(f"compression is {compression!r}, but {path.name} says {name or 'none'}")
                return suffix + end, name
    ends = {name: end for end, name in COMPRESSIONS.items()}
    if compression is not None and compression not in ends:
        raise ValueError(f"compression is {compression!r}; choose one of {list(ends)} or None")
    return suffixes[0] + ends.get(compression or "", ""), compression


def _prepare(directory: Path, suffix: str) -> None:
    """Make a directory for files of an export; it may hold an older export and nothing else."""
    if directory.is_file():
        raise StoreError(f"{directory} is a file; give a directory, or a file that ends in {suffix}")
    directory.mkdir(parents=True, exist_ok=True)
    foreign = sorted(file.name for file in directory.iterdir() if not _is_of_export(file.name, suffix))
    if foreign:
        raise StoreError(f"{directory} holds other files, such as {foreign[0]}; give a new or empty directory")


def _remove_others(directory: Path, suffix: str, keep: set[str]) -> None:
    """Remove what an older export left there, so that the directory holds these rows and no others."""
    for file in directory.iterdir():
        if file.name not in keep and _is_of_export(file.name, suffix) and parse_temporary_name(file.name) is None:
            file.unlink(missing_ok=True)


def _is_of_export(name: str, suffix: str) -> bool:
    own = re.fullmatch(rf"data-\d{{5,}}-of-\d{{5,}}{re.escape(suffix)}", name)
    return own is not None or parse_temporary_name(name) is not None
