"""Running a plan, part by part: every shard is accounted for."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from raydata_ext.engine.error_policy import ErrorPolicy, ErrorTally
from raydata_ext.engine.metrics import Metered
from raydata_ext.engine.progress import RunProgress, Silent
from raydata_ext.engine.run_part import PartRun
from raydata_ext.plan import Chain, Plan, StoredShard, Workspace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from raydata_ext.engine.engine import Engine
    from raydata_ext.engine.shard_result import ShardResult


_log = logging.getLogger(__name__)


def run_all(
    plan: Plan,
    workspace: Workspace,
    engine: Engine,
    progress: RunProgress | None = None,
    errors: ErrorPolicy | None = None,
    parts: list[Sequence[ShardResult]] | None = None,
) -> list[Sequence[ShardResult]]:
    """Run a plan; where a step must know how many rows there are before each shard, what is before it runs first.

    Args:
        plan: what is to be done.
        workspace: where results are and go, and what is known of inputs.
        engine: does the work.
        progress: is told how far it is.
        errors: what happens to bad rows; None raises.
        parts: is filled with what is returned; where the run fails, with what there is by then.

    Returns:
        The results of all shards in each part that ran, in order; those of the last are the results of the plan.

    Raises:
        QuarantineError: more rows were set aside than may be.
        StepError: a user's function raised.
        ReadError: an input is not what it should be.
        WorkerLostError: a worker died again and again.
    """
    parts = [] if parts is None else parts
    tally = ErrorTally(errors or ErrorPolicy(), workspace.store)
    shown = Metered(progress or Silent())
    later = plan
    while True:
        now, steps = later.head()
        part = PartRun(now, workspace, engine, shown, tally)
        try:
            part.run()
        finally:
            parts.append(part.results(is_last=not steps))
        if not steps:
            break
        shards = tuple(StoredShard(workspace.store, result.receipt) for result in parts[-1])
        later = Plan(shards, steps, now.steps_before + len(Chain.of(now.steps).steps))
    if tally.count:
        _log.warning("%s", tally)
    return parts
