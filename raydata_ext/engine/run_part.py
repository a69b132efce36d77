"""One part of a plan on its way: what exists is taken from the store, what is missing is computed.

The steps run group by group, each on its own workers: all shards pass the first group, are stored, and go on from there
on the workers of the next. A shard whose last result is there takes no part in any of it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from raydata_ext.engine.decode_task import DecodeTask
from raydata_ext.engine.decoding import Decoding
from raydata_ext.engine.engine import SMALL_WORK_BYTES
from raydata_ext.engine.paused_collection import paused_collection
from raydata_ext.engine.shard_result import ShardResult
from raydata_ext.engine.shard_task import ShardTask
from raydata_ext.engine.worker import Completed, Program
from raydata_ext.errors import RaydataError
from raydata_ext.plan import resolve
from raydata_ext.sources import Sighting

if TYPE_CHECKING:
    from collections.abc import Iterable

    from raydata_ext.engine.engine import Engine
    from raydata_ext.engine.error_policy import ErrorTally
    from raydata_ext.engine.progress import RunProgress
    from raydata_ext.engine.shard_task import ShardOutcome
    from raydata_ext.engine.worker import Task
    from raydata_ext.plan import Plan, Resolution, ShardState, StepGroup, Workspace
    from raydata_ext.plan.history import Origin
    from raydata_ext.sources import IdentityIndex
    from raydata_ext.store import Receipt


class PartRun:
    """A run of a plan whose steps can be run at once (see `Plan.head`).

    Args:
        plan: what is to be done.
        workspace: where results are and go, and what is known of inputs.
        engine: does the work.
        progress: is told how far it is.
        tally: says what happens to bad rows, and counts them.
    """

    @paused_collection()
    def __init__(
        self, plan: Plan, workspace: Workspace, engine: Engine, progress: RunProgress, tally: ErrorTally
    ) -> None:
        quarantine = tally.policy.quarantines
        resolution = resolve(plan, workspace, quarantine=quarantine)
        if _learn_contents(resolution, workspace.index):
            resolution = resolve(plan, workspace, quarantine=quarantine)
        self._plan = plan
        self._workspace = workspace
        self._engine = engine
        self._progress = progress
        self._tally = tally
        self._resolution = resolution
        self._decoding = Decoding(resolution, workspace, quarantine=quarantine)
        self._passages: dict[ShardState, _Passage] = {}
        self._origins: dict[str, Origin] = {}

    def run(self) -> None:
        """Compute what is missing.

        Raises:
            QuarantineError: more rows were set aside than may be.
            StepError: a user's function raised.
            ReadError: an input is not what it should be.
            WorkerLostError: a worker died again and again.
        """
        self._tally.begin(self._plan.num_bytes)
        try:
            self._count_results()
            for group in self._resolution.chain.groups:
                self._run_group(group)
        finally:
            self._workspace.index.save()
            self._workspace.history.save(self._origins, self._resolution.chain.fingerprints)
        self._tally.end()
        for state in self._decoding.states:
            if self._passage(state).state.result is None:
                raise RaydataError(f"{state.shard.label}: the run ended without a result of this shard; run it again")

    @paused_collection()
    def results(self, *, is_last: bool) -> list[ShardResult]:
        """The shards that have a result by now, be it one before the last, in order. After `run` these are all shards.

        Args:
            is_last: whether this is the last part of the plan.
        """
        results: list[ShardResult] = []
        for number, state in enumerate(self._decoding.states):
            passage = self._passage(state)
            if passage.receipt is not None:
                complete = is_last and passage.state.result is not None
                decoded = self._decoding.decoded(state)
                results.append(ShardResult(number, state.shard, passage.receipt, passage.work, complete, decoded))
        return results

    @paused_collection()
    def _count_results(self) -> None:
        """Take note of the results that are there already."""
        for state in self._resolution.states:
            if state.result is not None:
                self._count(self._passage(state), state.result)

    def _run_group(self, group: StepGroup) -> None:
        """Let all shards pass the steps of a group that have not yet."""
        tasks = self._tasks(group)
        num_shards, waiting = self._decoding.num_shards, self._waiting(group)
        self._progress.begin(
            self._phase(group), num_shards, num_shards - len(waiting), sum(state.shard.num_bytes for state in waiting)
        )
        try:
            for done in self._engine.run(self._program(group), tasks, self._progress.watch, group.workers):
                task = tasks[done.number]
                if isinstance(task, DecodeTask):
                    states, more = self._decoding.take(task, done)
                    tasks += more
                    for state in states:
                        self._see(state, group)
                elif isinstance(task, ShardTask):
                    self._take(self._passage(task.state), done)
        finally:
            self._progress.end()

    def _tasks(self, group: StepGroup) -> list[Task[Any]]:
        """What there is to do for a group, as far as it is known; largest first."""
        if group is self._resolution.chain.groups[0]:
            return self._decoding.first_tasks()
        return sorted(map(ShardTask, self._waiting(group)), key=lambda task: -task.num_bytes)

    def _waiting(self, group: StepGroup) -> list[ShardState]:
        """The latest states of the shards that have not passed a group."""
        states = [self._passage(state).state for state in self._decoding.states]
        return [state for state in states if state.reached(group.stop) is None]

    def _phase(self, group: StepGroup) -> str:
        groups = self._resolution.chain.groups
        return "computing" if len(groups) == 1 else f"computing {groups.index(group) + 1}/{len(groups)}"

    def _program(self, group: StepGroup) -> Program:
        states = self._resolution.states
        return Program(
            self._resolution.chain,
            self._workspace.store,
            self._workspace.local_directory,
            (*_first_local_input(states), *_first_local_input(reversed(states))),
            self._tally.policy,
            group.stop,
        )

    def _passage(self, state: ShardState) -> _Passage:
        """Where the shard is by now that this was, or is, a state of."""
        return self._passages.setdefault(state, _Passage(state))

    def _see(self, state: ShardState, group: StepGroup) -> None:
        """Take note of a part of a big compressed file, which may turn out to have a result."""
        self._progress.resize(self._decoding.num_shards)
        receipt = state.reached(group.stop)
        if receipt is not None:
            self._count(self._passage(state), receipt)
            self._progress.advance(state.shard.num_bytes, receipt.rows)

    def _take(self, passage: _Passage, done: Completed[ShardOutcome]) -> None:
        """Take what a worker reports of a shard."""
        outcome, chain = done.value, self._resolution.chain
        state = passage.state if passage.state.keys else passage.state.identified(chain, outcome.identity)
        passage.state = state.found(chain, {outcome.receipt.key: outcome.receipt})
        passage.work = (*passage.work, done)
        self._passages[passage.state] = passage
        if passage.state.result is not None:
            self._origins[state.place] = self._resolution.origin(state, outcome.receipt.key, outcome.identity)
        self._workspace.index.add(outcome.sightings)
        self._progress.resize(self._decoding.num_shards)
        self._progress.advance(state.shard.num_bytes, outcome.receipt.rows)
        self._count(passage, outcome.receipt)

    def _count(self, passage: _Passage, receipt: Receipt) -> None:
        """Take note of a result, and hold the rows that were set aside against the limit."""
        before, passage.receipt = passage.receipt, receipt
        self._tally.add(receipt, passage.state.shard.num_bytes, before)


@dataclass(eq=False)
class _Passage:
    """How far a shard has come.

    Attributes:
        state: what is known of it now.
        receipt: of the latest result that was made, or found and used.
        work: what workers reported.
    """

    state: ShardState
    receipt: Receipt | None = None
    work: tuple[Completed[ShardOutcome], ...] = ()


def _learn_contents(resolution: Resolution, index: IdentityIndex) -> bool:
    """Hash inputs that are new or were touched, where that is quicker than sending them to workers to find out.

    Returns:
        Whether anything was hashed.
    """
    shards = [state.shard for state in resolution.states if state.identity is None]
    unknown = [(shard, piece) for shard in shards for piece in shard.pieces if index.content(piece) is None]
    if sum(piece.num_bytes for _, piece in unknown) > SMALL_WORK_BYTES:
        return False
    for shard, piece in unknown:
        before = time.time_ns()
        index.add([Sighting(piece, shard.hash_piece(piece), before)])
    return bool(unknown)


def _first_local_input(states: Iterable[ShardState]) -> list[str]:
    """The path of the first input that is on a file system, if there is one."""
    for state in states:
        pieces = state.shard.pieces
        if pieces and pieces[0].file.is_local:
            return [pieces[0].file.path]
    return []
