"""A data set for trainers that read files of their own: Megatron, fairseq, MosaicML Streaming."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from raydata_ext.dataset.columns import Columns
from raydata_ext.dataset.export_files import directory_and_name
from raydata_ext.dataset.export_run import ExportRun, export_run
from raydata_ext.dataset.mds_export import write_mds
from raydata_ext.dataset.mds_format import MdsFormat, mds_columns
from raydata_ext.dataset.output import even_groups
from raydata_ext.dataset.output_formats import writes
from raydata_ext.dataset.sizes import parse_bytes
from raydata_ext.dataset.token_export import TokenFormat, write_token_files
from raydata_ext.dataset.token_items import TokenColumn
from raydata_ext.redaction import redacted
from raydata_ext.store import open_directory

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager

    from numpy.typing import DTypeLike

    from raydata_ext.engine import Engine, RunProgress, Workers
    from raydata_ext.remote import StorageOptions


class TrainerExports(Columns):
    """Rows in the files of other trainers, to the byte as their own writers make them, written by many at once."""

    @writes("megatron")
    def to_megatron(
        self,
        prefix: str | os.PathLike[str],
        *,
        column: str = "input_ids",
        documents: str | None = None,
        dtype: DTypeLike | None = None,
        vocab_size: int | None = None,
        num_shards: int | None = None,
        executor: str | Engine | None = None,
        workers: Workers | int | None = None,
        progress: RunProgress | None = None,
        storage_options: StorageOptions | None = None,
    ) -> list[str]:
        """Write a column of tokens as Megatron's `prefix.bin` and `prefix.idx`, sequence by sequence.

        A row is a document of one sequence; where the column holds lists of lists, a row is a document and each of its
        lists a sequence.

        Args:
            prefix: path or URL of the files, without suffix; what Megatron calls the path prefix.
            column: lists of integers, or lists of such lists.
            documents: a column of bools, true in each row with which a document begins, where a row is a sequence and a
                document several of them.
            dtype: type of the tokens in the files.
            vocab_size: symbols of the vocabulary, for the smallest type that holds them, in place of `dtype`: uint16
                below 65500, else int32. With neither, it is the smallest of these that fits all tokens.
            num_shards: write so many pairs of files, `prefix-00000-of-00004` and so on, of about as many rows each, in
                place of one pair.
            executor: see `Engine`, or an engine that is in use; as for `workers`. Under a URL, each pair is written by
                one worker.
            workers: size of the pool on Ray.
            progress: is told how far it is.
            storage_options: further arguments of the file system of a URL; None is what this data set was given.

        Returns:
            The prefix of each pair, as an absolute path or URL.

        Raises:
            ValueError: a token does not fit the type, or something is null; the message gives the row. No file is left.
            SchemaError: the column holds no tokens.
        """
        if documents is not None and num_shards is not None:
            raise ValueError("num_shards would cut documents of several rows; leave out num_shards or documents")
        tokens = TokenColumn.of(self.schema, column, documents)
        format_ = TokenFormat("megatron", dtype, vocab_size)
        with self._export_run(executor, workers, progress) as run:
            return self._write_tokens(prefix, tokens, format_, num_shards, self._options(storage_options), run)

    @writes("fairseq")
    def to_fairseq(
        self,
        prefix: str | os.PathLike[str],
        *,
        column: str = "input_ids",
        dtype: DTypeLike | None = None,
        vocab_size: int | None = None,
        num_shards: int | None = None,
        executor: str | Engine | None = None,
        workers: Workers | int | None = None,
        progress: RunProgress | None = None,
        storage_options: StorageOptions | None = None,
    ) -> list[str]:
        """Write a column of tokens as fairseq's `prefix.bin` and `prefix.idx` (`--dataset-impl mmap`), an item a row.

        Where the column holds lists of lists, each of them is an item.

        Args:
            prefix: path or URL of the files, without suffix, as in `data-bin/train.de-en.de`.
            column: lists of integers, or lists of such lists.
            dtype: see `to_megatron`, as for all others.
            vocab_size: symbols of the dictionary.
            num_shards: number of pairs.
            executor: what does the work.
            workers: size of the pool on Ray.
            progress: is told how far it is.
            storage_options: further arguments of the file system of a URL; None is what this data set was given.

        Returns:
            The prefix of each pair, as an absolute path or URL.

        Raises:
            ValueError: a token does not fit the type, or something is null; the message gives the row. No file is left.
            SchemaError: the column holds no tokens.
        """
        tokens = TokenColumn.of(self.schema, column, None)
        format_ = TokenFormat("fairseq", dtype, vocab_size)
        with self._export_run(executor, workers, progress) as run:
            return self._write_tokens(prefix, tokens, format_, num_shards, self._options(storage_options), run)

    @writes("mds")
    def to_mds(
        self,
        path: str | os.PathLike[str],
        *,
        columns: Mapping[str, str] | Sequence[str] | None = None,
        compression: str | None = None,
        hashes: Sequence[str] = (),
        size_limit: int | str = "64MiB",
        executor: str | Engine | None = None,
        workers: Workers | int | None = None,
        progress: RunProgress | None = None,
        storage_options: StorageOptions | None = None,
    ) -> list[str]:
        """Write the rows as MosaicML's MDS: `shard.00000.mds` and so on, and `index.json`, for `StreamingDataset`.

        Args:
            path: a new or empty directory, or one that holds an older export; or its URL.
            columns: names, or names and encodings as `MDSWriter` takes them; None is all. By default, text is `str`,
                bytes are `bytes`, int64 is `int`, other numbers are what they are (`int32`, `float32`, ...), lists of
                numbers are `ndarray:int32` and the like, decimals are `str_decimal`, and bools, structs and other lists
                are `json`. Bytes may also be `jpeg` or `png`. Nothing is pickled.
            compression: `"zstd"`, or with a level as in `"zstd:7"`.
            hashes: such as `["sha1", "xxh64"]`, of each file, for the index.
            size_limit: bytes of a shard before compression. A worker has a shard of samples in memory.
            executor: see `to_megatron`, as for the others.
            workers: size of the pool on Ray.
            progress: is told how far it is.
            storage_options: further arguments of the file system of a URL; None is what this data set was given.

        Returns:
            The paths of the files, that of the index last.

        Raises:
            SchemaError: a type or value has no form in MDS, such as null where the encoding is not `json`; the message
                gives column and row.
            StoreError: the directory holds other files.
        """
        chosen = mds_columns(self.schema, columns)
        format_ = MdsFormat(chosen, compression, tuple(sorted(set(hashes))), parse_bytes(size_limit))
        rows = self.select_columns([column.name for column in chosen])
        with self._export_run(executor, workers, progress) as run:
            return write_mds(
                open_directory(path, self._options(storage_options)),
                rows.shards,
                lambda start, stop: rows.select(range(start, stop)).shards,
                rows.schema,
                format_,
                run,
            )

    def _export_run(
        self, executor: str | Engine | None, workers: Workers | int | None, progress: RunProgress | None
    ) -> AbstractContextManager[ExportRun]:
        """What does the work of an export of these rows."""
        return export_run(executor, workers, self.parts.workspace.store, progress)

    def _options(self, storage_options: StorageOptions | None) -> StorageOptions:
        return self.parts.workspace.storage_options if storage_options is None else storage_options

    def _write_tokens(
        self,
        prefix: str | os.PathLike[str],
        column: TokenColumn,
        format_: TokenFormat,
        num_shards: int | None,
        options: StorageOptions,
        run: ExportRun,
    ) -> list[str]:
        name = os.fspath(prefix)
        if name.endswith((".bin", ".idx", "/")):
            raise ValueError(f"prefix is {redacted(name)!r}; give the path of the files without .bin and .idx")
        directory, name = directory_and_name(name, options)
        rows = self.select_columns(column.columns)
        if num_shards is None:
            groups, names = [rows.shards], [name]
        else:
            groups = even_groups(rows, num_shards)
            names = [f"{name}-{number:05d}-of-{num_shards:05d}" for number in range(num_shards)]
        return write_token_files(directory, names, groups, rows.schema, column, format_, run)
