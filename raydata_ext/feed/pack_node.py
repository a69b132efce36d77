"""Packing on the way: a stream of documents as a stream of sequences, with a position exact to the token."""

from __future__ import annotations

from collections import deque
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from typing_extensions import override

from raydata_ext.errors import SchemaError
from raydata_ext.feed.packing import Pack, PackMode, pack
from raydata_ext.streaming.nodes.base import Bases, Cursor, State, StatelessCursor, Wrapper
from raydata_ext.streaming.nodes.gather import open_rows
from raydata_ext.streaming.row_reader import RowReader
from raydata_ext.streaming.rows import BATCH_ROWS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from raydata_ext.streaming import IterableDataset


@dataclass(frozen=True, eq=False)
class PackSequences(Wrapper):
    """Documents laid into sequences.

    In mode `"concat"` they are laid end to end over the whole stream; in mode `"best_fit"` each thousand documents are
    packed for themselves.

    Attributes:
        pack: how.
    """

    pack: Pack

    @property
    @override
    def settings(self) -> Mapping[str, Any]:
        return asdict(self.pack)

    @override
    def open(self, bases: Bases | None) -> Cursor:
        reader = RowReader(open_rows(self.child, None))
        return _EndToEnd(self.pack, reader) if self.pack.mode == "concat" else _FittedCursor(self.pack, reader)


def pack_stream(
    stream: IterableDataset,
    seq_length: int,
    *,
    mode: PackMode = "concat",
    pad: int = 0,
    document_ids: bool = True,
    column: str = "input_ids",
) -> IterableDataset:
    """A stream of sequences; arguments as in `pack`. Other columns are left out.

    Sequences are made of documents as they come, and so such a stream has one lane: each rank reads all documents.
    For large runs pack once, with `LazyDataset.map(pack(...), batched=True)`.
    """
    made = pack(seq_length, mode=mode, pad=pad, document_ids=document_ids, column=column)
    return stream.over(PackSequences(stream.node, made))


@dataclass
class _Documents:
    """Documents that were read together.

    Attributes:
        before: position of the reader before they were read.
        tokens: of all of them.
        ends: where each ends; int64, shape (documents,).
        done: tokens that are in sequences already.
    """

    before: State
    tokens: NDArray[Any]
    ends: NDArray[np.int64]
    done: int = 0


class _EndToEnd(Cursor):
    """Documents end to end; what does not fill a sequence yet waits.

    Args:
        pack: how.
        rows: the documents.
    """

    def __init__(self, pack: Pack, rows: RowReader) -> None:
        self._pack = pack
        self._input = rows
        self._waiting: deque[_Documents] = deque()
        self._done = 0  # tokens of the documents to be read next that are in sequences already

    @override
    def next(self) -> pa.RecordBatch | None:
        length, ended = self._pack.seq_length, False
        while self._tokens_waiting() < length and not ended:
            ended = not self._read()
        tokens = self._tokens_waiting()
        count = tokens if ended else tokens // length * length
        return _batch(self._pack, *self._taken(count)) if count else None

    @override
    def state(self) -> State:
        if not self._waiting:
            return {"at": self._input.state(), "done": self._done}
        return {"at": self._waiting[0].before, "done": self._waiting[0].done}

    @override
    def load(self, state: State) -> None:
        self._input.load(state["at"])
        self._waiting.clear()
        self._done = state["done"]

    def _read(self) -> bool:
        before = self._input.state()
        rows = self._input.read(BATCH_ROWS)
        if rows is None:
            return False
        tokens, lengths = _documents(rows, self._pack.column)
        self._waiting.append(_Documents(before, tokens, np.cumsum(lengths), self._done))
        self._done = 0
        return True

    def _tokens_waiting(self) -> int:
        return sum(len(read.tokens) - read.done for read in self._waiting)

    def _taken(self, count: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Take so many tokens: they, and the lengths of the documents, or parts of such, that they are of."""
        tokens, lengths = [], []
        while count:
            read = self._waiting[0]
            end = min(read.done + count, len(read.tokens))
            inner = read.ends[(read.ends > read.done) & (read.ends < end)]
            lengths.append(np.diff(np.concatenate([[read.done], inner, [end]])))
            tokens.append(read.tokens[read.done : end])
            count -= end - read.done
            read.done = end
            if end == len(read.tokens):
                self._waiting.popleft()
        return np.concatenate(tokens), np.concatenate(lengths)


class _FittedCursor(StatelessCursor):
    """Some documents after others, each packed for themselves.

    Args:
        pack: how.
        rows: the documents.
    """

    def __init__(self, pack: Pack, rows: RowReader) -> None:
        super().__init__(rows)
        self._pack = pack

    @override
    def next(self) -> pa.RecordBatch | None:
        rows = self._input.read(BATCH_ROWS)
        return None if rows is None else _batch(self._pack, *_documents(rows, self._pack.column))


def _documents(rows: pa.RecordBatch, column: str) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """All tokens of a column of lists, and the number of tokens of each row; a null row is an empty document."""
    if column not in rows.schema.names:
        raise SchemaError(f"there is no column {column!r} to pack; the columns are {rows.schema.names}")
    lists = rows.column(column)
    if not (pa.types.is_list(lists.type) or pa.types.is_large_list(lists.type)):
        raise SchemaError(f"column {column!r} is {lists.type}; to be packed it must be a list of integers")
    lengths = lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    tokens = lists.flatten().to_numpy(zero_copy_only=False)
    return tokens if len(tokens) else tokens.astype(np.int32), lengths  # empty lists may be of no type


def _batch(pack: Pack, tokens: NDArray[Any], lengths: NDArray[np.int64]) -> pa.RecordBatch:
    columns = {}
    for name, values in pack.sequences(tokens, lengths).items():
        offsets = np.arange(0, values.size + 1, pack.seq_length, dtype=np.int64)
        columns[name] = pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(values.reshape(-1)))
    return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))
