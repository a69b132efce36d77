"""How a shard of a run ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from raydata_ext.engine.decode_task import Decoded
    from raydata_ext.engine.shard_task import ShardOutcome
    from raydata_ext.engine.worker import Completed
    from raydata_ext.plan import InputShard
    from raydata_ext.store import Receipt


@dataclass(frozen=True, eq=False)
class ShardResult:
    """What became of one shard in one part of a plan.

    Attributes:
        number: position of the shard among all of them.
        shard: the input.
        receipt: of the result; where the run failed before that was there, of the latest before it.
        work: what workers reported, one for each group of steps that was computed; none where all was there before.
        is_complete: whether the shard has passed all steps of the plan.
        decoded: how it was decompressed, where it is a part of a big compressed file and was not there before.
    """

    number: int
    shard: InputShard
    receipt: Receipt
    work: tuple[Completed[ShardOutcome], ...] = ()
    is_complete: bool = True
    decoded: Completed[Decoded] | None = None

    @property
    def done(self) -> Completed[ShardOutcome] | None:
        """What the last worker reported; None where all was there before."""
        return self.work[-1] if self.work else None

    @property
    def cached(self) -> bool:
        """Whether nothing had to be computed."""
        return all(done.value.cached for done in self.work)
