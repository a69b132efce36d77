"""The operations that lead from a file to a table, kept as few as possible."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from raydata_ext.errors import StateError
from raydata_ext.table.operations import Operation, OperationState, operation_from_state

if TYPE_CHECKING:
    import pyarrow as pa


class Replays(NamedTuple):
    """Operations in the order in which they were done, those that follow one another merged where that is equal.

    Args:
        operations: the operations.
    """

    operations: tuple[Operation, ...] = ()

    def then(self, operation: Operation, schema: pa.Schema) -> Replays:
        """Return the operations followed by one more.

        Args:
            operation: the one to follow.
            schema: the schema of the file, to which the first operation is applied.
        """
        if self.operations and self.operations[-1].name == operation.name:
            before = Replays(self.operations[:-1])
            merged = operation.after(self.operations[-1], before.schema_after(schema))
            if merged is not None:
                return Replays((*before.operations, merged))
        return Replays((*self.operations, operation))

    def apply(self, table: pa.Table) -> pa.Table:
        """Return what the operations make of a table."""
        for operation in self.operations:
            table = operation.apply(table)
        return table

    def schema_after(self, schema: pa.Schema) -> pa.Schema:
        """Return the schema of what the operations make of a table with the given schema."""
        for operation in self.operations:
            schema = operation.schema_after(schema)
        return schema

    def rows_after(self, num_rows: int) -> int:
        """Return the number of rows of what the operations make of a table with so many rows."""
        for operation in self.operations:
            num_rows = operation.rows_after(num_rows)
        return num_rows

    def state(self) -> list[OperationState]:
        """Return plain values from which `from_state` makes the operations again."""
        return [(operation.name, operation.arguments()) for operation in self.operations]

    @classmethod
    def from_state(cls, state: object) -> Replays:
        """Make the operations from a state.

        Raises:
            StateError: the state names something that cannot be replayed.
        """
        if not isinstance(state, list):
            raise StateError(f"the replays of a table must be a list of operations, not {type(state).__name__}")
        return cls(tuple(operation_from_state(item) for item in state))
