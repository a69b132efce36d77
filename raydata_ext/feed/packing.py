"""Documents laid into sequences of equal length, for language models.

`"concat"` lays them end to end and cuts every `seq_length` tokens. `"best_fit"` cuts only documents longer than a
sequence, and puts each piece, the longest first, into the fullest sequence that it fits in (Ding et al., "Fewer
Truncations Improve Language Modeling", ICML 2024).
"""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from raydata_ext.errors import SchemaError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

PackMode: TypeAlias = Literal["concat", "best_fit"]

DOCUMENT_IDS = "document_ids"


@dataclass(frozen=True)
class Pack:
    """Turns a batch of documents into a batch of sequences; see `pack`, which makes it.

    A step of a job file names it as `function: "raydata_ext.feed:Pack"`, and its attributes as `constructor_kwargs`.

    Attributes:
        seq_length: tokens of a sequence.
        mode: how documents are laid.
        pad: token that fills up a sequence.
        document_ids: whether to give the number of the document of each token, too.
        column: the column of tokens.
    """

    seq_length: int
    mode: PackMode = "concat"
    pad: int = 0
    document_ids: bool = True
    column: str = "input_ids"

    def __post_init__(self) -> None:
        if self.seq_length < 1:
            raise ValueError(f"seq_length is {self.seq_length}; it must be at least 1")
        if self.mode not in get_args(PackMode):
            raise ValueError(f"mode is {self.mode!r}; choose one of {get_args(PackMode)}")

    def __call__(self, batch: Mapping[str, Sequence[Any]]) -> dict[str, list[NDArray[Any]]]:
        """Pack the documents of a batch; only the last sequences are filled up."""
        documents = [np.asarray(() if document is None else document) for document in batch[self.column]]
        lengths = np.array([len(document) for document in documents], np.int64)
        dtypes = {document.dtype for document in documents if len(document)}
        dtype = np.result_type(*dtypes) if dtypes else np.dtype(np.int32)
        tokens = np.concatenate([np.empty(0, dtype), *documents]).astype(dtype)
        return {name: list(values) for name, values in self.sequences(tokens, lengths).items()}

    def sequences(self, tokens: NDArray[Any], lengths: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
        """Pack documents.

        Args:
            tokens: of all documents; shape (tokens,).
            lengths: of each document; int64, shape (documents,).

        Returns:
            The sequences, shape (sequences, seq_length), in the type of the tokens, and, if asked for, the number of
            the document of each token, from 1 on in each sequence, 0 for padding; int32, the same shape.

        Raises:
            SchemaError: tokens are not integers, or the type of the tokens cannot hold `pad`.
        """
        self._require_integers(tokens.dtype)
        places, count = self._concatenated(lengths) if self.mode == "concat" else self._fitted(lengths)
        packed = np.full(count * self.seq_length, self.pad, tokens.dtype)
        packed[places] = tokens
        found = {self.column: packed.reshape(count, self.seq_length)}
        if self.document_ids:
            numbers = np.zeros(count * self.seq_length, np.int64)
            numbers[places] = np.repeat(np.arange(1, len(lengths) + 1), lengths)
            found[DOCUMENT_IDS] = _numbered_from_one(numbers.reshape(count, self.seq_length))
        return found

    def _require_integers(self, dtype: np.dtype[Any]) -> None:
        if dtype.kind not in "iu":
            raise SchemaError(
                f"the tokens in column {self.column!r} are {dtype} to numpy; they must be integers without nulls"
            )
        if not np.iinfo(dtype).min <= self.pad <= np.iinfo(dtype).max:
            raise SchemaError(f"pad is {self.pad}, which tokens of type {dtype} cannot be; cast column {self.column!r}")

    def _concatenated(self, lengths: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
        total = int(lengths.sum())
        return np.arange(total), -(-total // self.seq_length)

    def _fitted(self, lengths: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
        """Where each token goes, and how many sequences there are."""
        pieces: list[tuple[int, int]] = []  # length of each piece, and its first token
        first = 0
        for length in lengths.tolist():
            pieces += [(min(self.seq_length, length - at), first + at) for at in range(0, length, self.seq_length)]
            first += length
        room: list[tuple[int, int]] = []  # free places of each sequence that has some, and its number; ascending
        count = 0
        places = np.empty(first, np.int64)
        for length, start in sorted(pieces, key=lambda piece: (-piece[0], piece[1])):
            found = bisect_left(room, (length, -1))
            if found == len(room):
                free, number = self.seq_length, count
                count += 1
            else:
                free, number = room.pop(found)
            begin = number * self.seq_length + self.seq_length - free
            places[start : start + length] = np.arange(begin, begin + length)
            if free > length:
                insort(room, (free - length, number))
        return places, count


def pack(
    seq_length: int,
    *,
    mode: PackMode = "concat",
    pad: int = 0,
    document_ids: bool = True,
    column: str = "input_ids",
) -> Pack:
    """A function for `map(..., batched=True, remove_columns=...)` that packs the documents of each batch.

    Batches are packed each for itself: with `batch_size=None` a whole shard is, and only its last sequences are
    filled up. With `batch_format="numpy"` tokens keep their type, and packing is faster.

    Args:
        seq_length: tokens of a sequence.
        mode: `"concat"` lays documents end to end, `"best_fit"` cuts only those longer than a sequence.
        pad: token that fills up a sequence.
        document_ids: whether to give a column `document_ids`, the number of the document of each token in its
            sequence, from 1 on, and 0 for padding.
        column: the column of tokens; all others must be removed.

    Raises:
        ValueError: the length is not positive, or there is no such mode.
    """
    return Pack(seq_length, mode, pad, document_ids, column)


def _numbered_from_one(documents: NDArray[np.int64]) -> NDArray[np.int32]:
    """Numbers of documents as they are met from left to right in each sequence."""
    is_next = np.ones(documents.shape, np.int32)
    is_next[:, 1:] = documents[:, 1:] != documents[:, :-1]
    numbers = np.cumsum(is_next, axis=1, dtype=np.int32)
    numbers[documents == 0] = 0  # padding only follows documents
    return numbers
