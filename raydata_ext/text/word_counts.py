"""Counting the words of a corpus: one table of counts a shard, made by the engine, and their sum.

Lines and words are the same however the corpus is cut, and sums do not depend on their order, so neither the size of
shards nor the number of workers changes the result.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from raydata_ext.dataset import LazyDataset, scan_dataset
from raydata_ext.text.tokenizer import tokenize_line

if TYPE_CHECKING:
    import os

    from raydata_ext.dataset import Dataset
    from raydata_ext.engine import Workers
    from raydata_ext.sources import Paths

Tokenizer = Callable[[str], Sequence[str]]

COUNTS = pa.schema([("word", pa.string()), ("count", pa.int64())])
"""Words, sorted, and how often each was seen; the null word is the end of a line."""
SHARD_BYTES = "64MB"
LINES_AT_A_TIME = 10_000
ROWS_BEFORE_SUM = 8_000_000


def count_words(
    lines: Paths | LazyDataset,
    *,
    tokenize: Tokenizer = tokenize_line,
    column: str = "text",
    cache_dir: str | os.PathLike[str] | None = None,
    executor: str | None = None,
    workers: Workers | int | None = None,
) -> pa.Table:
    r"""Count the words of text files, or of a column of a plan.

    Args:
        lines: paths of text files (UTF-8, lines end at `\n` bytes alone), or a plan with a column of strings.
        tokenize: gives the words of a line.
        column: the column, where `lines` is a plan.
        cache_dir: where the counts of shards are kept, where `lines` are paths.
        executor: see `LazyDataset.collect`, as for `workers`.
        workers: size of the pool on Ray.

    Returns:
        A table of schema `COUNTS`.
    """
    if not isinstance(lines, LazyDataset):
        lines, column = scan_dataset(lines, format="text", cache_dir=cache_dir, max_shard_bytes=SHARD_BYTES), "text"
    counted = shard_counts(lines, tokenize=tokenize, column=column).collect(executor=executor, workers=workers)
    return total_counts(counted)


def shard_counts(lines: LazyDataset, *, tokenize: Tokenizer = tokenize_line, column: str = "text") -> LazyDataset:
    """Plan the counting: a table of schema `COUNTS` a shard.

    Args:
        lines: a plan with a column of strings.
        tokenize: gives the words of a line.
        column: the column.
    """
    return lines.map(
        CountShard,
        batched=True,
        batch_size=None,
        batch_format="arrow",
        schema=COUNTS,
        constructor_kwargs={"tokenize": tokenize, "column": column},
        desc="count words",
    )


def total_counts(counted: Dataset) -> pa.Table:
    """Add the counts of shards up; some millions of rows at a time, so that memory holds the vocabulary and not all
    shards' own.

    Args:
        counted: what `shard_counts` gave.

    Returns:
        A table of schema `COUNTS`.
    """
    total = COUNTS.empty_table()
    waiting: list[pa.RecordBatch] = []
    rows = 0
    for part in counted.table.iter_batches():
        waiting.append(part)
        rows += part.num_rows
        if rows > ROWS_BEFORE_SUM:
            total, waiting, rows = _sum(total, waiting), [], 0
    return _sum(total, waiting).sort_by("word")


class CountShard:
    """The step that counts one shard.

    Args:
        tokenize: gives the words of a line.
        column: name of the column of lines.
    """

    def __init__(self, tokenize: Tokenizer, column: str) -> None:
        self._tokenize = tokenize
        self._column = column

    def __call__(self, shard: pa.Table) -> pa.Table:
        """Give the counts of all rows of a shard."""
        counts: Counter[str] = Counter()
        for batch in shard.select([self._column]).to_batches(max_chunksize=LINES_AT_A_TIME):
            counts.update(itertools.chain.from_iterable(map(self._tokenize, batch.column(0).to_pylist())))
        words = sorted(counts)
        numbers = [counts[word] for word in words]
        return pa.table([pa.array([*words, None], pa.string()), pa.array([*numbers, shard.num_rows])], schema=COUNTS)


def _sum(total: pa.Table, parts: list[pa.RecordBatch]) -> pa.Table:
    joined = pa.concat_tables([total, pa.Table.from_batches(parts, COUNTS)])
    summed = joined.group_by("word").aggregate([("count", "sum")])
    return pa.table([summed["word"], summed["count_sum"]], schema=COUNTS)
