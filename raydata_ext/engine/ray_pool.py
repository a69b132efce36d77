"""The actors of a run on Ray: how many there are, where they come from, and when they go.

Ray restarts none of them: a restarted actor would hide why the first one died. The pool replaces them itself.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import time
from typing import TYPE_CHECKING, Any

import ray
from ray.exceptions import RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from raydata_ext.engine.heartbeat import HeartbeatBoard
from raydata_ext.engine.pool_member import Member
from raydata_ext.engine.pool_run import PoolRun
from raydata_ext.engine.pool_status import PoolStatus
from raydata_ext.engine.ray_cluster import RayCluster
from raydata_ext.engine.shard_actor import ShardActor
from raydata_ext.engine.visibility import Sight, sight_of
from raydata_ext.errors import WorkerLostError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from raydata_ext.engine.pool_status import Watch
    from raydata_ext.engine.worker import Completed, Outcome_co, Program, Task
    from raydata_ext.plan import Workers

_log = logging.getLogger(__name__)

PLACEMENT_WARNING_SECONDS = 10.0
CLOSE_SECONDS = 5.0
MEMORY_SECONDS = 2.0
"""The memory of a dead process counts as in use for about so long, and the next one would die of it."""


class RayPool:
    """The executor on Ray.

    Args:
        workers: size of the pool and needs of its actors.
        address: see `RayCluster`.
    """

    name = "ray"

    def __init__(self, workers: Workers, address: str | None = None) -> None:
        self.workers = workers
        self.members: list[Member] = []
        self.lost = 0
        self._cluster = RayCluster(address)
        self._sight = Sight()
        self._board: Any = None
        self._limit: int | None = workers.max
        self._start_after = 0.0
        self._ask_after = 0.0  # when to ask next whether actors have a place (monotonic seconds)
        self._warned = False
        self._leaving: dict[Any, Member] = {}  # dismissed actors, by the reference of their `close`
        self._failures: list[Exception] = []  # of theirs

    def run(
        self, program: Program, tasks: Sequence[Task[Outcome_co]], watch: Watch | None = None
    ) -> Iterator[Completed[Outcome_co]]:
        """Run all tasks.

        Args:
            program: what the tasks share.
            tasks: the tasks.
            watch: is told a few times a second how the pool is doing.

        Yields:
            What each task returned, as they finish.

        Raises:
            WorkerLostError: a task's worker died each time, or no worker could be placed.
            RaydataError: what a task raised.
        """
        with sight_of(program.cache_dir, program.inputs) as self._sight:
            for (
                member
            ) in self.members:  # those that still start would look for the mark of an earlier run, which is gone
                member.look(self._sight)
            run = PoolRun(self, program, tasks)
            try:
                while run.unfinished:
                    yield from run.step()
                    self._see_off()
                    if watch is not None:
                        watch(self._status())
            except SystemError as error:  # so what a handler of a signal raises comes out of a call of Ray that waits
                raise error.__cause__ or error from None
            finally:
                run.close()

    def close(self) -> None:
        """End the actors, after they let go of their callables. Ray stays, for the next plan of this process.

        Raises:
            StepError: a `teardown` raised, of these actors or of one that went before; all are ended all the same.
        """
        for member in list(self.members):
            if member.is_ready and not member.tasks:
                self._dismiss(member)
            else:
                self.remove(member)
        self._see_off(CLOSE_SECONDS)
        if self._board is not None:
            ray.kill(self._board)
        if self._failures:
            raise self._failures[0]

    def _status(self) -> PoolStatus:
        busy = [member for member in self.members if member.tasks]
        return PoolStatus(
            workers=sum(member.is_ready for member in self.members),
            starting=sum(not member.is_ready for member in self.members),
            running=len(busy),
            rows=sum(member.rows_read or 0 for member in busy),
            lost=self.lost,
        )

    @property
    def board(self) -> Any:
        """Where the actors give signs of life, on the driver's node."""
        if self._board is None:
            here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=True)
            actor: Any = ray.remote(HeartbeatBoard)
            self._board = actor.options(num_cpus=0, max_restarts=-1, scheduling_strategy=here).remote()
        return self._board

    @property
    def limit(self) -> int:
        """Actors that the pool may have."""
        if self._limit is not None:
            return self._limit
        return max(self.workers.min, self._cluster.room_for(self.workers.needs))

    def grow(self, wanted: int) -> None:
        """Start actors until there are `wanted`, or as many as the pool may have."""
        missing = min(wanted, self.limit) - len(self.members)
        if missing > 0 and time.monotonic() > self._start_after:
            actor: Any = ray.remote(ShardActor).options(**self.workers.actor_options)
            for _ in range(missing):
                member = Member(actor.remote(sys.path, self.board))
                member.look(self._sight)
                self.members.append(member)

    def shrink(self, wanted: int) -> None:
        """End idle actors down to `wanted`, those that wait for a place first, so that others can use theirs."""
        surplus = len(self.members) - max(wanted, self.workers.min)
        idle = sorted((member for member in self.members if not member.tasks), key=lambda member: member.is_ready)
        for member in idle[: max(surplus, 0)]:
            if member.is_ready:
                self._dismiss(member)
            else:
                self.remove(member)

    def relieve_memory(self) -> None:
        """Do without an actor that was removed for want of memory; the last one is replaced once its memory is free."""
        self._limit = max(1, min(self.limit - 1, len(self.members)))
        self._start_after = time.monotonic() + MEMORY_SECONDS

    def remove(self, member: Member) -> None:
        """Take an actor out of the pool and make sure that it is gone."""
        self.members.remove(member)
        _kill(member)

    def _dismiss(self, member: Member) -> None:
        """Take an idle actor out of the pool, and end it once it has let go of its callables."""
        self.members.remove(member)
        member.since = time.monotonic()
        self._leaving[member.handle.close.remote()] = member

    def _see_off(self, timeout: float = 0.0) -> None:
        """End the dismissed actors that have let go of their callables, or had `CLOSE_SECONDS` for it.

        Args:
            timeout: seconds to wait for them; all are ended then.
        """
        if not self._leaving:
            return
        ready, _ = ray.wait(list(self._leaving), num_returns=len(self._leaving), timeout=timeout)
        for ref, member in list(self._leaving.items()):
            if ref in ready:
                self._take_failure(ref)
            elif not timeout and time.monotonic() - member.since < CLOSE_SECONDS:
                continue
            else:
                _log.warning("%s is ended although its teardown is not done after %g s", member.name, CLOSE_SECONDS)
            del self._leaving[ref]
            _kill(member)

    def _take_failure(self, closed: Any) -> None:
        try:
            ray.get(closed)
        except RayTaskError as error:
            self._failures.append(error.cause)
        except RayError as error:
            _log.warning("a worker was lost before its teardown was done: %s", error)

    def check_placement(self) -> None:
        """Warn once if the cluster has no room for some actors; raise if none is there for long."""
        waiting = [member for member in self.members if not member.is_ready]
        if not waiting:
            return
        seconds = time.monotonic() - min(member.since for member in waiting)
        if not self._warned and seconds > PLACEMENT_WARNING_SECONDS and time.monotonic() > self._ask_after:
            self._ask_after = time.monotonic() + PLACEMENT_WARNING_SECONDS
            self._warn(min(self._cluster.num_unplaced(self.workers.needs), len(waiting)))
        if len(waiting) == len(self.members) and seconds > self.workers.start_timeout:
            raise WorkerLostError(
                f"no worker could be placed within {seconds:.0f} s: {self._needs_and_amounts()}; ask for less with"
                " Workers(...), add nodes, or wait for longer with start_timeout="
            )

    def _warn(self, num_unplaced: int) -> None:
        """Say that some actors have no place; those that have one, and are slow to start, are none of them."""
        if num_unplaced:
            self._warned, size = True, len(self.members)
            _log.warning(
                "%d of %d workers wait for a place in the cluster (%s); going on with %d",
                num_unplaced, size, self._needs_and_amounts(), size - num_unplaced,
            )  # fmt: skip

    def _needs_and_amounts(self) -> str:
        needs = self.workers.needs
        return f"each needs {_listed(needs)}; all nodes together have {_listed(self._cluster.amounts_of(needs))}"


def _kill(member: Member) -> None:
    with contextlib.suppress(RayError):  # it is gone already
        ray.kill(member.handle)


def _listed(amounts: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {amount:.15g}" for name, amount in amounts.items())
