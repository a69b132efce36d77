"""A plan: shards to start from and the steps that their rows pass."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from raydata_ext.plan.chain import Position
from raydata_ext.sources import CompressedFile

if TYPE_CHECKING:
    from raydata_ext.plan.input_shard import InputShard
    from raydata_ext.plan.steps import Step


@dataclass(frozen=True, eq=False)
class Plan:
    """Shards and steps, as values. Running it is the engine's matter.

    Attributes:
        shards: what it starts from.
        steps: what is done, in order.
        steps_before: how many steps were done to the shards already; messages number the steps on from there.
    """

    shards: tuple[InputShard, ...]
    steps: tuple[Step, ...] = ()
    steps_before: int = 0

    def then(self, step: Step) -> Plan:
        """The plan with one more step."""
        return replace(self, steps=(*self.steps, step))

    @property
    def num_bytes(self) -> int:
        """Bytes of input."""
        return sum(shard.num_bytes for shard in self.shards)

    @property
    def positions(self) -> list[Position]:
        """Where each shard stands; rows are counted as far as they are known."""
        positions: list[Position] = []
        first: int | None = 0
        for index, shard in enumerate(self.shards):
            positions.append(Position(index, first))
            rows = shard.num_rows
            first = None if first is None or rows is None else first + rows
        return positions

    def head(self) -> tuple[Plan, tuple[Step, ...]]:
        """The steps that can be run at once, and those that must wait for the number of rows of each shard.

        A step that sees global row numbers has to know how many rows there are before each shard, so everything before
        it is run first where that number is open. The same holds for a step that sees numbers of shards, where it is
        open how many shards a big compressed file makes.
        """
        counted = all(shard.num_rows is not None for shard in self.shards)
        numbered = not any(isinstance(shard, CompressedFile) for shard in self.shards)
        for number, step in enumerate(self.steps):
            if (step.needs_positions and not counted) or (step.needs_rank and not numbered):
                return replace(self, steps=self.steps[:number]), self.steps[number:]
            counted = counted and step.keeps_row_count
        return self, ()
