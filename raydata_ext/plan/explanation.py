"""Why a shard of a plan has a result or has none, without running anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from raydata_ext.plan.plan import Plan
from raydata_ext.plan.resolution import ShardState, resolve
from raydata_ext.sources import IdentityIndex
from raydata_ext.store import Store


@dataclass(frozen=True)
class ShardExplanation:
    """What a run would do about one shard.

    Attributes:
        label: the shard.
        hit: whether its result is there.
        reason: in words.
    """

    label: str
    hit: bool
    reason: str


@dataclass(frozen=True)
class Explanation:
    """What a run of a plan would do; its text is a table for reading.

    Attributes:
        steps: the steps in order; a line between two parts where the first has to be run before the second.
        shards: one for each shard of the first part.
    """

    steps: Sequence[str]
    shards: Sequence[ShardExplanation]

    @property
    def hits(self) -> int:
        """Shards whose result is there."""
        return sum(shard.hit for shard in self.shards)

    def __str__(self) -> str:
        head = [f"{number}. {step}" for number, step in enumerate(self.steps, 1)] or ["no steps: rows as they are read"]
        rows = [f"{'hit ' if shard.hit else 'miss'}  {shard.label}: {shard.reason}" for shard in self.shards]
        missing = len(self.shards) - self.hits
        return "\n".join([*head, *rows, f"{len(self.shards)} shards: {self.hits} hits, {missing} to compute"])


def explain(plan: Plan, store: Store, index: IdentityIndex) -> Explanation:
    """Say for each shard of a plan whether its result exists, and if not, from where it would be computed."""
    now, later = plan.head()
    resolution = resolve(now, store, index)
    steps = [step.label for step in now.steps]
    if later:
        steps += ["(everything above runs first: the next step needs the number of rows of each shard)"]
        steps += [step.label for step in later]
    return Explanation(steps, [_explain_shard(state) for state in resolution.states])


def _explain_shard(state: ShardState) -> ShardExplanation:
    label = state.shard.label
    if state.result is not None:
        return ShardExplanation(label, hit=True, reason=f"{state.result.rows} rows under key {state.result.key}")
    if state.keys is None:
        return ShardExplanation(label, hit=False, reason="input is new or was touched since it was last read")
    if state.prefix is not None:
        return ShardExplanation(label, hit=False, reason=f"to be computed from the result after step {state.prefix[0]}")
    return ShardExplanation(label, hit=False, reason="no result for this content and these steps")
