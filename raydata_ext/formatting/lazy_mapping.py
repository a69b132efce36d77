"""What lazy rows and lazy batches have in common: a dictionary over Arrow columns that records what is done to it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sys

    from raydata_ext.formatting.column_cache import ColumnCache

    if sys.version_info >= (3, 11):
        from typing import Self
    else:
        from typing_extensions import Self


class LazyMapping(MutableMapping[str, Any]):
    """A dictionary whose original values stay in Arrow until they are asked for.

    Setting and deleting keys is recorded beside the columns, which never change. It behaves as a dictionary does for
    whoever uses it: iteration follows the order of the columns, then of new keys; `|` and `copy()` give another lazy
    mapping; `dict()` and pickling give a plain dictionary.
    """

    __slots__ = ("_columns", "_deleted", "_set")

    def __init__(self, columns: ColumnCache) -> None:
        self._columns = columns
        self._set: dict[str, Any] = {}
        self._deleted: frozenset[str] = _NOTHING  # original columns that are gone, also where the key was set anew

    @property
    def touched(self) -> frozenset[str]:
        """Columns that were converted to Python, by this mapping or another one over the same record batch."""
        return frozenset(self._columns)

    @property
    def deleted(self) -> frozenset[str]:
        """Columns of the record batch that are no longer among the keys."""
        return self._deleted.difference(self._set)

    def changes(self) -> dict[str, Any]:
        """What differs from the record batch: keys that were set, and columns whose values were changed in place.

        Returns:
            Key -> value as it is now. Each column that is neither here nor in `deleted` is as the record batch has it.
        """
        changes = {
            name: self[name]
            for name in self._columns.snapshots
            if name not in self._set and name not in self._deleted and self._changed_in_place(name)
        }
        changes.update(self._set)
        return changes

    def copy(self) -> Self:
        """A shallow copy, as lazy as this one."""
        twin = self._without_changes()
        for name in self._deleted:
            del twin[name]
        twin.update(self._set)
        return twin

    __copy__ = copy

    def __getitem__(self, key: str) -> Any:
        if key in self._set:
            return self._set[key]
        if key in self._deleted:
            raise KeyError(key)
        return self._original(key)

    def __setitem__(self, key: str, value: Any) -> None:
        self._set[key] = value

    def __delitem__(self, key: str) -> None:
        if key not in self:
            raise KeyError(key)
        self._set.pop(key, None)
        if key in self._columns.names:
            self._deleted |= {key}

    def __contains__(self, key: object) -> bool:
        return key in self._set or (key in self._columns.names and key not in self._deleted)

    def __iter__(self) -> Iterator[str]:
        if not self._set and not self._deleted:
            return iter(self._columns.names)
        return self._iterate_changed()

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __or__(self, other: Mapping[str, Any]) -> Self:
        if not isinstance(other, Mapping):
            return NotImplemented
        result = self.copy()
        result.update(other)
        return result

    def __ror__(self, other: Mapping[str, Any]) -> dict[str, Any]:
        if not isinstance(other, Mapping):
            return NotImplemented
        return {**other, **self}

    def __ior__(self, other: Any) -> Self:  # type: ignore[misc]  # as `dict` has it: pairs are welcome too
        self.update(other)
        return self

    def __repr__(self) -> str:
        return repr(dict(self))

    def __reduce__(self) -> tuple[type[dict[str, Any]], tuple[dict[str, Any]]]:
        return dict, (dict(self),)

    def _iterate_changed(self) -> Iterator[str]:
        names = self._columns.names
        for name in names:
            if name not in self._deleted:
                yield name
        for name in self._set:
            if name not in names or name in self._deleted:
                yield name

    @abstractmethod
    def _original(self, key: str) -> Any:
        """The value that the record batch has under this key."""

    @abstractmethod
    def _changed_in_place(self, name: str) -> bool:
        """Whether a touched value is no longer what the record batch has."""

    @abstractmethod
    def _without_changes(self) -> Self:
        """A new mapping over the same converted columns."""


_NOTHING: frozenset[str] = frozenset()
