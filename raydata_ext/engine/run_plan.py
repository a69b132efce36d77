"""Running a plan: what exists is taken from the store, what is missing is computed, every shard is accounted for."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from raydata_ext.engine.engine import SMALL_WORK_BYTES, Engine
from raydata_ext.engine.progress import RunProgress, Silent
from raydata_ext.engine.shard_task import ShardOutcome, ShardTask
from raydata_ext.engine.worker import Completed, Program
from raydata_ext.errors import RaydataError
from raydata_ext.plan import Chain, InputShard, Plan, Resolution, ShardState, TableShard, Workspace, resolve
from raydata_ext.sources import IdentityIndex, Sighting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from raydata_ext.plan.history import Origin
    from raydata_ext.store import Receipt


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
    plan: Plan, workspace: Workspace, engine: Engine, progress: RunProgress | None = None
) -> list[tuple[ShardResult, ...]]:
    """Run a plan; where a step must know how many rows there are before each shard, what is before it runs first.

    Returns:
        The results of each part that ran, see `run_plan`; those of the last are the results of the plan.
    """
    now, later = plan.head()
    results = [run_plan(now, workspace, engine, progress)]
    if later:
        shards = tuple(TableShard.of_receipt(workspace.store, result.receipt) for result in results[0])
        done = plan.steps_before + len(Chain.of(now.steps).steps)
        results += run_all(Plan(shards, later, done), workspace, engine, progress)
    return results


def run_plan(
    plan: Plan, workspace: Workspace, engine: Engine, progress: RunProgress | None = None
) -> tuple[ShardResult, ...]:
    """Run a plan whose steps can be run at once (see `Plan.head`).

    Args:
        plan: what is to be done.
        workspace: where results are and go, and what is known of inputs.
        engine: does the work.
        progress: is told how far it is.

    Returns:
        The result of every shard, in order.

    Raises:
        StepError: a user's function raised.
        ReadError: an input is not what it should be.
        WorkerLostError: a worker died again and again.
    """
    resolution = resolve(plan, workspace)
    if _learn_contents(resolution, workspace.index):
        resolution = resolve(plan, workspace)
    missing = resolution.missing
    shown = progress or Silent()
    shown.begin("computing", len(plan.shards), len(plan.shards) - len(missing), resolution.missing_bytes)
    outcomes: dict[int, Completed[ShardOutcome]] = {}
    origins: dict[str, Origin] = {}
    try:
        for state, done in _compute(resolution, workspace, engine):
            outcomes[state.position.index] = done
            outcome = done.value
            origins[state.place] = resolution.origin(state, outcome.receipt.key, outcome.identity)
            workspace.index.add(outcome.sightings)
            shown.advance(state.shard.num_bytes, outcome.receipt.rows)
    finally:
        workspace.index.save()
        workspace.history.save(origins, resolution.chain.fingerprints)
        shown.end()
    return tuple(_accounted(state, outcomes.get(state.position.index)) for state in resolution.states)


def _compute(
    resolution: Resolution, workspace: Workspace, engine: Engine
) -> Iterator[tuple[ShardState, Completed[ShardOutcome]]]:
    """Largest shards first, so that none of them is left over at the end when the other workers have nothing to do."""
    tasks = [
        ShardTask(state) for state in sorted(resolution.missing, key=lambda s: (-s.shard.num_bytes, s.position.index))
    ]
    inputs = [piece.file.path for state in resolution.states for piece in state.shard.pieces[:1] if piece.file.is_local]
    program = Program(resolution.chain, workspace.store, str(workspace.path), (*inputs[:1], *inputs[-1:]))
    for done in engine.run(program, tasks):
        yield tasks[done.number].state, done


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
