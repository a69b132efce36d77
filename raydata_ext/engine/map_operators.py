"""Map at work: what a function returns for rows or batches, merged into the columns that it left alone.

Columns that the function neither set nor deleted nor changed in place pass on as the Arrow arrays they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from raydata_ext.engine.chunk import Chunk
from raydata_ext.engine.step_operator import check_columns, without_columns
from raydata_ext.engine.trail import Trail
from raydata_ext.engine.user_call import FunctionOperator, ends
from raydata_ext.errors import SchemaError
from raydata_ext.formatting import (
    LazyBatch,
    LazyRow,
    RowCursor,
    batch_from_columns,
    batch_from_rows,
    batch_from_table,
    get_formatter,
    is_table,
)
from raydata_ext.plan import Map, Position
from raydata_ext.table.cast import cast_batch


class _MapOperator(FunctionOperator):
    """What both ways of mapping share: removing columns, merging, and the schema that the user gave."""

    def __init__(self, label: str, step: Map, function: Callable[..., Any], trail: Trail, position: Position) -> None:
        super().__init__(label, step, function, trail, position)
        self._removed = step.remove_columns
        self._schema = step.schema

    def apply_empty(self, chunk: Chunk) -> Chunk:
        kept = without_columns(chunk.batch, self._removed)
        return Chunk(kept if self._schema is None else cast_batch(kept, self._schema, add_missing=True), chunk.origins)

    def _merged(self, chunk: Chunk, changed: pa.RecordBatch, deleted: set[str]) -> pa.RecordBatch:
        """Old columns in their places, changed ones replaced, new ones after them."""
        old = without_columns(chunk.batch, self._removed)
        columns = {name: old.column(name) for name in old.schema.names if name not in deleted}
        columns |= {name: changed.column(name) for name in changed.schema.names}
        if not columns:
            return changed
        merged = pa.RecordBatch.from_arrays(list(columns.values()), list(columns))
        return self._with_schema(chunk, merged)

    def _with_schema(self, chunk: Chunk, batch: pa.RecordBatch) -> pa.RecordBatch:
        if self._schema is None:
            return batch
        try:
            return cast_batch(batch, self._schema, add_missing=True)
        except SchemaError as error:
            raise self.misfit(chunk, error) from error


class RowMapOperator(_MapOperator):
    """Calls the function once a row."""

    def apply(self, chunk: Chunk) -> Chunk:
        self.check_input(chunk.batch)
        check_columns(self.label, chunk.batch, self._removed)
        cursor = RowCursor(chunk.batch)
        columns = None if self._input_columns is None else [cursor.values(name) for name in self._input_columns]
        results: list[dict[str, Any]] = []
        deletions: list[frozenset[str]] = []
        for number, origin in enumerate(chunk.origins.tolist()):
            row = cursor.row(number)
            values = (row,) if columns is None else tuple(column[number] for column in columns)
            result = self.call_row(origin, *values)
            if result is not None and not isinstance(result, Mapping):
                raise self.wrong_result((origin,), result, "a row is a mapping of column to value, or None")
            changes = row.changes()
            if result is not None and result is not row:
                changes.update(_what_is_set(result))
            results.append(changes)
            deletions.append((result if isinstance(result, LazyRow) else row).deleted)
        try:
            return Chunk(self._merge_rows(chunk, cursor, results, deletions), chunk.origins)
        except SchemaError as error:
            raise self.misfit(chunk, error) from error

    def _merge_rows(
        self, chunk: Chunk, cursor: RowCursor, results: list[dict[str, Any]], deletions: list[frozenset[str]]
    ) -> pa.RecordBatch:
        """Rows may set different keys: what one row leaves alone keeps its old value there, or is null."""
        names = dict.fromkeys(name for result in results for name in result)
        deleted = set().union(*deletions)
        gone = {name for name in deleted if all(name in one for one in deletions)}
        partly = [name for name in (*names, *(deleted - gone)) if any(name not in result for result in results)]
        for name in partly:
            kept = name in chunk.batch.schema.names and name not in self._removed
            old = cursor.values(name) if kept else None
            for number, result in enumerate(results):
                if name not in result:
                    result[name] = None if old is None or name in deletions[number] else old[number]
        return self._merged(chunk, batch_from_rows(results, chunk.batch.schema), gone - names.keys())


class BatchMapOperator(_MapOperator):
    """Calls the function once a batch."""

    def __init__(self, label: str, step: Map, function: Callable[..., Any], trail: Trail, position: Position) -> None:
        super().__init__(label, step, function, trail, position)
        self.batch_rows = step.batch_size
        self.drop_last = step.drop_last_batch
        self._formatter = None if step.batch_format == "python" else get_formatter(step.batch_format)

    def apply(self, chunk: Chunk) -> Chunk:
        self.check_input(chunk.batch)
        check_columns(self.label, chunk.batch, self._removed)
        batch = LazyBatch(chunk.batch) if self._formatter is None else self._formatter.batch(chunk.batch)
        columns = None if self._input_columns is None else [batch[name] for name in self._input_columns]
        result = self.call_batch(chunk, *((batch,) if columns is None else columns))
        try:
            return self._output(chunk, batch, result)
        except SchemaError as error:
            raise self.misfit(chunk, error) from error

    def _output(self, chunk: Chunk, given: Any, result: Any) -> Chunk:
        if is_table(result):
            return self._rows_of(chunk, self._with_schema(chunk, batch_from_table(result)))
        if result is not None and not isinstance(result, Mapping):
            expected = "a batch is a mapping of column to list or array, an Arrow table, a DataFrame, or None"
            raise self.wrong_result(ends(chunk), result, expected)
        changes = given.changes() if isinstance(given, LazyBatch) else {}
        if result is not None and result is not given:
            changes.update(_what_is_set(result))
        deleted = set(given.deleted) if isinstance(given, LazyBatch) else set()
        changed = batch_from_columns(changes, hints=chunk.batch.schema, num_rows=None if changes else chunk.num_rows)
        self._check_length(chunk, changed, deleted)
        return self._rows_of(chunk, self._merged(chunk, changed, deleted))

    def _check_length(self, chunk: Chunk, changed: pa.RecordBatch, deleted: set[str]) -> None:
        left = [
            name
            for name in without_columns(chunk.batch, self._removed).schema.names
            if name not in changed.schema.names and name not in deleted
        ]
        if left and changed.num_rows != chunk.num_rows:
            raise SchemaError(
                f"the function returned {changed.num_rows} rows for a batch of {chunk.num_rows}, in {changed.schema.names}, but"
                f" column {left[0]!r} stays and has {chunk.num_rows}; name the columns that go in remove_columns={left}"
            )

    def _rows_of(self, chunk: Chunk, batch: pa.RecordBatch) -> Chunk:
        """The result with origins: row by row where the number of rows stayed, else the begin of the batch."""
        if batch.num_rows == chunk.num_rows:
            return Chunk(batch, chunk.origins)
        return Chunk(batch, np.full(batch.num_rows, chunk.origins[0], dtype=np.int64))


def _what_is_set(result: Mapping[str, Any]) -> Mapping[str, Any]:
    """The values that a returned mapping sets; a lazy one is not converted where it holds what it was given."""
    return result.changes() if isinstance(result, LazyRow | LazyBatch) else result
