"""What a row function made of the rows of a record batch, turned into columns."""

from __future__ import annotations

import itertools
import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from raydata_ext.formatting import RowCursor


@dataclass(frozen=True)
class RowChanges:
    """Rows as they were, and what is different now. Rows may differ in the columns that they set.

    Attributes:
        cursor: the rows as they were; one at least.
        assigned: for each row, the columns that are set, with their values.
        deleted: for each row, the columns that are gone.
        hidden: columns whose old values do not stay where a row leaves them alone: they are removed.
        doubtful: columns whose values, as the cursor has them, may have been changed in place.
    """

    cursor: RowCursor
    assigned: Sequence[Mapping[str, Any]]
    deleted: Sequence[frozenset[str]]
    hidden: Collection[str]
    doubtful: Collection[str]

    @property
    def gone(self) -> frozenset[str]:
        """Columns that every row deleted and none set."""
        everywhere = frozenset.intersection(*self.deleted)
        return everywhere.difference(*self.assigned) if everywhere else everywhere

    def columns(self) -> dict[str, object]:
        """Each column that some row sets or deletes, but for those that are gone, with its value for every row.

        A row that leaves a column alone has its old value there, and null where it deleted it or there was none. A
        column of which every row has its old value is the Arrow array that it was.
        """
        gone = self.gone
        deleted = frozenset().union(*self.deleted).difference(self.hidden)
        return {name: self._column(name) for name in (*self._names(), *deleted) if name not in gone}

    def _names(self) -> list[str]:
        first = self.assigned[0].keys()
        if all(row.keys() == first for row in self.assigned):
            return list(first)
        return list(dict.fromkeys(itertools.chain.from_iterable(self.assigned)))

    def _column(self, name: str) -> object:
        values = [row.get(name, _LEFT_ALONE) for row in self.assigned]
        if any(value is _LEFT_ALONE for value in values):
            values = self._filled(name, values)
        return self.cursor.batch.column(name) if self._are_old(name, values) else values

    def _are_old(self, name: str, values: list[Any]) -> bool:
        if name not in self.cursor.touched or name in self.doubtful:
            return False
        return all(map(operator.is_, values, self.cursor.values(name)))

    def _filled(self, name: str, values: list[Any]) -> list[Any]:
        kept = name in self.cursor.batch.schema.names and name not in self.hidden
        old = self.cursor.values(name) if kept else [None] * len(values)
        return [
            value if value is not _LEFT_ALONE else None if name in deleted else before
            for value, before, deleted in zip(values, old, self.deleted, strict=True)
        ]


_LEFT_ALONE = object()
"""Stands for the value of a column that a row did not set."""
