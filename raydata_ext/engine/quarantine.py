"""Rows that are set aside while a shard is computed, and their records in the store.

A record says where a row is from, what failed on it, and what it was. The records of a result are an entry of the store
beside it, under a key made of its key; it is published first, so that a result which counts rows set aside has records.
A result that no row was set aside from has no such entry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from raydata_ext.engine.failure_text import message_of, users_traceback
from raydata_ext.engine.row_json import row_json
from raydata_ext.errors import StoreError
from raydata_ext.formatting import RowCursor
from raydata_ext.plan import quarantine_key
from raydata_ext.store import Receipt, Store
from raydata_ext.table.ipc_writer import ShardWriter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from typing_extensions import Self

    from raydata_ext.engine.chunk import Chunk, Origins
    from raydata_ext.engine.error_policy import ErrorPolicy
    from raydata_ext.engine.trail import Trail
    from raydata_ext.sources import BadRow

READING = "reading"
"""Stands for the step in records of rows that could not be read."""

RECORD_SCHEMA = pa.schema(
    {
        "source": pa.string(),
        "row": pa.int64(),
        "byte_offset": pa.int64(),
        "step": pa.string(),
        "exception": pa.string(),
        "message": pa.string(),
        "traceback": pa.string(),
        "row_json": pa.string(),
    }
)
"""`source` is a file or piece of one, `row` the number of the row in it, from 0, unreadable rows included;
`byte_offset` is where a row that cannot be read begins in the (decompressed) file, where that is known; `row_json` is
the row as the step was given it, as JSON in which long values are cut."""

_MOST_MESSAGE = 4_000
_BUFFERED_RECORDS = 100
_MOST_UNPUBLISHED = 100


class QuarantineFile:
    """The records that belong to one kept result.

    Args:
        store: where they go.
        key: of the result.
        num_steps: how many steps of the pass come before it.
    """

    def __init__(self, store: Store, key: str, num_steps: int) -> None:
        self.count = 0
        self.num_steps = num_steps
        self._store = store
        self._key = quarantine_key(key)
        self._writer: ShardWriter | None = None
        self._buffer: list[dict[str, Any]] = []

    def add(self, record: dict[str, Any]) -> None:
        """Take a record."""
        self.count += 1
        self._buffer.append(record)
        if len(self._buffer) >= _BUFFERED_RECORDS:
            self._flush()

    def publish(self, worker: str) -> None:
        """Make the records an entry of the store, if there are any."""
        if not self.count:
            return
        self._flush()
        assert self._writer is not None
        summary = self._writer.finish()
        self._store.publish(
            Receipt(
                self._key, summary.rows, summary.num_bytes, summary.checksum, summary.schema,
                rows_in=summary.rows, worker=worker,
            )
        )  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        if self._writer is not None:
            self._writer.discard()

    def _flush(self) -> None:
        if self._writer is None:
            self._writer = ShardWriter(self._store.writing_path(self._key), RECORD_SCHEMA)
        self._writer.write(pa.RecordBatch.from_pylist(self._buffer, RECORD_SCHEMA))
        self._buffer = []


class Quarantine:
    """Where one pass over a shard puts the rows that are set aside.

    Args:
        trail: where the rows come from.
        policy: has the limit.

    Attributes:
        files: the records of each result that the pass keeps; to be filled before rows are read.
    """

    def __init__(self, trail: Trail, policy: ErrorPolicy) -> None:
        self.files: list[QuarantineFile] = []
        self._trail = trail
        self._policy = policy
        self._count = 0
        self._first: dict[str, Any] = {}
        self._unpublished: list[dict[str, Any]] = []  # the first of those that are lost if the pass ends early

    def add_unread(self, label: str, bad: BadRow) -> None:
        """Set aside a row that a reader cannot parse.

        Args:
            label: the piece that it is from.
            bad: what the reader says.

        Raises:
            QuarantineError: these are more rows than the run may set aside.
        """
        self._trail.leave_out(label, bad.row)
        where = {"source": label, "row": bad.row, "byte_offset": bad.byte_offset, "step": READING}
        what = _failure("ReadError", bad.message, "")
        self._set_aside(0, {**where, **what, "row_json": row_json({"raw": bad.raw})})

    def add(self, step: int, label: str, row: Chunk, failure: dict[str, str]) -> None:
        """Set aside a row that a step fails on.

        Args:
            step: number of the step in the pass, from 0.
            label: the step.
            row: the one row, as the step was given it.
            failure: see `failure_of`.

        Raises:
            QuarantineError: these are more rows than the run may set aside.
        """
        source, number = self._trail.find(int(row.origins[0]))
        where = {"source": source, "row": number, "byte_offset": None, "step": label}
        self._set_aside(step + 1, {**where, **failure, "row_json": row_json(dict(RowCursor(row.batch).row(0)))})

    def add_kept(self, store: Store, before: Receipt) -> None:
        """Take over the records of the result that the pass starts from."""
        for record in records_of(store, [before]):
            self._add(0, record)

    def _set_aside(self, num_steps: int, record: dict[str, Any]) -> None:
        """Take the record of a row that fails in this pass."""
        record = {name: _text(value) for name, value in record.items()}
        if len(self._unpublished) < _MOST_UNPUBLISHED:
            self._unpublished.append(record)
        self._add(num_steps, record)

    def _add(self, num_steps: int, record: dict[str, Any]) -> None:
        """Hand a record to each result that comes after so many steps, or later."""
        self._count += 1
        self._first = self._first or record
        for file in self.files:
            if file.num_steps >= num_steps:
                file.add(record)
        limit = self._policy.max_rows
        if limit is not None and self._count > limit:
            raise self._policy.exceeded(self._count, None, self._first, self._unpublished)


def failure_of(error: Exception) -> dict[str, str]:
    """The part of a record that says what failed.

    Args:
        error: what the step raised; the exception of a user's function is its cause.
    """
    cause = error if error.__cause__ is None else error.__cause__
    return _failure(type(cause).__name__, message_of(cause), users_traceback(cause))


def failure_of_worker(reason: str) -> dict[str, str]:
    """The same where the process did not survive the row."""
    return _failure("worker died", reason, "")


def records_of(store: Store, receipts: Iterable[Receipt]) -> Iterator[dict[str, Any]]:
    """The records of results, one after the other.

    Raises:
        StoreError: those of a result that lacks rows are gone.
    """
    keys = [quarantine_key(receipt.key) for receipt in receipts if receipt.quarantined]
    found = store.find(keys)
    for key in keys:
        if key not in found:
            raise StoreError(f"the records {key} of rows that were set aside are gone from the cache; run again")
        for batch in store.table(found[key]).iter_batches():
            yield from batch.to_pylist()


def numbers_left(store: Store, receipt: Receipt, label: str) -> Origins | None:
    """The numbers that the rows of a result had in their shard, where each row in gave one row, or was set aside.

    Args:
        store: holds the records of those that were set aside.
        receipt: of the result.
        label: the shard; None is returned where records count rows from somewhere else.
    """
    records = list(records_of(store, [receipt]))
    gone = np.array([record["row"] for record in records if record["source"] == label], np.int64)
    left = np.setdiff1d(np.arange(receipt.rows_in), gone)
    return left if len(left) == receipt.rows else None


def _failure(exception: str, message: str, traceback: str) -> dict[str, str]:
    cut = message if len(message) <= _MOST_MESSAGE else message[:_MOST_MESSAGE] + "..."
    return {"exception": exception, "message": cut, "traceback": traceback[-_MOST_MESSAGE:]}


def _text(value: object) -> object:
    """Text without lone surrogates, which messages and file names may hold."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value
