"""Cut a sequence of record batches anew, so that where batches end depends on the rows and not on how they arrived."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from raydata_ext.table.string_views import compact_views

if TYPE_CHECKING:
    from collections.abc import Iterator


class BatchFrames:
    """Joins small record batches and cuts large ones.

    Rows are counted off in frames of `batch_rows`. A frame whose rows take more than `batch_bytes` is halved, and its
    halves likewise, down to single rows. So the cuts are a function of the row sequence, while never more than about
    `batch_bytes` and the batch that has just come are held. (Validity bitmaps are sized per arriving piece in whole
    bytes, so a frame within a few bytes of the limit may fall on either side.)

    Args:
        batch_rows: rows in a full batch, at least 1.
        batch_bytes: size in memory above which a batch is halved, at least 1.
    """

    def __init__(self, batch_rows: int, batch_bytes: int) -> None:
        if batch_rows < 1 or batch_bytes < 1:
            raise ValueError(f"batch_rows and batch_bytes must be at least 1, not {batch_rows} and {batch_bytes}")
        self._batch_rows = batch_rows
        self._batch_bytes = batch_bytes
        self._spans = [batch_rows]  # rows of the spans left of this frame, the current one last
        self._held: list[tuple[pa.RecordBatch, int]] = []  # pieces of the current span and the bytes of their rows
        self._held_rows = 0
        self._held_bytes = 0
        self._num_arrays: int | None = None

    def push(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Take in a batch and yield the batches that are complete with it. A whole batch passes through uncopied."""
        if not self._held and batch.num_rows == self._spans[-1] and self._surely_fits(batch):
            self._end_span()
            yield batch
            return
        rows_taken = 0
        # What belongs to the batch as a whole (a dictionary) is not counted against its rows.
        shared_bytes = _num_bytes(batch.slice(0, 0))
        while rows_taken < batch.num_rows:
            length = min(batch.num_rows - rows_taken, self._spans[-1] - self._held_rows)
            piece = batch if length == batch.num_rows else _cut(batch, rows_taken, length)
            rows_taken += length
            self._hold([(piece, max(_num_bytes(piece) - shared_bytes, 0))])
            yield from self._settle()

    def flush(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows still held and start a new frame."""
        if self._held:
            yield self._release()
        self._spans = [self._batch_rows]

    def _settle(self) -> Iterator[pa.RecordBatch]:
        span = self._spans[-1]
        if self._held_bytes > self._batch_bytes and span > 1:
            left = (span + 1) // 2
            self._spans[-1:] = [span - left, left]
            pieces = self._held
            first, rest = _split(pieces, left)
            self._clear()
            for part in (first, rest):
                if part:
                    self._hold(part)
                    yield from self._settle()
        elif self._held_rows == span:
            self._end_span()
            yield self._release()

    def _surely_fits(self, batch: pa.RecordBatch) -> bool:
        """Whether it is within the limit of bytes; told at little cost, and not of every batch that is.

        Arrays may share buffers, which count for each of them, so that a batch has at most so many times their bytes.
        """
        if self._num_arrays is None:
            self._num_arrays = sum(map(_num_arrays, batch.schema.types))
        return bool(batch.get_total_buffer_size() * self._num_arrays <= self._batch_bytes)

    def _end_span(self) -> None:
        self._spans.pop()
        if not self._spans:
            self._spans = [self._batch_rows]

    def _hold(self, pieces: list[tuple[pa.RecordBatch, int]]) -> None:
        for piece, num_bytes in pieces:
            self._held.append((piece, num_bytes))
            self._held_rows += piece.num_rows
            self._held_bytes += num_bytes

    def _release(self) -> pa.RecordBatch:
        pieces = [piece for piece, _ in self._held]
        self._clear()
        return pieces[0] if len(pieces) == 1 else pa.concat_batches(pieces)

    def _clear(self) -> None:
        self._held = []
        self._held_rows = 0
        self._held_bytes = 0


def _split(
    pieces: list[tuple[pa.RecordBatch, int]], rows: int
) -> tuple[list[tuple[pa.RecordBatch, int]], list[tuple[pa.RecordBatch, int]]]:
    """Split pieces after `rows` rows, without joining them: joined they may be too large for 32-bit offsets."""
    first: list[tuple[pa.RecordBatch, int]] = []
    rest: list[tuple[pa.RecordBatch, int]] = []
    for piece, num_bytes in pieces:
        if piece.num_rows <= rows:
            first.append((piece, num_bytes))
        elif rows <= 0:
            rest.append((piece, num_bytes))
        else:
            shared_bytes = _num_bytes(piece.slice(0, 0))
            head, tail = _cut(piece, 0, rows), _cut(piece, rows, piece.num_rows - rows)
            first.append((head, max(_num_bytes(head) - shared_bytes, 0)))
            rest.append((tail, max(_num_bytes(tail) - shared_bytes, 0)))
        rows -= piece.num_rows
    return first, rest


def _cut(batch: pa.RecordBatch, start: int, length: int) -> pa.RecordBatch:
    # Of a slice, Arrow may write up to 63 bytes of what follows it. Copied, the file depends on its own rows alone.
    return compact_views(pa.concat_batches([batch.slice(start, length)]))


def _num_arrays(kind: pa.DataType) -> int:
    """How many arrays an array of this type is made of."""
    while isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    dictionary = _num_arrays(kind.value_type) if isinstance(kind, pa.DictionaryType) else 0
    return 1 + dictionary + sum(_num_arrays(kind.field(number).type) for number in range(kind.num_fields))


def _num_bytes(batch: pa.RecordBatch) -> int:
    try:
        return int(batch.nbytes)
    except pa.ArrowException:  # older pyarrow cannot tell what a view refers to; then rows alone are counted off
        return int(batch.get_total_buffer_size())
