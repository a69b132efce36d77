"""One column of a data set as a sequence whose values are read when they are looked at."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from raydata_ext.dataset.indexing import is_one, position_of, positions_of
from raydata_ext.formatting import array_to_list

if TYPE_CHECKING:
    from raydata_ext.dataset.view import View

_SHOWN = 5


class Column(Sequence[Any]):
    """The values of a column. It is equal to any sequence of equal values; `[:]` is a list of them.

    Args:
        view: rows of this one column.
        name: its name.
        num_rows: how many there are.
    """

    def __init__(self, view: View, name: str, num_rows: int) -> None:
        self._view = view
        self._name = name
        self._num_rows = num_rows

    def __len__(self) -> int:
        return self._num_rows

    @override
    def __getitem__(self, key: Any) -> Any:
        if is_one(key):
            return self._view.row(position_of(key, self._num_rows))[self._name]
        if isinstance(key, slice):
            return self._list(range(self._num_rows)[key])
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
        values = ", ".join(map(repr, itertools.islice(self, _SHOWN)))
        return (
            f"Column({self._name!r}, {self._num_rows} values: [{values}{', ...' if self._num_rows > _SHOWN else ''}])"
        )

    def _list(self, key: Any) -> list[Any]:
        if isinstance(key, range) and key.step == 1:
            values: list[Any] = self._view.run(key.start, max(key.start, key.stop))[self._name]
        else:
            values = self._view.rows(positions_of(key, self._num_rows))[self._name]
        return values
