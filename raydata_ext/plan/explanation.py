"""Why a shard of a plan has a result or has none, in words and without running anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from raydata_ext.fingerprint import explain_difference
from raydata_ext.plan.chain import Chain
from raydata_ext.plan.resolution import ShardState, resolve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from raydata_ext.plan.history import Origin
    from raydata_ext.plan.plan import Plan
    from raydata_ext.plan.workspace import Workspace


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
    """What a run of a plan would do; its text is for reading.

    Attributes:
        steps: the steps in order, numbered as messages number them, and lines that say where a result is kept, where
            other workers take over, and where all before has to be run first.
        shards: one for each shard of the first part.
    """

    steps: Sequence[str]
    shards: Sequence[ShardExplanation]

    @property
    def hits(self) -> int:
        """Shards whose result is there."""
        return sum(shard.hit for shard in self.shards)

    def __str__(self) -> str:
        head = self.steps or ["no steps: rows as they are read"]
        rows = [f"{'hit ' if shard.hit else 'miss'}  {shard.label}: {shard.reason}" for shard in self.shards]
        missing = len(self.shards) - self.hits
        return "\n".join([*head, *rows, f"{len(self.shards)} shards: {self.hits} hits, {missing} to compute"])


def explain(plan: Plan, workspace: Workspace, *, quarantine: bool = False, is_whole: bool = True) -> Explanation:
    """Say for each shard of a plan whether its result exists, and if not, what changed since it last had one.

    Args:
        plan: shards and steps.
        workspace: holds the results.
        quarantine: whether the run that is asked about sets bad rows aside.
        is_whole: whether the run has no steps after those of the plan.
    """
    now, later = plan.head()
    resolution = resolve(now, workspace, quarantine=quarantine)
    steps = _described(resolution.chain)
    if later:
        steps.append("(all above is run first: the next step needs the number of rows of each shard)")
        steps += _described(Chain.of(later, now.steps_before + len(resolution.chain.steps)))
    reasons = _Reasons(resolution.chain, workspace, is_whole=is_whole)
    shards = [
        ShardExplanation(state.shard.label, state.result is not None, reasons.of(state)) for state in resolution.states
    ]
    return Explanation(steps, shards)


def _described(chain: Chain) -> list[str]:
    """The steps of a chain, and lines between them where a result is kept and where other workers take over."""
    lines: list[str] = []
    start = 0
    for group in chain.groups:
        for number in range(start, group.stop):
            if number in chain.kept:
                lines.append("(result kept)")
            if number == start and len(chain.groups) > 1:
                lines.append(f"on {group.workers or 'the workers of the run'}:")
            lines.append(f"{chain.steps_before + number + 1}. {chain.steps[number].label}")
        start = group.stop
    return lines


class _Reasons:
    """Reasons for the shards of one plan; what is said of the steps is found once, for most shards share it."""

    def __init__(self, chain: Chain, workspace: Workspace, *, is_whole: bool) -> None:
        self._chain = chain
        self._workspace = workspace
        self._is_whole = is_whole
        self._of_steps: dict[tuple[tuple[str, str], ...], list[str]] = {}

    def of(self, state: ShardState) -> str:
        if not state.is_cut:
            return "compressed file, not decoded yet or touched since: its parts become shards when they are known"
        if state.result is not None:
            return f"{state.result.rows} rows, key {state.result.key}"
        origin = self._workspace.history.origin(state.place)
        changes = ["new input"] if origin is None else self._changes(state, origin)
        if state.prefix is not None:
            changes.append(f"goes on from the result after step {state.prefix[0]}")
        return "; ".join(changes)

    def _changes(self, state: ShardState, origin: Origin) -> list[str]:
        if origin.steps not in self._of_steps:
            self._of_steps[origin.steps] = self._step_changes(origin)
        changes = self._input_changes(state, origin) + self._of_steps[origin.steps]
        if not changes and state.identity is None:
            return ["input was touched since it was last read; its content is compared when it is read"]
        return changes or [self._why_gone(origin)]

    def _why_gone(self, origin: Origin) -> str:
        there = self._workspace.store.get(origin.key)
        if there is not None and there.quarantined:
            return f'its result lacks {there.quarantined} rows that were set aside; on_error="quarantine" takes it'
        return f"the result {origin.key} is gone from the cache, or damaged"

    def _input_changes(self, state: ShardState, origin: Origin) -> list[str]:
        pieces = len(state.shard.pieces)
        if state.shard.digest != origin.reader:  # then contents cannot be compared: they say what counts as content
            return ["format or options of the source changed"]
        if pieces != origin.pieces:
            return [f"the shard is made of {pieces} files, and was of {origin.pieces}"]
        if state.identity is not None and state.identity != origin.identity:
            return ["input file content changed"]
        return []

    def _step_changes(self, origin: Origin) -> list[str]:
        changes = []
        steps = [
            (step.label, mark.digest) for step, mark in zip(self._chain.steps, self._chain.fingerprints, strict=True)
        ]
        for number, (label, digest) in enumerate(steps):
            name = self._chain.label(number)
            if number >= len(origin.steps):
                changes.append(f"{name} is new")
                continue
            old_label, old_digest = origin.steps[number]
            if digest == old_digest:
                continue
            old = self._workspace.history.step_parts(old_digest)
            known = explain_difference(old, self._chain.fingerprints[number].parts) if old is not None else []
            was = f", which was `{old_label}`," if old_label != label else ""
            changes.append(f"{name}{was}: {'; '.join(known)}" if known else f"{name}{was} changed")
        if self._is_whole:
            changes += [f"step `{label}` is no longer there" for label, _ in origin.steps[len(steps) :]]
        return changes
