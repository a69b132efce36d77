"""Sources mixed for ever by weights that change at given steps.

A source that ends begins again in another order. Weights decide nothing but how likely a source gives the next row; so
where they change, each source goes on where it is.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import override

from raydata_ext.feed.layout import ENDLESS
from raydata_ext.streaming import IterableDataset
from raydata_ext.streaming.mixing import draws_by_weight, take_picked
from raydata_ext.streaming.nodes.base import Bases, Cursor, Node, State
from raydata_ext.streaming.nodes.gather import open_rows
from raydata_ext.streaming.order import picks_until_used_up
from raydata_ext.streaming.row_reader import RowReader
from raydata_ext.streaming.seeds import Draws, Seed
from raydata_ext.table import unify_schemas

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from raydata_ext.streaming.rows import References, Rows


@dataclass(frozen=True)
class Stage:
    """Weights from a row on.

    Attributes:
        start: first row, or first step where the stage is a user's.
        weights: how likely each source is; they add up to 1.
    """

    start: int
    weights: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Mixture(Node):
    """Rows of several sources by chance, without end.

    Attributes:
        names: of the sources.
        sources: the nodes.
        stages: the first one starts at 0. In a user's tree starts are steps; in a lane they are rows of the lane.
        seed: of the choice.
    """

    names: tuple[str, ...]
    sources: tuple[Node, ...]
    stages: tuple[Stage, ...]
    seed: Seed

    orders_only = True

    @property
    @override
    def children(self) -> tuple[Node, ...]:
        return self.sources

    @override
    def with_children(self, children: Sequence[Node]) -> Mixture:
        return replace(self, sources=tuple(children))

    @property
    @override
    def num_shards(self) -> int:
        return min(source.num_shards for source in self.sources)

    @property
    @override
    def num_rows(self) -> int:
        return ENDLESS

    @property
    @override
    def schema(self) -> pa.Schema | None:
        schemas = [source.schema for source in self.sources]
        return None if None in schemas else unify_schemas(schemas)

    @property
    @override
    def settings(self) -> Mapping[str, Any]:
        return {"names": list(self.names), "seed": self.seed.value}

    @override
    def at_epoch(self, epoch: int) -> Mixture:
        return replace(
            self, sources=tuple(source.at_epoch(epoch) for source in self.sources), seed=self.seed.shifted(epoch)
        )

    @override
    def open(self, bases: Bases | None) -> MixtureCursor:
        return MixtureCursor(self, bases)


class MixtureCursor(Cursor):
    """A pass over a mixture.

    Args:
        node: the mixture.
        bases: see `Node.open`.
    """

    def __init__(self, node: Mixture, bases: Bases | None) -> None:
        self._node = node
        self._bases = bases
        self._row = 0
        self._passes = [0] * len(node.sources)
        self._taken = [0] * len(node.sources)
        self._inputs: list[RowReader | None] = [None] * len(node.sources)  # opened when they are first picked
        self._stage = 0
        self._picks = self._draws()

    @override
    def next(self) -> Rows:
        picks = self.upcoming()
        available = [self._available(source) if source in picks else 0 for source in range(len(self._inputs))]
        served = picks_until_used_up(picks, available)
        self._picks.use(served)
        self._row += served
        for source, count in enumerate(np.bincount(picks[:served], minlength=len(self._inputs)).tolist()):
            self._taken[source] += count
        return take_picked(self._inputs, picks[:served])

    @override
    def state(self) -> dict[str, Any]:
        return {
            "row": self._row,
            "passes": list(self._passes),
            "taken": list(self._taken),
            "picks": self._picks.state(),
            "stage": self._stage,
            "inputs": [None if reader is None else reader.state() for reader in self._inputs],
        }

    @override
    def load(self, state: dict[str, Any]) -> None:
        self._row, self._stage = state["row"], state["stage"]
        for source, (passes, taken) in enumerate(zip(state["passes"], state["taken"], strict=True)):  # others are new
            self._passes[source], self._taken[source] = passes, taken
        self._picks = self._draws()
        self._picks.load(state["picks"])
        for source, saved in enumerate(state["inputs"]):
            self._inputs[source] = None
            if saved is not None:
                self._input(source).load(saved)

    def upcoming(self) -> References:
        """Numbers of the sources of the next rows, one at least, as far as they are drawn; of one stage."""
        left = self._rows_of_stage()
        while left == 0:
            self._stage += 1
            self._picks = self._draws()
            left = self._rows_of_stage()
        return self._picks.peek()[:left]

    def _draws(self) -> Draws:
        weights = self._node.stages[self._stage].weights
        return draws_by_weight(weights, self._node.seed.shifted(self._stage))

    def _rows_of_stage(self) -> int:
        stages = self._node.stages
        end = stages[self._stage + 1].start if self._stage + 1 < len(stages) else ENDLESS
        return max(0, end - self._row)

    def _available(self, source: int) -> int:
        found = self._input(source).available()
        if not found:
            self._passes[source] += 1
            self._inputs[source] = None
            found = self._input(source).available()
            if not found:
                raise ValueError(f"source {self._node.names[source]!r} of the mixture has no rows; leave it out")
        return found

    def _input(self, source: int) -> RowReader:
        reader = self._inputs[source]
        if reader is None:
            node = self._node.sources[source].after_passes(self._passes[source])
            reader = RowReader(open_rows(node, self._bases))
            self._inputs[source] = reader
        return reader


def mix(
    sources: Mapping[str, IterableDataset], stages: Sequence[tuple[int, Mapping[str, float]]], *, seed: int
) -> IterableDataset:
    """Mix streams for ever, by weights that may change at steps of the feed.

    Args:
        sources: name to stream.
        stages: `(first step, name to weight)`, the first from step 0 on. Weights are relative; a source that a stage
            does not name gives no rows in it, and goes on where it was when a later stage names it.
        seed: of the choice, not negative.

    Returns:
        A stream without end; steps are those of the `StreamingCoordinator` that it is given to.

    Raises:
        ValueError: stages do not start at 0 and ascend, or name sources that there are not, or have no weight above 0.
    """
    if seed < 0:
        raise ValueError(f"seed is {seed}; it must not be negative")
    starts = [start for start, _ in stages]
    if not sources or not starts or starts[0] != 0 or any(a >= b for a, b in itertools.pairwise(starts)):
        raise ValueError(f"stages start at steps {starts}; they must start at 0 and ascend, and there must be sources")
    made = tuple(Stage(start, _normalised(weights, list(sources))) for start, weights in stages)
    return IterableDataset(Mixture(tuple(sources), tuple(source.node for source in sources.values()), made, Seed(seed)))


def drawn_so_far(node: Node, bases: Bases | None, saved: State) -> tuple[References, list[int]]:
    """Rows of each source that a reader of a mixture has taken, and how often each source has ended.

    Args:
        node: the mixture.
        bases: see `Node.open`.
        saved: position of a `RowReader` of it.
    """
    assert isinstance(node, Mixture)
    taken = np.zeros(len(node.sources), np.int64)
    position = saved["at"]
    taken[: len(position["taken"])] = position["taken"]
    if saved["rows"]:
        cursor = MixtureCursor(node, bases)
        cursor.load(position)
        taken += np.bincount(cursor.upcoming()[: saved["rows"]], minlength=len(taken))
    return taken, [*position["passes"], *[0] * (len(taken) - len(position["passes"]))]


def _normalised(weights: Mapping[str, float], names: Sequence[str]) -> tuple[float, ...]:
    unknown = sorted(set(weights) - set(names))
    if unknown:
        raise ValueError(f"weights name {unknown}; the sources are {list(names)}")
    values = np.array([weights.get(name, 0.0) for name in names], float)
    if (values < 0).any() or values.sum() <= 0:
        raise ValueError(f"weights are {dict(weights)}; they must not be negative, and one at least must be above 0")
    return tuple((values / values.sum()).tolist())
