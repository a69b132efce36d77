"""Data sets of what users have in memory or on disk."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa

from raydata_ext.dataset.base import Parts
from raydata_ext.dataset.exports import Exports
from raydata_ext.dataset.features import as_schema
from raydata_ext.dataset.formats import known_format
from raydata_ext.dataset.generator_shard import shards_of_generator
from raydata_ext.dataset.lazy_dataset import LazyDataset
from raydata_ext.dataset.lineage import Lineage
from raydata_ext.dataset.shards import KnownFile, joined
from raydata_ext.dataset.transforms import pool_size
from raydata_ext.fingerprint import hash_value
from raydata_ext.formatting import batch_from_columns, batch_from_rows
from raydata_ext.plan import Plan, TableShard, Workspace
from raydata_ext.store import open_tables
from raydata_ext.table import InMemoryTable, MemoryMappedTable, cast_table

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from typing_extensions import Self

    from raydata_ext.engine import Workers
    from raydata_ext.plan import CacheDir
    from raydata_ext.store import DatasetDirectory

    Types: TypeAlias = pa.Schema | Mapping[str, Any] | None


class Construction(Exports):
    """How a data set comes to be. `cache_dir` is where results computed from it are kept, see `Workspace`."""

    @classmethod
    def from_dict(
        cls, mapping: Mapping[str, Any], features: Types = None, *, schema: Types = None, cache_dir: CacheDir = None
    ) -> Self:
        """Columns in memory.

        Args:
            mapping: column name to values: a list, an array of numpy, torch, pandas or Arrow.
            features: types, as a schema or as Hugging Face's features; None is what the values say.
            schema: the same, by its other name.
            cache_dir: see the class.

        Raises:
            SchemaError: columns differ in length, or values do not go together or not with the schema.
        """
        target = _target(features, schema)
        batch = batch_from_columns(mapping, hints=target, num_rows=None if mapping else 0)
        return cls.from_arrow(pa.Table.from_batches([batch]), schema=target, cache_dir=cache_dir)

    @classmethod
    def from_list(
        cls,
        mapping: Sequence[Mapping[str, Any]],
        features: Types = None,
        *,
        schema: Types = None,
        cache_dir: CacheDir = None,
    ) -> Self:
        """Rows in memory. What a row lacks is null, whichever row it is.

        Args:
            mapping: rows as mappings of column to value.
            features: see `from_dict`, as for `schema`.
            schema: the same.
            cache_dir: see the class.
        """
        target = _target(features, schema)
        table = pa.Table.from_batches([batch_from_rows(mapping, target)])
        return cls.from_arrow(table, schema=target, cache_dir=cache_dir)

    @classmethod
    def from_pandas(
        cls,
        df: Any,
        features: Types = None,
        *,
        schema: Types = None,
        preserve_index: bool | None = None,
        cache_dir: CacheDir = None,
    ) -> Self:
        """The rows of a `pandas.DataFrame`.

        Args:
            df: the frame.
            features: see `from_dict`, as for `schema`.
            schema: the same.
            preserve_index: keep the index as a column; None keeps one that is more than a range.
            cache_dir: see the class.
        """
        table = pa.Table.from_pandas(df, preserve_index=preserve_index)
        return cls.from_arrow(table, schema=_target(features, schema), cache_dir=cache_dir)

    @classmethod
    def from_arrow(cls, table: Any, *, schema: Types = None, cache_dir: CacheDir = None) -> Self:
        """The rows of an Arrow table, uncopied.

        Args:
            table: a table or record batch, or what hands out Arrow data, such as a polars frame or another data set.
            schema: see `from_dict`.
            cache_dir: see the class.

        Raises:
            SchemaError: the table cannot be cast to the schema.
        """
        rows = table if isinstance(table, pa.Table) else pa.table(table)
        if schema is not None:
            rows = cast_table(rows, as_schema(schema), add_missing=True)
        return cls(Parts(InMemoryTable(rows), Lineage(hash_value(rows)), Workspace.of(cache_dir)))

    @classmethod
    def from_generator(
        cls,
        generator: Callable[..., Iterable[Mapping[str, Any]]],
        features: Types = None,
        *,
        gen_kwargs: Mapping[str, Any] | None = None,
        schema: Types = None,
        version: str | None = None,
        cache_dir: CacheDir = None,
        workers: Workers | int | None = None,
        num_proc: int | None = None,
        executor: str | None = None,
    ) -> Self:
        """The rows that a function gives, written to the cache; the next time, they are there already.

        Args:
            generator: returns an iterable of rows, the same for the same arguments.
            features: see `from_dict`, as for `schema`.
            gen_kwargs: its keyword arguments. Lists among them are lists of shards, all of one length: the function is
                called once for each, with lists of one item. Both count, by code and value, in the key of the result.
            schema: the same.
            version: stands for the code in the key of the result.
            cache_dir: see the class.
            workers: size of the pool on Ray.
            num_proc: the same, under the name that it has in Hugging Face `datasets`.
            executor: `"ray"` or `"inline"`; None is Ray where a pool is asked for and there are several shards.

        Raises:
            StepError: the function raised.
            SchemaError: rows do not go together.
        """
        target = _target(features, schema)
        shards = shards_of_generator(generator, gen_kwargs or {}, target, version)
        pool = pool_size(workers, num_proc)
        if executor is None and pool is not None and len(shards) > 1:
            executor = "ray"
        workspace = Workspace.of(cache_dir)
        plan = LazyDataset(Plan(shards), workspace, cls.from_results)  # type: ignore[arg-type]  # a `Dataset`, in the end
        return plan.collect(executor=executor, workers=pool)  # type: ignore[return-value]

    @classmethod
    def from_file(cls, filename: str | os.PathLike[str], *, cache_dir: CacheDir = None) -> Self:
        """An Arrow file, mapped as it is.

        Args:
            filename: an Arrow IPC stream or file, such as one of `cache_files`, ours or Hugging Face's.
            cache_dir: see the class.

        Raises:
            CorruptFileError: it is truncated, damaged or no Arrow file.
            FileNotFoundError: it is not there.
        """
        return cls.from_files([filename], cache_dir=cache_dir)

    @classmethod
    def from_files(cls, filenames: Iterable[str | os.PathLike[str]], *, cache_dir: CacheDir = None) -> Self:
        """Arrow files, mapped as they are, one after the other under one schema; see `from_file`.

        Raises:
            SchemaError: columns are of types that do not go together.
        """
        tables = [MemoryMappedTable.from_file(Path(filename)) for filename in filenames]
        lineage = Lineage(tuple(map(TableShard, tables)))
        return cls(Parts(joined(tables), lineage, Workspace.of(cache_dir)))

    @classmethod
    def from_directory(cls, directory: DatasetDirectory, workspace: Workspace) -> Self:
        """What `save_to_disk` wrote, ours or Hugging Face's; files are mapped when rows are touched.

        Args:
            directory: what was found.
            workspace: for what is computed from it, and for copies of files under a URL.
        """
        shards = open_tables(directory, workspace.copies)
        files = {shard.table.path: KnownFile(shard.checksum) for shard in shards}
        table = joined([shard.table for shard in shards])
        lineage = Lineage(directory.fingerprint)
        return cls(Parts(table, lineage, workspace, files, format=known_format(directory.format)))


def _target(features: Types, schema: Types) -> pa.Schema | None:
    """The types that were given, under either name."""
    if features is not None and schema is not None:
        raise ValueError("features and schema mean the same; give one of them")
    given = schema if features is None else features
    return None if given is None else as_schema(given)
