"""Map at work: what a function returns for rows or batches, merged into the columns that it left alone.

The rules, which are those of Hugging Face `datasets`:

* Old columns stand in their places, changed or not; new ones follow in the order in which they appear.
* What a function does to the row or batch itself (set, delete, change in place) counts as if it had been returned.
* `remove_columns` go before the merge. A column of that name comes back if the function returns it in a mapping of its
  own, and not if it only set it on the row or batch that it was given.
* With `input_columns` only what is returned counts.
* A table that a batched function returns stands in place of all columns; so does a data frame that it was given and
  changed, if it returns nothing.

A result may come as `Counted`, with counts beside it.

Columns that the function neither set nor deleted nor changed pass on as the Arrow arrays they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from typing_extensions import override

from raydata_ext.engine.chunk import Chunk, rebatched, split
from raydata_ext.engine.column_operators import no_rows, without_columns
from raydata_ext.engine.counted import Counted
from raydata_ext.engine.given_batch import given_batch, unchanged_as_given
from raydata_ext.engine.row_changes import RowChanges
from raydata_ext.engine.user_call import ROWS_AT_A_TIME, FunctionOperator
from raydata_ext.errors import StepError
from raydata_ext.formatting import (
    LazyBatch,
    LazyRow,
    RowCursor,
    arrays_from_columns,
    batch_from_columns,
    batch_from_table,
    columns_of_frame,
    is_data_frame,
    is_table,
)
from raydata_ext.formatting.in_place import is_mutable
from raydata_ext.formatting.plain_values import is_series, is_tensor, tensor_to_numpy
from raydata_ext.table.cast import cast_batch

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from raydata_ext.engine.trail import Trail
    from raydata_ext.engine.worker import Worker
    from raydata_ext.plan import Map, Position

_NOT_SET: Mapping[str, Any] = {}
_NOT_DELETED: frozenset[str] = frozenset()


class _MapOperator(FunctionOperator):
    """What both ways of mapping share: removing columns, merging, and the schema that the user gave."""

    def __init__(self, label: str, step: Map, number: int, worker: Worker, trail: Trail, position: Position) -> None:
        super().__init__(label, step, number, worker, trail, position)
        self._removed = step.remove_columns
        self._schema = step.schema

    def apply_empty(self, chunk: Chunk) -> Chunk:
        """The function is not called; see `Operator.apply_empty`."""
        kept = without_columns(chunk.batch, self._removed)
        return Chunk(kept if self._schema is None else no_rows(self._schema), chunk.origins)

    def _columns(self, chunk: Chunk, values: Mapping[str, object], num_rows: int | None) -> dict[str, pa.Array]:
        """Columns that the function returned, with the types that are asked for, or that the columns had before."""
        hints = chunk.batch.schema if self._schema is None else self._schema
        try:
            return arrays_from_columns(values, hints=hints, num_rows=num_rows)
        except TypeError as error:
            raise self._unusable(chunk, error) from error

    def _unusable(self, chunk: Chunk, error: TypeError) -> StepError:
        return StepError(f"{self.label}: {self.trail.place(chunk.origins)}: {error}")

    def _merged(self, old: pa.RecordBatch, changed: Mapping[str, pa.Array], deleted: Collection[str]) -> pa.RecordBatch:
        """Old columns in their places, changed or not, and new ones after them.

        Where the number of rows is another, all old columns must be changed, removed or deleted.
        """
        gone = {*self._removed, *deleted}.difference(changed)
        merged = without_columns(old, gone) if gone else old
        if _num_rows(changed, old.num_rows) == old.num_rows:
            for name, array in changed.items():
                position = merged.schema.get_field_index(name)
                added = position < 0
                merged = merged.append_column(name, array) if added else merged.set_column(position, name, array)
        else:
            columns = {**dict.fromkeys(merged.schema.names), **changed}
            merged = pa.RecordBatch.from_arrays(
                list(columns.values()), names=list(columns), metadata=old.schema.metadata
            )
        return self._with_schema(merged)

    def _uncounted(self, result: Any) -> Any:
        """What the function returned, without the counts that came with it, which are added up."""
        if isinstance(result, Counted):
            self.counts.update(result.counts)
            return result.result
        return result

    def _with_schema(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        return batch if self._schema is None else cast_batch(batch, self._schema, add_missing=True)

    def _without_removed(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in changes.items() if name not in self._removed}


class RowMapOperator(_MapOperator):
    """Calls the function once a row."""

    def cut(self, chunks: Iterable[Chunk]) -> Iterable[Chunk]:
        """Few rows at a time; see `Operator.cut`."""
        return split(chunks, ROWS_AT_A_TIME)

    def apply(self, chunk: Chunk) -> Chunk:
        """Call the function on each row and merge; see `Operator.apply`."""
        self.require_columns(chunk, (*self._removed, *(self.input_columns or ())))
        cursor = RowCursor(chunk.batch)
        rows = list(cursor) if self.input_columns is None else []
        given = [rows] if self.input_columns is None else [cursor.values(name) for name in self.input_columns]
        results = self.call_rows(chunk, given)
        if self._failed:
            spared = self._spared(chunk)
            if not spared:
                return self.apply_empty(chunk.slice(0, 0))
            chunk, cursor = chunk.without(self._failed), cursor.take(spared)
            rows = [rows[number] for number in spared] if rows else rows
            results = [results[number] for number in spared]
        if self.input_columns is None:
            changes = self._changes_of_rows(chunk, cursor, rows, results)
        else:
            changes = self._changes_of_values(chunk, cursor, results)
        changed = self._columns(chunk, changes.columns(), chunk.num_rows)
        return Chunk(self._merged(chunk.batch, changed, changes.gone), chunk.origins)

    def _changes_of_rows(self, chunk: Chunk, cursor: RowCursor, rows: list[LazyRow], results: list[Any]) -> RowChanges:
        in_place = [row.changes() for row in rows]
        assigned = [
            result if type(result) is dict and not changes else self._assigned(chunk, number, result, row, changes)
            for number, (result, row, changes) in enumerate(zip(results, rows, in_place, strict=True))
        ]
        doubtful = {name for changes in in_place if changes for name in changes}
        return RowChanges(cursor, assigned, [row.deleted for row in rows], self._removed, doubtful)

    def _changes_of_values(self, chunk: Chunk, cursor: RowCursor, results: list[Any]) -> RowChanges:
        """The same where the function is given values of columns and no row."""
        assigned = [self._assigned(chunk, number, result) for number, result in enumerate(results)]
        doubtful = {field.name for field in chunk.batch.schema if is_mutable(field.type)}
        return RowChanges(cursor, assigned, [_NOT_DELETED] * chunk.num_rows, self._removed, doubtful)

    def _assigned(
        self, chunk: Chunk, number: int, result: Any, row: LazyRow | None = None, in_place: Mapping[str, Any] = _NOT_SET
    ) -> Mapping[str, Any]:
        """The columns of one row that are set, by what was done to the row and by what was returned."""
        result = self._uncounted(result)
        kept = self._without_removed(in_place) if in_place and self._removed else in_place
        if result is None or result is row:
            return kept
        if not isinstance(result, Mapping):
            origins = chunk.origins[number : number + 1]
            raise self.wrong_result(origins, result, "a row is a mapping of column to value, or None for no change")
        returned = self._without_removed(result) if isinstance(result, LazyRow) else result
        return {**kept, **returned} if kept else returned


class BatchMapOperator(_MapOperator):
    """Calls the function once a batch."""

    def __init__(self, label: str, step: Map, number: int, worker: Worker, trail: Trail, position: Position) -> None:
        super().__init__(label, step, number, worker, trail, position)
        self._batch_rows = step.batch_size
        self._drop_last = step.drop_last_batch
        self._format = step.batch_format

    @property
    @override
    def rows_added(self) -> int:
        return self.rows_out + self.dropped.total() + self.set_aside - self.rows_in

    def cut(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        """Batches of the step's size; see `Operator.cut`."""
        for chunk in rebatched(chunks, self._batch_rows, self.trail.place):
            if self._drop_last and self._batch_rows is not None and 0 < chunk.num_rows < self._batch_rows:
                self.dropped["drop_last_batch"] += chunk.num_rows
                yield chunk.slice(0, 0)
            else:
                yield chunk

    def apply(self, chunk: Chunk) -> Chunk:
        """Call the function on the batch and merge; see `Operator.apply`."""
        self.require_columns(chunk, (*self._removed, *(self.input_columns or ())))
        given = given_batch(chunk.batch, self._format, self.input_columns)
        values = [given] if self.input_columns is None else [given[name] for name in self.input_columns]
        result = self._uncounted(self.call_batch(chunk, values))
        if result is None and self.input_columns is None and is_data_frame(given):
            result = given.drop(columns=list(self._removed), errors="ignore")
        if type(result) is not dict and is_table(result):
            return _with_origins(self._with_schema(self._from_table(chunk, result)), chunk)
        if result is not None and not isinstance(result, Mapping):
            expected = "a batch is a mapping of column to list or array, an Arrow table, a DataFrame, or None"
            raise self.wrong_result(chunk.origins, result, expected)
        assigned = _all_owned(self._assigned(chunk.batch, given, result))
        deleted = given.deleted if isinstance(given, LazyBatch) else frozenset()
        changed = self._columns(chunk, assigned, None if assigned else chunk.num_rows)
        self._require_length(chunk, changed, deleted)
        return _with_origins(self._merged(chunk.batch, changed, deleted), chunk)

    def _from_table(self, chunk: Chunk, table: Any) -> pa.RecordBatch:
        """A table that was returned; columns of a data frame that are as they were given are the Arrow arrays again."""
        try:
            if is_data_frame(table):
                series = unchanged_as_given(chunk.batch, columns_of_frame(table))
                columns = self._columns(chunk, _all_owned(series), len(table))
                table = batch_from_columns(columns, num_rows=len(table))
            return batch_from_table(table).replace_schema_metadata(chunk.batch.schema.metadata)
        except TypeError as error:
            raise self._unusable(chunk, error) from error

    def _assigned(self, batch: pa.RecordBatch, given: Any, result: Mapping[str, Any] | None) -> dict[str, object]:
        """The columns that are set, by what was done to the batch and by what was returned."""
        in_place = given.changes() if isinstance(given, LazyBatch) else {}
        kept = self._without_removed(in_place) if self.input_columns is None else {}
        if result is None or result is given:
            return kept
        returned = self._without_removed(result) if isinstance(result, LazyBatch) else dict(result)
        if isinstance(given, LazyBatch):
            # What was handed out and comes back as it was need not be converted back, and stays exactly what it was.
            for name in given.touched.intersection(returned).difference(in_place):
                if returned[name] is given.get(name):
                    returned[name] = batch.column(name)
        elif self._format == "pandas":
            returned = unchanged_as_given(batch, returned)
        return {**kept, **returned}

    def _require_length(self, chunk: Chunk, changed: Mapping[str, pa.Array], deleted: Collection[str]) -> None:
        num_rows = _num_rows(changed, chunk.num_rows)
        if num_rows == chunk.num_rows:
            return
        gone = {*self._removed, *deleted, *changed}
        left = [name for name in chunk.batch.schema.names if name not in gone]
        if left:
            raise StepError(
                f"{self.label}: {self.trail.place(chunk.origins)}: the function returned {num_rows} rows for a"
                f" batch of {chunk.num_rows}, in {list(changed)}, but column {left[0]!r} stays and has"
                f" {chunk.num_rows}; name the columns that go in remove_columns={left}"
            )


def _all_owned(columns: Mapping[str, object]) -> dict[str, object]:
    """Numbers in memory of the function are copied: it may use it again while these still wait to be written."""
    return {name: _owned(values) for name, values in columns.items()}


def _owned(values: Any) -> object:
    if is_tensor(values):
        values = tensor_to_numpy(values)
    return values.copy() if isinstance(values, np.ndarray) or is_series(values) else values


def _num_rows(columns: Mapping[str, pa.Array], default: int) -> int:
    """How many rows columns of one length have; `default` where there are none."""
    return len(next(iter(columns.values()))) if columns else default


def _with_origins(batch: pa.RecordBatch, chunk: Chunk) -> Chunk:
    """A result with origins: row by row where the number of rows stayed, else the first row of the batch."""
    if batch.num_rows == chunk.num_rows:
        return Chunk(batch, chunk.origins)
    return Chunk(batch, np.full(batch.num_rows, chunk.origins[0], dtype=np.int64))
