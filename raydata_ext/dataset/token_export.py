"""Writing a column of tokens as `.bin` and `.idx`, by many workers at once.

The rows are looked at twice. First their tokens are counted, from which follows where each shard's part of both files
begins. Then the files are made in their full size, and each worker writes its parts in place. So nothing is put
together afterwards, there is nothing but a few numbers a shard on the driver, and the files are the same to the byte
for any number of workers.

An object store takes no parts in place: under a URL, a pair of files is written by one worker.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from itertools import accumulate, chain, islice
from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import override

from raydata_ext.dataset.token_files import Extent, TokenFiles
from raydata_ext.engine import ReadingTask, batches_of
from raydata_ext.redaction import readable
from raydata_ext.sources.index_layout import IndexLayout, Layout
from raydata_ext.sources.token_types import best_fitting_int_dtype, code, little_endian
from raydata_ext.store.directory_files import LocalDirectory

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa
    from numpy.typing import DTypeLike

    from raydata_ext.dataset.export_run import ExportRun
    from raydata_ext.dataset.token_items import Items, TokenColumn
    from raydata_ext.engine import Worker
    from raydata_ext.plan import InputShard
    from raydata_ext.store.directory_files import DirectoryFiles

_MEGATRON_CODES = range(1, 9)
"""Types that Megatron knows; the others are fairseq's alone."""


@dataclass(frozen=True)
class TokenFormat:
    """The format of the files, and what was asked for as the type of tokens.

    Attributes:
        layout: whose index it is.
        dtype: the type itself.
        vocab_size: symbols of the vocabulary. With neither, the type is the smallest that fits all tokens.

    Raises:
        ValueError: both are given, or readers do not know the type.
    """

    layout: Layout
    dtype: DTypeLike | None
    vocab_size: int | None

    def __post_init__(self) -> None:
        if self.dtype is not None and self.vocab_size is not None:
            raise ValueError("both dtype and vocab_size are given; give one of them")
        if self.dtype is not None:
            dtype = np.dtype(self.dtype)
            if dtype.kind not in "iu" or (self.layout == "megatron" and code(dtype) not in _MEGATRON_CODES):
                raise ValueError(
                    f"dtype is {dtype}, of which {self.layout} has no tokens; int32 is known to all readers"
                )

    @property
    def is_open(self) -> bool:
        """Whether the tokens decide on their type."""
        return self.dtype is None and self.vocab_size is None

    def token_type(self, low: int, high: int) -> np.dtype[Any]:
        """The type for tokens within these limits."""
        if self.dtype is not None:
            return little_endian(self.dtype)
        if self.vocab_size is not None:
            low, high = 0, self.vocab_size - 1
        int32 = np.iinfo(np.int32)
        if low < int32.min or high > int32.max:
            return little_endian(np.int64)
        return little_endian(best_fitting_int_dtype(high + 1 if low >= 0 else None))


@dataclass(frozen=True, eq=False)
class Part:
    """Rows of a shard, as items.

    Attributes:
        shard: the rows.
        schema: of the rows.
        column: the tokens in them.
        first_row: number of the first of them in the data set.
    """

    shard: InputShard
    schema: pa.Schema
    column: TokenColumn
    first_row: int

    def read(self) -> Iterator[Items]:
        """The items, batch by batch."""
        row = self.first_row
        for batch in batches_of([self.shard], self.schema):
            yield self.column.items(batch, row)
            row += batch.num_rows


@dataclass(frozen=True, eq=False)
class CountTask(ReadingTask[Extent]):
    """Says how much there is in a part.

    Attributes:
        part: the part.
        with_limits: whether also the values of tokens are looked at.
    """

    part: Part
    with_limits: bool

    @property
    def label(self) -> str:
        """The part as messages name it."""
        return self.part.shard.label

    @property
    @override
    def inputs(self) -> Sequence[InputShard]:
        return (self.part.shard,)

    def run(self, worker: Worker) -> Extent:  # noqa: ARG002 - every task is given its worker
        """Count it."""
        extent = Extent()
        for items in self.part.read():
            limits = items.limits if self.with_limits else (0, 0)
            counts = (items.num_rows, len(items.sizes), len(items.tokens), len(items.documents))
            extent = extent.then(Extent(*counts, *limits))
        return extent


@dataclass(frozen=True, eq=False)
class PartsTask(ReadingTask[int]):
    """Writes some parts of a pair of files, or all of it.

    Attributes:
        files: the pair.
        parts: the parts, and what is before each in the files.
        places: the temporary files, which are there; None where this task makes and publishes them.
    """

    files: TokenFiles
    parts: tuple[tuple[Part, Extent], ...]
    places: tuple[Path, Path] | None

    @property
    def label(self) -> str:
        """The files as messages name them."""
        return readable(self.files.prefix)

    @property
    @override
    def inputs(self) -> Sequence[InputShard]:
        return [part.shard for part, _ in self.parts]

    def run(self, worker: Worker) -> int:  # noqa: ARG002 - every task is given its worker
        """Write the parts, and return how many rows they have."""
        if self.places is not None:
            return self._write(self.places)
        with self.files.made() as places:
            return self._write(places)

    def _write(self, places: tuple[Path, Path]) -> int:
        return sum(self.files.write(part.read(), before, places) for part, before in self.parts)


def write_token_files(
    directory: DirectoryFiles,
    names: Sequence[str],
    groups: Sequence[Sequence[InputShard]],
    schema: pa.Schema,
    column: TokenColumn,
    format_: TokenFormat,
    run: ExportRun,
) -> list[str]:
    """Write each group of shards as a pair of files.

    Args:
        directory: where they go; it is there.
        names: of the pairs, without suffix.
        groups: the rows of each pair.
        schema: of the rows.
        column: the tokens in them.
        format_: of the files.
        run: does the work.

    Returns:
        The prefixes, as absolute paths or URLs.

    Raises:
        ValueError: a token does not fit the type, or something is null; the message names the row.
    """
    parts: list[Part] = []
    row = 0
    for shard in chain.from_iterable(groups):
        parts.append(Part(shard, schema, column, row))
        row += shard.num_rows or 0  # known, since these are rows of tables
    counting = [CountTask(part, format_.is_open) for part in parts]
    extents = list(run.in_order("counting", counting, lambda extent: extent.rows))
    total = Extent()
    for extent in extents:
        total = total.then(extent)
    dtype = format_.token_type(total.low, total.high)
    pairs: list[tuple[TokenFiles, tuple[tuple[Part, Extent], ...]]] = []
    counted = zip(parts, extents, strict=True)
    for name, group in zip(names, groups, strict=True):
        own = list(islice(counted, len(group)))
        *before, whole = accumulate((extent for _, extent in own), Extent.then, initial=Extent())
        layout = IndexLayout(whole.items, whole.documents + 1 if format_.layout == "megatron" else None)
        files = TokenFiles(directory, name, layout, whole.tokens, dtype)
        pairs.append((files, tuple(zip((part for part, _ in own), before, strict=True))))
    _write_pairs(pairs, run)
    return [files.prefix for files, _ in pairs]


def _write_pairs(
    pairs: Sequence[tuple[TokenFiles, tuple[tuple[Part, Extent], ...]]],
    run: ExportRun,
) -> None:
    with ExitStack() as stack:
        tasks: list[PartsTask] = []
        for files, parts in pairs:
            if isinstance(files.directory, LocalDirectory):
                places = stack.enter_context(files.made())
                tasks += [PartsTask(files, (part,), places) for part in parts]
            else:
                tasks.append(PartsTask(files, parts, None))
        for _ in run.in_order("writing", tasks, int):
            pass  # a task that fails raises
