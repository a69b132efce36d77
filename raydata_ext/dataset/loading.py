"""From paths to data sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ByteSize, TypeAdapter

from raydata_ext.dataset.dataset import Dataset
from raydata_ext.dataset.lazy_dataset import LazyDataset
from raydata_ext.plan import Cast, Plan, Workspace
from raydata_ext.sources import Paths, scan_files

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    import pyarrow as pa

DEFAULT_SHARD_BYTES = "256MB"


def scan_dataset(
    paths: Paths,
    *,
    format: str | None = None,  # noqa: A002 - the name that users of data frames know
    columns: Sequence[str] | None = None,
    schema: pa.Schema | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
    max_shard_bytes: int | str = DEFAULT_SHARD_BYTES,
    exclude: Sequence[str] = (),
    **reader_options: object,
) -> LazyDataset:
    """Files as a plan; nothing is read but listings, and footers of files that are to be split.

    Args:
        paths: paths, directories or glob patterns, local or any URL that fsspec knows.
        format: `"text"`, `"jsonl"`, `"parquet"` or `"arrow"`; None is what the suffixes stand for.
        columns: the columns to read; None is all.
        schema: schema of the rows; None is what the files say, unified over all of them.
        cache_dir: where results are kept, see `Workspace`.
        max_shard_bytes: the largest input of a shard, as a number of bytes or as in `"256MB"`. Larger files are split
            where the format allows it, smaller ones are put together.
        exclude: shell patterns of paths to leave out.
        reader_options: options of the format, see its reader.

    Raises:
        NoMatchError: a path or pattern matches no file.
        ValueError: format or options are not valid.
    """
    source = scan_files(
        paths,
        format=format,
        columns=columns,
        exclude=exclude,
        max_shard_bytes=parse_bytes(max_shard_bytes),
        **reader_options,
    )
    steps = () if schema is None else (Cast(schema),)
    return LazyDataset(Plan(source.shards, steps), Workspace(cache_dir), Dataset.from_results)


def load_dataset(paths: Paths, *, executor: str | None = None, **arguments: object) -> Dataset:
    """`scan_dataset`, collected: the files as Arrow shards in the cache.

    Args:
        paths: see `scan_dataset`, as for `arguments`.
        executor: see `Engine`.
        arguments: those of `scan_dataset`.
    """
    return scan_dataset(paths, **arguments).collect(executor=executor)  # type: ignore[arg-type]


def parse_bytes(value: int | str) -> int:
    """A number of bytes, given as such or as in `"256MB"` (10**6) or `"256MiB"` (2**20).

    Raises:
        ValueError: it is neither.
    """
    return int(TypeAdapter(ByteSize).validate_python(value))
