"""Rows of several sources mixed, in turn or by chance."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from typing_extensions import override

from raydata_ext.streaming.known import known_sum
from raydata_ext.streaming.mixing import draws_by_weight, take_picked
from raydata_ext.streaming.nodes.base import Bases, Cursor, Joined
from raydata_ext.streaming.nodes.gather import open_rows
from raydata_ext.streaming.order import picks_until_used_up
from raydata_ext.streaming.row_reader import RowReader
from raydata_ext.streaming.rows import References, Rows, widened
from raydata_ext.streaming.seeds import BLOCK, Draws, Seed
from raydata_ext.table import unify_schemas

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa


StoppingStrategy: TypeAlias = Literal["first_exhausted", "all_exhausted", "all_exhausted_without_replacement"]


@dataclass(frozen=True, eq=False)
class Interleave(Joined):
    """The next row of one part after another.

    Attributes:
        probabilities: how likely each is picked; None is each in turn.
        seed: of the picks.
        stopping_strategy: `"first_exhausted"` ends with the last row of the first source that ends; `"all_exhausted"`
            when each has ended once, where a source that ended begins again, shuffled anew if it is shuffled;
            `"all_exhausted_without_replacement"` gives each row once.
    """

    probabilities: tuple[float, ...] | None
    seed: Seed
    stopping_strategy: StoppingStrategy

    orders_only = True

    @property
    @override
    def num_shards(self) -> int:
        return min(part.num_shards for part in self.parts)

    @property
    @override
    def num_rows(self) -> int | None:
        rows = [part.num_rows for part in self.parts]
        total = known_sum(rows)
        if total is None or self.stopping_strategy == "all_exhausted_without_replacement":
            return total
        if self.probabilities is None and self.stopping_strategy == "first_exhausted":
            shortest = min(count for count in rows if count is not None)
            return 0 if shortest == 0 else (shortest - 1) * len(rows) + rows.index(shortest) + 1
        return None

    @property
    @override
    def settings(self) -> Mapping[str, Any]:
        probabilities = None if self.probabilities is None else list(self.probabilities)
        seed = {} if self.probabilities is None else {"seed": self.seed.value}
        return {"probabilities": probabilities, "stopping_strategy": self.stopping_strategy, **seed}

    @override
    def shift_seeds(self, by: int) -> Interleave:
        parts = tuple(part.shift_seeds(by) for part in self.parts)
        return replace(self, parts=parts, seed=self.seed.shifted(by))

    @override
    def at_epoch(self, epoch: int) -> Interleave:
        parts = tuple(part.at_epoch(epoch) for part in self.parts)
        return replace(self, parts=parts, seed=self.seed.shifted(epoch))

    @override
    def open(self, bases: Bases | None) -> InterleaveCursor:
        return InterleaveCursor(self, bases)

    def picks(self) -> Draws | Cycle:
        """The number of the source of each row."""
        if self.probabilities is None:
            return Cycle(len(self.parts))
        return draws_by_weight(self.probabilities, self.seed)


class Cycle:
    """0, 1, ..., count - 1, again and again; read like `Draws`.

    Args:
        count: how many there are.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._position = 0

    def peek(self) -> References:
        """Numbers to come."""
        return (np.arange(BLOCK) + self._position) % self._count

    def use(self, count: int) -> None:
        """Use so many of them."""
        self._position = (self._position + count) % self._count

    def state(self) -> Any:
        """The position."""
        return self._position

    def load(self, state: Any) -> None:
        """Go to a saved position."""
        self._position = state


class InterleaveCursor(Cursor):
    """A pass over a mixture.

    Args:
        node: the mixture.
        bases: see `Node.open`.
    """

    def __init__(self, node: Interleave, bases: Bases | None) -> None:
        self._node = node
        self._bases = bases
        self._picks = node.picks()
        self._passes = [0] * len(node.parts)
        self._exhausted = np.zeros(len(node.parts), np.bool_)
        self._counts = np.array(node.probabilities or [1.0] * len(node.parts)) > 0  # others are never picked or read
        self._empty: set[int] = set()  # sources without any rows
        self._inputs = [self._opened(source) for source in range(len(node.parts))]
        self._schema: pa.Schema | None = None  # of all rows, where record batches are mixed

    @override
    def next(self) -> Rows | None:
        available = self._rows_at_hand()
        if self._bases is None and self._schema is None and any(available):
            self._schema = unify_schemas(
                source.peek().schema for source, rows in zip(self._inputs, available, strict=True) if rows
            )
        while not self._has_ended():
            picks = self._picks.peek()
            has_rows = np.array(available) > 0
            places = np.flatnonzero(has_rows[picks])  # picks of sources that are through for good are passed over
            if not len(places):
                self._picks.use(len(picks))
                continue
            served = picks_until_used_up(picks[places], available)
            self._picks.use(int(places[served - 1]) + 1)
            return self._taken(picks[places[:served]])
        return None

    @override
    def state(self) -> dict[str, Any]:
        return {
            "picks": self._picks.state(),
            "passes": list(self._passes),
            "exhausted": self._exhausted.tolist(),
            "schema": self._schema,
            "inputs": [source.state() for source in self._inputs],
        }

    @override
    def load(self, state: dict[str, Any]) -> None:
        self._picks.load(state["picks"])
        self._passes = list(state["passes"])
        self._exhausted = np.array(state["exhausted"], np.bool_)
        self._schema = state["schema"]
        self._inputs = [self._opened(source) for source in range(len(self._inputs))]
        for source, saved in zip(self._inputs, state["inputs"], strict=True):
            source.load(saved)

    def _rows_at_hand(self) -> list[int]:
        """Rows that each source has at hand; one that has just ended is marked, and begins again where it is to."""
        picked = self._counts.tolist()
        available = [self._inputs[source].available() if picked[source] else 0 for source in range(len(picked))]
        for source, rows in enumerate(available):
            if rows or not picked[source]:
                continue
            self._exhausted[source] = True
            if self._node.stopping_strategy == "all_exhausted" and source not in self._empty:
                self._passes[source] += 1
                self._inputs[source] = self._opened(source)
                available[source] = self._inputs[source].available()
                if not available[source]:
                    self._empty.add(source)
        return available

    def _has_ended(self) -> bool:
        ended = self._exhausted[self._counts]
        return bool(ended.any() if self._node.stopping_strategy == "first_exhausted" else ended.all())

    def _taken(self, picks: References) -> Rows:
        rows = take_picked(self._inputs, picks)
        return rows if self._schema is None else widened(rows, self._schema)

    def _opened(self, source: int) -> RowReader:
        """A source from its begin; after its first pass in another order, if it is shuffled."""
        return RowReader(open_rows(self._node.parts[source].after_passes(self._passes[source]), self._bases))
