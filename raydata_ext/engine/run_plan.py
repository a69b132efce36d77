"""Running a plan: what exists is taken from the store, what is missing is computed, every shard is accounted for."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from raydata_ext.engine.decode_task import DecodeTask
from raydata_ext.engine.decoding import Decoding
from raydata_ext.engine.engine import SMALL_WORK_BYTES, Engine
from raydata_ext.engine.error_policy import ErrorPolicy, ErrorTally
from raydata_ext.engine.metrics import Metered
from raydata_ext.engine.progress import RunProgress, Silent
from raydata_ext.engine.shard_task import ShardTask
from raydata_ext.engine.worker import Completed, Program
from raydata_ext.errors import RaydataError
from raydata_ext.plan import Chain, InputShard, Plan, Resolution, ShardState, StoredShard, Workspace, resolve
from raydata_ext.sources import IdentityIndex, Sighting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from raydata_ext.engine.pool_status import Watch
    from raydata_ext.engine.shard_task import ShardOutcome
    from raydata_ext.plan.history import Origin
    from raydata_ext.store import Receipt


_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class ShardResult:
    """How one shard of a run ended.

    Attributes:
        shard: the input.
        receipt: of the result.
        done: what the worker reported; None where the result was there before.
    """

    shard: InputShard
    receipt: Receipt
    done: Completed[ShardOutcome] | None

    @property
    def cached(self) -> bool:
        """Whether nothing had to be computed."""
        return self.done is None or self.done.value.cached


def run_all(
    plan: Plan,
    workspace: Workspace,
    engine: Engine,
    progress: RunProgress | None = None,
    errors: ErrorPolicy | None = None,
) -> list[tuple[ShardResult, ...]]:
    """Run a plan; where a step must know how many rows there are before each shard, what is before it runs first.

    Args:
        plan: what is to be done.
        workspace: where results are and go, and what is known of inputs.
        engine: does the work.
        progress: is told how far it is.
        errors: what happens to bad rows; None raises.

    Returns:
        The results of each part that ran, see `run_plan`; those of the last are the results of the plan.
    """
    tally = ErrorTally(errors or ErrorPolicy(), workspace.store)
    now, later = plan.head()
    results = [run_plan(now, workspace, engine, progress, tally)]
    while later:
        shards = tuple(StoredShard(workspace.store, result.receipt) for result in results[-1])
        done = now.steps_before + len(Chain.of(now.steps).steps)
        now, later = Plan(shards, later, done).head()
        results.append(run_plan(now, workspace, engine, progress, tally))
    if tally.count:
        _log.warning("%d rows were set aside (%s)", tally.count, tally.share)
    return results


def run_plan(
    plan: Plan,
    workspace: Workspace,
    engine: Engine,
    progress: RunProgress | None = None,
    tally: ErrorTally | None = None,
) -> tuple[ShardResult, ...]:
    """Run a plan whose steps can be run at once (see `Plan.head`).

    Args:
        plan: what is to be done.
        workspace: where results are and go, and what is known of inputs.
        engine: does the work.
        progress: is told how far it is.
        tally: says what happens to bad rows, and counts them; None raises.

    Returns:
        The result of every shard, in order.

    Raises:
        QuarantineError: more rows were set aside than may be.
        StepError: a user's function raised.
        ReadError: an input is not what it should be.
        WorkerLostError: a worker died again and again.
    """
    tally = tally or ErrorTally(ErrorPolicy(), workspace.store)
    quarantine = tally.policy.quarantines
    resolution = resolve(plan, workspace, quarantine=quarantine)
    if _learn_contents(resolution, workspace.index):
        resolution = resolve(plan, workspace, quarantine=quarantine)
    missing = resolution.missing
    tally.begin(plan.num_bytes)
    for state in resolution.states:
        if state.result is not None:
            tally.add(state.result, state.shard.num_bytes)
    shown = Metered(progress or Silent())
    shown.begin("computing", len(plan.shards), len(plan.shards) - len(missing), resolution.missing_bytes)
    decoding = Decoding(resolution, workspace, quarantine=quarantine)
    outcomes: dict[ShardState, Completed[ShardOutcome]] = {}
    origins: dict[str, Origin] = {}
    try:
        for state, done in _compute(resolution, decoding, workspace, engine, tally.policy, shown.watch):
            if done is not None:
                outcomes[state] = done
                origins[state.place] = resolution.origin(state, done.value.receipt.key, done.value.identity)
                workspace.index.add(done.value.sightings)
            receipt = _accounted(state, done).receipt
            shown.resize(decoding.num_shards)
            shown.advance(state.shard.num_bytes, receipt.rows)
            tally.add(receipt, state.shard.num_bytes)
    finally:
        workspace.index.save()
        workspace.history.save(origins, resolution.chain.fingerprints)
        shown.end()
    tally.end()
    return tuple(_accounted(state, outcomes.get(state)) for state in decoding.states)


def _compute(
    resolution: Resolution,
    decoding: Decoding,
    workspace: Workspace,
    engine: Engine,
    errors: ErrorPolicy,
    watch: Watch,
) -> Iterator[tuple[ShardState, Completed[ShardOutcome] | None]]:
    """Compute what is missing; parts of big compressed files whose result turns out to be there have no outcome."""
    tasks = decoding.first_tasks()
    inputs = [piece.file.path for state in resolution.states for piece in state.shard.pieces[:1] if piece.file.is_local]
    program = Program(resolution.chain, workspace.store, workspace.local_directory, (*inputs[:1], *inputs[-1:]), errors)
    for done in engine.run(program, tasks, watch):
        task = tasks[done.number]
        if isinstance(task, DecodeTask):
            states, more = decoding.take(task, done.value)
            tasks += more
            yield from ((state, None) for state in states if state.result is not None)
        elif isinstance(task, ShardTask):
            yield task.state, done


def _accounted(state: ShardState, done: Completed[ShardOutcome] | None) -> ShardResult:
    receipt = done.value.receipt if done is not None else state.result
    if receipt is None:
        raise RaydataError(f"{state.shard.label}: the run ended without a result of this shard; run it again")
    return ShardResult(state.shard, receipt, done)


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
