"""A data set: rows in mapped Arrow files that read like a list of dicts."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

import numpy as np
import pyarrow as pa

from raydata_ext.dataset.lazy_dataset import LazyDataset
from raydata_ext.dataset.output import write_output
from raydata_ext.engine import Engine, ShardResult, Workers
from raydata_ext.fingerprint import combine, hash_value
from raydata_ext.plan import Plan, TableShard, Workspace
from raydata_ext.store import DatasetDirectory, read_dataset_directory
from raydata_ext.table import InMemoryTable, MemoryMappedTable, Table, concat_tables, list_table_cache_files

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping, Sequence


class Dataset:
    """Rows of equal columns. Made by `load_dataset`, `load_from_disk`, `from_dict`, or by collecting a plan.

    Args:
        table: the rows.
        shards: the same rows as inputs of what follows.
        fingerprint: hash of what the rows are.
        workspace: the cache directory for what is computed from it.
    """

    def __init__(self, table: Table, shards: Sequence[TableShard], fingerprint: str, workspace: Workspace) -> None:
        self._table = table
        self._shards = tuple(shards)
        self._fingerprint = fingerprint
        self._workspace = workspace

    @classmethod
    def from_results(cls, results: Sequence[ShardResult], workspace: Workspace) -> Dataset:
        """The results of a run, shard after shard, under one schema."""
        receipts = [result.receipt for result in results]
        shards = [TableShard.of_receipt(workspace.store, receipt) for receipt in receipts]
        return cls(_joined(shards), shards, combine("dataset", *(receipt.key for receipt in receipts)), workspace)

    @classmethod
    def from_directory(cls, directory: DatasetDirectory, workspace: Workspace) -> Dataset:
        """What `save_to_disk` wrote, ours or Hugging Face's."""
        shards = []
        for file in directory.files:
            path = directory.file_path(file)
            table = MemoryMappedTable.from_file(
                path, schema=directory.schema, num_rows=file.rows, num_bytes=file.num_bytes
            )
            shards.append(TableShard(table, ((path, file.checksum),) if file.checksum else ()))
        return cls(_joined(shards), shards, directory.fingerprint, workspace)

    @classmethod
    def from_dict(
        cls,
        columns: Mapping[str, Any],
        *,
        schema: pa.Schema | None = None,
        cache_dir: str | os.PathLike[str] | None = None,
    ) -> Dataset:
        """Columns in memory.

        Args:
            columns: column name to values.
            schema: types; None is what the values say.
            cache_dir: where results computed from it are kept, see `Workspace`.
        """
        table = InMemoryTable(pa.table(dict(columns), schema=schema))
        return cls(table, [TableShard(table)], hash_value(table.table), Workspace(cache_dir))

    @property
    def num_rows(self) -> int:
        """Rows."""
        return self._table.num_rows

    @property
    def column_names(self) -> list[str]:
        """Names of the columns, in order."""
        return self._table.column_names

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""
        return self._table.schema

    @property
    def fingerprint(self) -> str:
        """Hash of what the rows are (32 hex digits where it was made here)."""
        return self._fingerprint

    @property
    def cache_files(self) -> list[dict[str, str]]:
        """The mapped files, as `[{"filename": path}, ...]`."""
        return [{"filename": path} for path in list_table_cache_files(self._table)]

    @property
    def table(self) -> Table:
        """The rows as a table."""
        return self._table

    @property
    def shards(self) -> tuple[TableShard, ...]:
        """The rows as inputs of what follows."""
        return self._shards

    def lazy(self) -> LazyDataset:
        """A plan that starts from these rows."""
        return LazyDataset(Plan(self._shards), self._workspace, Dataset.from_results)

    def map(
        self,
        function: Callable[..., Any],
        *,
        workers: Workers | int | None = None,
        num_proc: int | None = None,
        executor: str | None = None,
        **arguments: Any,
    ) -> Dataset:
        """`LazyDataset.map`, collected: a plan of one step.

        Args:
            function: see `LazyDataset.map`, as for `arguments`.
            workers: size of the pool on Ray.
            num_proc: the same, under the name that it has in Hugging Face `datasets`.
            executor: see `Engine`.
            arguments: those of `LazyDataset.map`.
        """
        return self.lazy().map(function, **arguments).collect(executor=executor, workers=_pool_size(workers, num_proc))

    def filter(
        self,
        function: Callable[..., Any],
        *,
        workers: Workers | int | None = None,
        num_proc: int | None = None,
        executor: str | None = None,
        **arguments: Any,
    ) -> Dataset:
        """`LazyDataset.filter`, collected; arguments as in `map`."""
        return (
            self.lazy().filter(function, **arguments).collect(executor=executor, workers=_pool_size(workers, num_proc))
        )

    def save_to_disk(
        self, path: str | os.PathLike[str], *, max_shard_bytes: int = 512_000_000, executor: str | None = None
    ) -> DatasetDirectory:
        """Write the rows as a dataset directory, which Hugging Face `datasets` opens too.

        Args:
            path: a new or empty directory, or one that holds an older data set.
            max_shard_bytes: size up to which shards are put together into one file.
            executor: see `Engine`.
        """
        with Engine(executor) as engine:
            return write_output(
                path, self._shards, self.schema, self.fingerprint, engine, self._workspace.store, max_shard_bytes
            ).directory

    def iter(self, batch_size: int, *, drop_last_batch: bool = False) -> Iterator[dict[str, list[Any]]]:
        """Iterate over batches, each a dict of column to list."""
        if batch_size < 1:
            raise ValueError(f"batch_size is {batch_size}; it must be at least 1")
        for start in range(0, self.num_rows, batch_size):
            batch = self._table.fast_slice(start, batch_size)
            if batch.num_rows == batch_size or not drop_last_batch:
                yield batch.to_pydict()

    def to_dict(self) -> dict[str, list[Any]]:
        """All rows in memory, as column name to list."""
        return self._table.to_pydict()

    def __len__(self) -> int:
        return self.num_rows

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for batch in self._table.iter_batches():
            yield from batch.to_pylist()

    @overload
    def __getitem__(self, key: SupportsIndex) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, key: slice | Sequence[int]) -> dict[str, list[Any]]: ...
    @overload
    def __getitem__(self, key: str) -> list[Any]: ...
    def __getitem__(self, key: Any) -> Any:
        """A row (int), rows as a dict of lists (slice, list, range or array of ints), or a column (str)."""
        if isinstance(key, str):
            if key not in self.column_names:
                raise KeyError(f"no column {key!r}; the columns are {self.column_names}")
            return self._table.column(key).to_pylist()
        if isinstance(key, slice):
            start, stop, step = key.indices(self.num_rows)
            if step == 1:
                return self._table.fast_slice(start, max(0, stop - start)).to_pydict()
            key = range(start, stop, step)
        if hasattr(key, "__index__"):
            return self._table.row(self._position(key))
        return self._gather(key)

    def __repr__(self) -> str:
        columns = ", ".join(f"{field.name}: {field.type}" for field in self.schema)
        return f"Dataset({self.num_rows} rows, {len(self._shards)} shards; {columns})"

    def _gather(self, key: Any) -> dict[str, list[Any]]:
        positions = np.asarray(key if hasattr(key, "__len__") else list(key))
        if positions.size == 0:
            return _to_dict(self._table.fast_slice(0, 0))
        if positions.ndim != 1 or not np.issubdtype(positions.dtype, np.integer):
            raise TypeError(f"rows are chosen by int, slice, or a list of ints; a column by its name; got {key!r}")
        outside = positions[(positions < -self.num_rows) | (positions >= self.num_rows)]
        if outside.size:
            raise IndexError(f"row {outside[0]} is out of range for {self.num_rows} rows")
        return _to_dict(self._table.fast_gather(np.where(positions < 0, positions + self.num_rows, positions)))

    def _position(self, key: SupportsIndex) -> int:
        position = operator.index(key)
        if not -self.num_rows <= position < self.num_rows:
            raise IndexError(f"row {position} is out of range for {self.num_rows} rows")
        return position % self.num_rows


def load_from_disk(path: str | os.PathLike[str], *, cache_dir: str | os.PathLike[str] | None = None) -> Dataset:
    """Open a dataset directory; its files are mapped when rows are touched.

    Args:
        path: what `save_to_disk` or a job wrote, ours or Hugging Face's.
        cache_dir: where results computed from it are kept.

    Raises:
        StoreError: it is not one complete data set.
    """
    return Dataset.from_directory(read_dataset_directory(path), Workspace(cache_dir))


def _to_dict(table: pa.Table) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = table.to_pydict()
    return columns


def _joined(shards: Sequence[TableShard]) -> Table:
    """All shards under one schema. One without rows says nothing about types, unless none has rows."""
    filled = [shard.table for shard in shards if shard.num_rows] or [shard.table for shard in shards]
    return concat_tables(filled) if filled else InMemoryTable(pa.table({}))


def _pool_size(workers: Workers | int | None, num_proc: int | None) -> Workers | int | None:
    if workers is not None and num_proc is not None:
        raise ValueError(f"workers={workers} and num_proc={num_proc} mean the same; give one of them")
    return num_proc if workers is None else workers
