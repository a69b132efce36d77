"""From paths to data sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

from raydata_ext.dataset.dataset import Dataset
from raydata_ext.dataset.features import as_schema
from raydata_ext.dataset.lazy_dataset import LazyDataset
from raydata_ext.dataset.sizes import parse_bytes
from raydata_ext.plan import Cast, Plan, Workspace
from raydata_ext.sources import FileShard, Paths, scan_files
from raydata_ext.streaming.arrow_files import is_mapped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from raydata_ext.plan import CacheDir
    from raydata_ext.remote import StorageOptions
    from raydata_ext.streaming import IterableDataset

DEFAULT_SHARD_BYTES = "256MB"


def scan_dataset(
    paths: Paths,
    *,
    format: str | None = None,  # noqa: A002 - the name that users of data frames know
    columns: Sequence[str] | None = None,
    schema: pa.Schema | Mapping[str, Any] | None = None,
    cache_dir: CacheDir = None,
    storage_options: StorageOptions | None = None,
    max_shard_bytes: int | str = DEFAULT_SHARD_BYTES,
    exclude: Sequence[str] = (),
    **reader_options: object,
) -> LazyDataset:
    """Files as a plan; nothing is read but listings, and footers of files that are to be split.

    Args:
        paths: paths, directories or glob patterns, local or any URL that fsspec knows.
        format: one of `sources.FORMATS`, such as `"jsonl"`; None is what the suffixes stand for.
        columns: the columns to read; None is all.
        schema: schema of the rows, or types by name, as in `{"id": "int64", "tags": ["string"]}`; None is what the
            files say, unified over all of them.
        cache_dir: where results are kept, see `Workspace`.
        storage_options: further arguments of the file systems of URLs, of `paths` and `cache_dir` alike, such as `key`,
            `secret` and `endpoint_url`; by protocol where these differ, as in `{"s3": {"endpoint_url": ...}}`. They
            are no part of keys and reports. None is what the environment says, as each file system understands it.
        max_shard_bytes: the largest input of a shard, as a number of bytes or as in `"256MB"`. Larger files are split
            where the format allows it, smaller ones are put together.
        exclude: shell patterns of paths to leave out.
        reader_options: options of the format, see its reader.

    Raises:
        NoMatchError: a path or pattern matches no file.
        ValueError: format or options are not valid.
    """
    workspace = Workspace.of(cache_dir, storage_options)
    source = scan_files(
        paths,
        format=format,
        columns=columns,
        exclude=exclude,
        max_shard_bytes=parse_bytes(max_shard_bytes),
        storage_options=workspace.storage_options,
        **reader_options,
    )
    steps = () if schema is None else (Cast(as_schema(schema)),)
    return LazyDataset(Plan(source.shards, steps), workspace, Dataset.from_results)


@overload
def load_dataset(
    paths: Paths, *, executor: str | None = None, streaming: Literal[False] = False, **arguments: Any
) -> Dataset: ...
@overload
def load_dataset(
    paths: Paths, *, executor: str | None = None, streaming: Literal[True], **arguments: Any
) -> IterableDataset: ...
def load_dataset(
    paths: Paths, *, executor: str | None = None, streaming: bool = False, **arguments: Any
) -> Dataset | IterableDataset:
    """`scan_dataset`, collected: the files as Arrow shards in the cache; or streamed, with nothing written.

    Local Arrow files are mapped where they are, unless they are compressed or a schema is asked for.

    Args:
        paths: see `scan_dataset`, as for `arguments`.
        executor: see `Engine`.
        streaming: give an `IterableDataset`, which reads the files as its rows are asked for.
        arguments: those of `scan_dataset`.

    Raises:
        NoMatchError: a path or pattern matches no file.
        ReadError: a file cannot be read as what it should be; `CorruptFileError` where it is an Arrow file.
    """
    lazy = scan_dataset(paths, **arguments)
    if streaming:
        return lazy.stream()
    files = _arrow_files(lazy.plan)
    if files:
        dataset = Dataset.from_files(files, cache_dir=lazy.workspace)
        if is_mapped(dataset.table):
            columns = arguments.get("columns")
            return dataset if columns is None else dataset.select_columns(columns)
    return lazy.collect(executor=executor)


def _arrow_files(plan: Plan) -> list[str]:
    """The files of a plan where it does nothing but read local Arrow files; else none."""
    shards = [shard for shard in plan.shards if isinstance(shard, FileShard) and shard.reader.format == "arrow"]
    if plan.steps or len(shards) < len(plan.shards):
        return []
    files = [piece.file for shard in shards for piece in shard.pieces]
    return list(dict.fromkeys(file.path for file in files)) if all(file.is_local for file in files) else []


def from_ray_dataset(ray_dataset: Any, *, cache_dir: CacheDir = None) -> Dataset:
    """Run a `ray.data.Dataset` and keep its rows, in their order, as Arrow shards in the cache.

    Tasks on Ray write the files; the driver is given receipts. Tensors become lists.

    Args:
        ray_dataset: the pipeline.
        cache_dir: where the rows are kept, see `Workspace`; all nodes must see it.

    Raises:
        SchemaError: types of a column do not go together, or are Python objects.
    """
    from raydata_ext.dataset.ray_data import write_blocks  # noqa: PLC0415 - `ray.data` takes a second to import

    return write_blocks(ray_dataset, cache_dir)
