"""The items of a column of tokens: what a `.bin` and `.idx` file are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from raydata_ext.errors import SchemaError

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Items:
    """The items of some rows.

    Attributes:
        first_row: number of the first of the rows in the data set.
        tokens: those of all items, one after the other, shape (tokens,).
        sizes: tokens of each item, int64 of shape (items,).
        rows: the first item of each row, int64 of shape (rows,).
        documents: the first item of each document that begins here, int64.
    """

    first_row: int
    tokens: NDArray[Any]
    sizes: NDArray[np.int64]
    rows: NDArray[np.int64]
    documents: NDArray[np.int64]

    @property
    def num_rows(self) -> int:
        """How many rows they are from."""
        return len(self.rows)

    @property
    def limits(self) -> tuple[int, int]:
        """The smallest and the largest token; zeros where there is none."""
        return (int(self.tokens.min()), int(self.tokens.max())) if len(self.tokens) else (0, 0)

    def cast(self, dtype: np.dtype[Any]) -> NDArray[Any]:
        """The tokens in another type.

        Raises:
            ValueError: a token does not fit it; the message gives row and token.
        """
        limits = np.iinfo(dtype)
        low, high = self.limits
        if low < limits.min or high > limits.max:
            position = int(np.flatnonzero((self.tokens < limits.min) | (self.tokens > limits.max))[0])
            item = int(np.searchsorted(np.cumsum(self.sizes), position, "right"))
            row = self.first_row + int(np.searchsorted(self.rows, item, "right")) - 1
            raise ValueError(
                f"row {row}: token {self.tokens[position]} does not fit {dtype.name} ({limits.min} to {limits.max});"
                " give a larger dtype, or neither dtype nor vocab_size to have one that fits"
            )
        return self.tokens.astype(dtype, copy=False)


@dataclass(frozen=True)
class TokenColumn:
    """A column of tokens, and where documents begin in it.

    Attributes:
        name: of the column: lists of integers, an item each, or lists of them, of which each is a document.
        documents: a column of bools, true where a document begins; None is at each row.
        nested: whether a row is a list of items.
    """

    name: str
    documents: str | None
    nested: bool

    @classmethod
    def of(cls, schema: pa.Schema, name: str, documents: str | None) -> TokenColumn:
        """Look at the types of a data set.

        Raises:
            ValueError: there is no such column, or both columns tell of documents.
            SchemaError: the type of a column is another.
        """
        for column in (name, *([] if documents is None else [documents])):
            if column not in schema.names:
                raise ValueError(f"there is no column {column!r}; the columns are {schema.names}")
        inner = _element(schema.field(name).type)
        nested = inner is not None and _element(inner) is not None
        tokens = _element(inner) if nested else inner
        if tokens is None or not pa.types.is_integer(tokens):
            raise SchemaError(
                f"column {name!r} is {schema.field(name).type}; expected are lists of integers, or lists of such lists"
            )
        if documents is not None and not pa.types.is_boolean(schema.field(documents).type):
            raise SchemaError(
                f"column {documents!r} is {schema.field(documents).type}; it must be bool, true where a document begins"
            )
        if documents is not None and nested:
            raise ValueError(f"each row of {name!r} is a document, since it is a list of lists; leave documents out")
        return cls(name, documents, nested)

    @property
    def columns(self) -> list[str]:
        """The columns that are read."""
        return [self.name] if self.documents is None else [self.name, self.documents]

    def items(self, batch: pa.RecordBatch, first_row: int) -> Items:
        """The items of a record batch.

        Args:
            batch: the rows.
            first_row: number of the first of them in the data set.

        Raises:
            ValueError: something is null, or the first row begins no document.
        """
        lists = batch.column(self.name)
        _require_values(lists, first_row, self.name)
        lengths = _lengths(lists)
        rows = np.arange(len(lists), dtype=np.int64)
        if self.nested:
            rows = np.cumsum(lengths) - lengths
            lists = lists.flatten()
            _require_values(lists, first_row, self.name, rows)
            lengths = _lengths(lists)
        values = lists.flatten()
        if values.null_count:
            _require_values(values, first_row, self.name, (np.cumsum(lengths) - lengths)[rows[rows < len(lengths)]])
        return Items(first_row, values.to_numpy(), lengths, rows, self._documents(batch, rows, first_row))

    def _documents(self, batch: pa.RecordBatch, rows: NDArray[np.int64], first_row: int) -> NDArray[np.int64]:
        if self.documents is None:
            return rows
        flags = batch.column(self.documents)
        _require_values(flags, first_row, self.documents)
        begins: NDArray[np.int64] = np.flatnonzero(flags.to_numpy(zero_copy_only=False))
        if first_row == 0 and (not len(begins) or begins[0]):
            raise ValueError(f"row 0 begins no document: {self.documents!r} is false there; it must be true")
        return begins


def _element(kind: pa.DataType) -> pa.DataType | None:
    """The type of what is in a list; None where it is no list."""
    lists = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return kind.value_type if any(is_list(kind) for is_list in lists) else None


def _lengths(lists: pa.Array) -> NDArray[np.int64]:
    lengths: NDArray[np.int64] = pc.list_value_length(lists).to_numpy().astype(np.int64)
    return lengths


def _require_values(array: pa.Array, first_row: int, column: str, begins: NDArray[np.int64] | None = None) -> None:
    """No value may be null; `begins` is the first value of each row, where these are more than rows."""
    if array.null_count:
        position = pc.index(array.is_null(), value=True).as_py()
        row = position if begins is None else int(np.searchsorted(begins, position, "right")) - 1
        raise ValueError(f"row {first_row + row}: column {column!r} is null; fill or filter it before the export")
