"""The tokens of a data set: a column of lists of integers in mapped files, read in place."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

import numpy as np
import pyarrow as pa
from typing_extensions import override

from raydata_ext.errors import SchemaError
from raydata_ext.table import Table
from raydata_ext.text.contract.fairseq_dataset import FairseqDataset
from raydata_ext.text.contract.sizes import position

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from raydata_ext.dataset import Dataset
    from raydata_ext.text.contract.sizes import IntArray, Rows


class ArrowTokenDataset(FairseqDataset):
    """One column of a data set as token items, each a view of the mapped file, not writable.

    Files are mapped when a row or the sizes are first asked for. What travels to another process
    is paths, not rows.

    Args:
        dataset: the data set, or a table.
        column: a column of lists of integers.

    Raises:
        KeyError: there is no such column.
        SchemaError: it holds something else.
    """

    def __init__(self, dataset: Dataset | Table, column: str = "input_ids") -> None:
        table = dataset if isinstance(dataset, Table) else dataset.table
        if column not in table.column_names:
            raise KeyError(f"no column {column!r}; the columns are {table.column_names}")
        self._table = table.select([column])
        self._column = column
        found = self._table.schema.field(column).type
        if not (_is_list(found) and pa.types.is_integer(found.value_type)):
            raise SchemaError(f"column {column!r} is {found}; tokens are lists of integers")

    @override
    def __len__(self) -> int:
        return self._table.num_rows

    @override
    def __getitem__(self, index: SupportsIndex) -> NDArray[np.integer[Any]]:
        row = position(index, self)
        number = bisect_right(self._starts, row) - 1
        chunk = self._chunks[number]
        place = row - self._starts[number]
        return chunk.values[chunk.offsets[place] : chunk.offsets[place + 1]]

    @override
    def sizes_at(self, rows: Rows) -> IntArray:
        return self._lengths[rows]

    @cached_property
    def _chunks(self) -> list[_Chunk]:
        chunks = []
        start = 0
        for batch in self._table.iter_batches():
            if batch.num_rows:
                chunks.append(_chunk(batch.column(0), self._column, start))
            start += batch.num_rows
        return chunks

    @cached_property
    def _starts(self) -> list[int]:
        """First row of each chunk, and the number of all rows."""
        return list(accumulate((len(chunk.offsets) - 1 for chunk in self._chunks), initial=0))

    @cached_property
    def _lengths(self) -> IntArray:
        """Lengths of all rows, of the type of the offsets: 4 bytes, for large lists 8."""
        lengths = np.empty(len(self), np.result_type(np.int32, *{chunk.offsets.dtype for chunk in self._chunks}))
        for start, chunk in zip(self._starts, self._chunks, strict=False):
            np.subtract(chunk.offsets[1:], chunk.offsets[:-1], out=lengths[start : start + len(chunk.offsets) - 1])
        return lengths

    def __getstate__(self) -> dict[str, Any]:
        views = {"_chunks", "_starts", "_lengths"}  # of mapped files, which are mapped anew
        return {name: value for name, value in self.__dict__.items() if name not in views}


class _Chunk(NamedTuple):
    """The rows of one record batch, as views of its buffers.

    Args:
        values: tokens of all rows, shape (tokens,).
        offsets: where rows begin and end in it, shape (rows + 1,).
    """

    values: NDArray[np.integer[Any]]
    offsets: NDArray[np.integer[Any]]


def _is_list(found: pa.DataType) -> bool:
    types = pa.types
    return bool(types.is_list(found) or types.is_large_list(found) or types.is_fixed_size_list(found))


def _chunk(lists: pa.Array, column: str, start: int) -> _Chunk:
    """Return the rows of an array of lists.

    Args:
        lists: the array.
        column: its name, for the message.
        start: the number of its first row, for the message.

    Raises:
        SchemaError: a row or a token is null.
    """
    if lists.null_count:
        row = start + np.flatnonzero(lists.is_null().to_numpy(zero_copy_only=False))[0]
        raise SchemaError(f"column {column!r}, row {row}: it is null, not a list of tokens; filter such rows")
    if pa.types.is_fixed_size_list(lists.type):
        width = lists.type.list_size
        offsets = np.arange(lists.offset * width, (lists.offset + len(lists)) * width + 1, max(width, 1))
        offsets = offsets if width else np.zeros(len(lists) + 1, np.int64)
    else:
        offsets = lists.offsets.to_numpy()
    tokens = lists.values
    if tokens.null_count:
        nulls = np.flatnonzero(tokens.is_null().to_numpy(zero_copy_only=False))
        nulls = nulls[(nulls >= offsets[0]) & (nulls < offsets[-1])]
        if len(nulls):
            row = start + np.searchsorted(offsets, nulls[0], side="right") - 1
            raise SchemaError(f"column {column!r}, row {row}: a token is null; filter such rows")
        tokens = tokens.fill_null(0)
    return _Chunk(tokens.to_numpy(), offsets)
