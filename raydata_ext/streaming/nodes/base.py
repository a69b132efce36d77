"""The one protocol of all nodes of a stream."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from typing_extensions import override

from raydata_ext.streaming.known import known_schema
from raydata_ext.streaming.seeds import mixed

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from typing_extensions import Self

    from raydata_ext.streaming.row_reader import RowReader
    from raydata_ext.streaming.rows import Rows
    from raydata_ext.streaming.seeds import Seed
    from raydata_ext.table import Table

State: TypeAlias = Any
"""A position: dicts with string keys, lists, strings, ints, bools, None, schemas, and int64 arrays nobody changes."""

Bases: TypeAlias = Mapping[int, int]
"""Which references stand for the rows of a table: `id(table)` -> reference of its first row."""


class Cursor(ABC):
    """One pass over the rows of a node."""

    @abstractmethod
    def next(self) -> Rows | None:
        """The next rows, perhaps none; None at the end, again and again.

        Which rows come depends on nothing but the node and the position: after `load(state())` it goes on with the
        same.
        """

    def next_of(self, multiple: int) -> Rows | None:  # noqa: ARG002 - most cursors cannot choose
        """The same, for one who takes so many rows at once: a multiple of them, where the cursor may choose."""
        return self.next()

    @abstractmethod
    def state(self) -> State:
        """The position of the piece that `next` gives; costs microseconds and is never changed later."""

    @abstractmethod
    def load(self, state: State) -> None:
        """Go to a saved position; reads nothing yet."""


class StatelessCursor(Cursor):
    """A pass that stands where what it reads stands.

    Args:
        source: what it reads.
    """

    def __init__(self, source: Cursor | RowReader) -> None:
        self._input: Any = source

    @override
    def state(self) -> State:
        return self._input.state()

    @override
    def load(self, state: State) -> None:
        self._input.load(state)


class JoinedCursor(Cursor):
    """A pass over the rows of several nodes at once, which stands where its passes over them stand.

    Args:
        inputs: the rows of each.
    """

    def __init__(self, inputs: Sequence[RowReader]) -> None:
        self._inputs = inputs

    @override
    def state(self) -> State:
        return {"inputs": [rows.state() for rows in self._inputs]}

    @override
    def load(self, state: State) -> None:
        for rows, saved in zip(self._inputs, state["inputs"], strict=True):
            rows.load(saved)


class Node(ABC):
    """A source of rows, or what is done to the rows of other nodes: an immutable value, cheap to rebuild.

    Attributes:
        orders_only: it gives rows of its children, chosen and ordered but never changed, and so it can do its work on
            references to rows as well as on record batches.
    """

    orders_only: ClassVar[bool] = False

    # -- what it is ---------------------------------------------------------------------------------------------------

    @property
    def children(self) -> tuple[Node, ...]:
        """The nodes that it reads."""
        return ()

    def with_children(self, children: Sequence[Node]) -> Self:  # noqa: ARG002 - a source has none
        """The same node over other children."""
        return self

    @property
    @abstractmethod
    def num_shards(self) -> int:
        """Into how many parts, at most, `shard_data_sources` can divide it."""

    @property
    def num_rows(self) -> int | None:
        """Rows of a pass, where they are known without reading."""
        return None

    @property
    def schema(self) -> pa.Schema | None:
        """Schema of the rows, where it is known without reading."""
        return None

    @property
    def settings(self) -> Mapping[str, Any]:
        """All that decides which rows come in which order, its children apart, as JSON; a state is bound to it."""
        return {}

    # -- other nodes made of it ---------------------------------------------------------------------------------------

    def shuffle_data_sources(self, seed: Seed) -> Node:
        """The same rows with the shards of each source in random order."""
        return self.with_children([child.shuffle_data_sources(seed) for child in self.children])

    def shard_data_sources(self, count: int, index: int, *, contiguous: bool = False) -> Node:
        """The part of the shards that reader `index` of `count` gets; count is at most `num_shards`.

        Args:
            count: number of readers.
            index: number of the reader.
            contiguous: give a run of shards rather than every count-th.
        """
        parts = [child.shard_data_sources(count, index, contiguous=contiguous) for child in self.children]
        return self.with_children(parts)

    def reshard_data_sources(self, count: int | None = None) -> Node:
        """The same rows in more, smaller shards, as far as sources can be cut.

        Args:
            count: how many are wanted; None is as many as there are units of the format (row groups, record batches).
        """
        return self.with_children([child.reshard_data_sources(count) for child in self.children])

    def split(self, count: int, index: int) -> Node:
        """The rows of reader `index` of `count`, however few shards there are: together all rows, each once."""
        return self.with_children([child.split(count, index) for child in self.children])

    def shift_seeds(self, by: int) -> Node:
        """The same node with other seeds, for a worker."""
        return self.with_children([child.shift_seeds(by) for child in self.children])

    def at_epoch(self, epoch: int) -> Node:
        """The node as it is in an epoch after the first: what is shuffled comes in another order."""
        return self.with_children([child.at_epoch(epoch) for child in self.children])

    def after_passes(self, count: int) -> Node:
        """The node as a mixture reads it again after so many passes: what is shuffled comes in another order."""
        return self.at_epoch(mixed(count)) if count else self

    def counted(self) -> Node:
        """The same node with the rows of its files counted, where footers tell them."""
        return self.with_children([child.counted() for child in self.children])

    def typed(self) -> Node:
        """The same node with the schemas of its files known, where the files themselves tell them."""
        return self.with_children([child.typed() for child in self.children])

    # -- reading ------------------------------------------------------------------------------------------------------

    @property
    def indexed(self) -> bool:
        """Whether its rows can be had as references to rows of tables."""
        return self.orders_only and all(child.indexed for child in self.children)

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables that references refer to, each once."""
        return tuple({id(table): table for child in self.children for table in child.tables}.values())

    @abstractmethod
    def open(self, bases: Bases | None) -> Cursor:
        """Begin a pass.

        Args:
            bases: None to get record batches; else references, which these are the bases of.
        """


@dataclass(frozen=True, eq=False)
class Wrapper(Node):
    """A node over one other, with as many shards.

    Attributes:
        child: the other.
    """

    child: Node

    @property
    @override
    def children(self) -> tuple[Node, ...]:
        return (self.child,)

    @override
    def with_children(self, children: Sequence[Node]) -> Self:
        [child] = children
        return replace(self, child=child)

    @property
    @override
    def num_shards(self) -> int:
        return self.child.num_shards

    @property
    @override
    def schema(self) -> pa.Schema | None:
        return self.child.schema if self.orders_only else None


@dataclass(frozen=True, eq=False)
class Joined(Node):
    """A node over several others.

    Attributes:
        parts: the others.
    """

    parts: tuple[Node, ...]

    @property
    @override
    def children(self) -> tuple[Node, ...]:
        return self.parts

    @override
    def with_children(self, children: Sequence[Node]) -> Self:
        return replace(self, parts=tuple(children))

    @property
    @override
    def schema(self) -> pa.Schema | None:
        return known_schema(part.schema for part in self.parts)
