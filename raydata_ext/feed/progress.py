"""Who takes part, and how far each rank is: the books of a coordinator, without Ray and without rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from raydata_ext.errors import StaleFeedError
from raydata_ext.feed.feed_state import Position

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Member:
    """A feed that takes part.

    Attributes:
        token: tells feeds of one rank apart.
        rank: its rank.
        world_size: number of ranks when it joined.
        generation: raised whenever the ranks begin anew together.
    """

    token: str
    rank: int
    world_size: int
    generation: int


@dataclass
class RankProgress:
    """How far a rank is.

    Attributes:
        token: of its feed.
        epoch: epoch of the step that it receives next.
        step: the step that it receives next.
        heard: when it was heard of last; seconds on the clock of the coordinator.
        figures: what its feed last told of itself.
    """

    token: str
    epoch: int
    step: int
    heard: float
    figures: dict[str, Any] = field(default_factory=dict)


class Progress:
    """The ranks of the present generation.

    Args:
        start: what comes next for all of them.
    """

    def __init__(self, start: Position) -> None:
        self.start = start
        self.generation = 0
        self.world_size: int | None = None
        self.ranks: dict[int, RankProgress] = {}

    def restart(self, start: Position) -> None:
        """Let all ranks begin anew at a position; feeds that took part are stale."""
        self.start = start
        self.generation += 1
        self.world_size = None
        self.ranks = {}

    def join(self, token: str, rank: int, world_size: int, now: float) -> tuple[Member, RankProgress]:
        """Let a feed take part; it goes on where its rank is.

        The first feed of another world size begins a new generation, at the first step that not all ranks received. A
        second feed of one rank takes the place of the first.
        """
        if self.world_size != world_size:
            if self.world_size is not None:
                epoch, step = self.common
                self.restart(Position(epoch, step))
            self.world_size = world_size
        before = self.ranks.get(rank)
        epoch, step = (self.start.epoch, self.start.step) if before is None else (before.epoch, before.step)
        self.ranks[rank] = RankProgress(token, epoch, step, now)
        return Member(token, rank, world_size, self.generation), self.ranks[rank]

    def report(self, member: Member, epoch: int, step: int, figures: Mapping[str, Any], now: float) -> bool:
        """Note what comes next for a member; returns whether the common position moved.

        Raises:
            StaleFeedError: it was replaced.
        """
        record = self._record(member)
        before = self.common
        record.epoch, record.step, record.heard = epoch, step, now
        record.figures = dict(figures)
        return self.common != before

    @property
    def common(self) -> tuple[int, int]:
        """Epoch and step of the first step that not all ranks received."""
        start = (self.start.epoch, self.start.step)
        if self.world_size is None or len(self.ranks) < self.world_size:
            return start
        return min((record.epoch, record.step) for record in self.ranks.values())

    def _record(self, member: Member) -> RankProgress:
        if member.generation != self.generation:
            raise StaleFeedError(
                f"rank {member.rank} of {member.world_size} is of generation {member.generation}; the feed is at"
                f" generation {self.generation}, with {self.world_size or 'no'} ranks yet; make a new feed of the"
                " coordinator"
            )
        record = self.ranks.get(member.rank)
        if record is None or record.token != member.token:
            raise StaleFeedError(
                f"another feed has taken the place of this one as rank {member.rank} of {member.world_size}; use that"
                " one, or make a new feed"
            )
        return record
