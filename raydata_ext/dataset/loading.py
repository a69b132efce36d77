"""From paths to data sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

from raydata_ext.dataset.dataset import Dataset
from raydata_ext.dataset.lazy_dataset import LazyDataset
from raydata_ext.dataset.sizes import parse_bytes
from raydata_ext.plan import Cast, Plan, Workspace
from raydata_ext.sources import FileShard, Paths, scan_files

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    import pyarrow as pa

    from raydata_ext.streaming import IterableDataset

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
        format: one of `sources.FORMATS`, such as `"jsonl"`; None is what the suffixes stand for.
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
        dataset = Dataset.from_files(files, cache_dir=lazy.workspace.path)
        if _is_mapped(dataset):
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


def _is_mapped(dataset: Dataset) -> bool:
    """Whether the rows lie in the mapped files as they are; compressed ones would be decompressed into memory."""
    batch = next(dataset.table.iter_batches(), None)
    buffers = [] if batch is None else [buffer for column in batch.columns for buffer in column.buffers()]
    return all(buffer.parent is not None for buffer in buffers if buffer is not None and buffer.size)


def from_ray_dataset(ray_dataset: Any, *, cache_dir: str | os.PathLike[str] | None = None) -> Dataset:
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
