"""One column of a data set as a sequence whose values are read when they are looked at."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from typing_extensions import override

from raydata_ext.dataset.indexing import is_one, position_of, positions_of
from raydata_ext.formatting import array_to_list

if TYPE_CHECKING:
    from raydata_ext.dataset.view import View

_SHOWN = 5


class Column(Sequence[Any]):
    """The values of a column. It is equal to any sequence of equal values; `[:]` is a list of them, and `["field"]` one
    of the values of a field, where the column is of structs.

    Args:
        view: rows of this one column.
        name: its name.
    """

    def __init__(self, view: View, name: str) -> None:
        self._view = view
        self._name = name

    def __len__(self) -> int:
        return self._view.num_rows

    @override
    def __getitem__(self, key: Any) -> Any:
        if is_one(key):
            return self._view.row(position_of(key, self._view.num_rows))[self._name]
        if isinstance(key, str):
            return self._field(key)
        if isinstance(key, slice):
            return self._list(range(self._view.num_rows)[key])
        return self._list(key)

    @override
    def __iter__(self) -> Iterator[Any]:
        for piece in self._view.pieces():
            yield from array_to_list(piece.column(self._name))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str | bytes):
            return NotImplemented
        return len(self) == len(other) and all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]  # columns are compared by their values, which are too many to hash

    def __repr__(self) -> str:
        shown = [*map(repr, itertools.islice(self, _SHOWN)), *(["..."] if len(self) > _SHOWN else [])]
        return f"Column({self._name!r}, {len(self)} values: [{', '.join(shown)}])"

    def _field(self, name: str) -> list[Any]:
        """The values of one field of a column of structs; null where the struct is."""
        column = self._view.arrow_run(0, self._view.num_rows).column(self._name)
        if not pa.types.is_struct(column.type) or column.type.get_field_index(name) < 0:
            raise KeyError(f"column {self._name!r} is {column.type}, which has no field {name!r}")
        return array_to_list(pc.struct_field(column, [name]))

    def _list(self, key: Any) -> list[Any]:
        if isinstance(key, range) and key.step == 1:
            values: list[Any] = self._view.run(key.start, max(key.start, key.stop))[self._name]
        else:
            values = self._view.rows(positions_of(key, self._view.num_rows))[self._name]
        return values
