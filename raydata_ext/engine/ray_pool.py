"""Runs tasks on a pool of Ray actors, and outlives the actors.

An actor is given the next task while it works on one, so it never waits for the driver. When an actor dies, its tasks
go back to the queue and a new actor takes its place; only the task at the head of its queue counts as tried, since
that one was running. Ray restarts nothing by itself: a restarted actor would hide why the first one died.
"""

from __future__ import annotations

import logging
import sys
import time
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import cloudpickle
import ray
import xxhash
from ray.exceptions import NodeDiedError, OutOfMemoryError, RayActorError, RayTaskError

from raydata_ext.engine.ray_cluster import RayCluster
from raydata_ext.engine.shard_actor import ShardActor
from raydata_ext.errors import RaydataError, WorkerLostError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from raydata_ext.engine.worker import Outcome_co, Program, Task
    from raydata_ext.engine.workers import Workers

_log = logging.getLogger(__name__)

_LOST = (RayActorError, OutOfMemoryError, NodeDiedError)
_WAIT_SECONDS = 1.0
_PLACEMENT_WARNING_SECONDS = 10.0


@dataclass(eq=False)
class _Member:
    """One actor of the pool.

    Attributes:
        handle: the actor.
        waiting: the reference that becomes ready when the actor does; None once it has.
        tasks: references of the calls that it has, oldest first, with the position of the task.
    """

    handle: Any
    waiting: Any
    since: float = field(default_factory=time.monotonic)
    tasks: dict[Any, int] = field(default_factory=dict)


class RayPool:
    """The executor on Ray.

    Args:
        workers: size of the pool and needs of its actors.
        address: see `RayCluster`.
    """

    name = "ray"

    def __init__(self, workers: Workers, address: str | None = None) -> None:
        self._workers = workers
        self._cluster = RayCluster(address)
        self._members: list[_Member] = []
        self._warned = False

    def run(self, program: Program, tasks: Sequence[Task[Outcome_co]]) -> Iterator[tuple[int, Outcome_co]]:
        """Run all tasks.

        Yields:
            (position of the task, what it returned), as they finish.

        Raises:
            WorkerLostError: a task's worker died each time, or no worker could be placed.
            RaydataError: what a task raised.
        """
        run = _PoolRun(self, program, tasks)
        while run.unfinished:
            yield from run.step()

    def close(self) -> None:
        """End the actors, and Ray if it was started here."""
        for member in self._members:
            ray.kill(member.handle)
        self._members.clear()
        self._cluster.close()

    @property
    def size_limit(self) -> int:
        """Actors that the pool may have."""
        if self._workers.max is not None:
            return self._workers.max
        cpus = self._cluster.resources().get("CPU", 1.0)
        return max(self._workers.min, int(cpus // max(self._workers.num_cpus, 1e-3)))

    def grow(self, wanted: int) -> None:
        """Start actors until there are `wanted`, or as many as the pool may have."""
        actor: Any = ray.remote(ShardActor).options(**self._workers.actor_options)
        for _ in range(min(wanted, self.size_limit) - len(self._members)):
            handle = actor.remote(sys.path)
            self._members.append(_Member(handle, handle.ready.remote()))

    def remove(self, member: _Member) -> None:
        """Take an actor out of the pool and make sure that it is gone."""
        self._members.remove(member)
        ray.kill(member.handle)

    @property
    def members(self) -> Sequence[_Member]:
        """The actors, those that are not ready yet included."""
        return self._members

    @property
    def workers(self) -> Workers:
        """The settings."""
        return self._workers

    def check_placement(self) -> None:
        """Warn once if some actors cannot be placed; raise if none can for long."""
        waiting = [member for member in self._members if member.waiting is not None]
        if not waiting:
            return
        seconds = time.monotonic() - min(member.since for member in waiting)
        placed = len(self._members) - len(waiting)
        needs = {
            name: value
            for name, value in self._workers.actor_options.items()
            if name.startswith(("num_", "mem", "res"))
        }
        if seconds > _PLACEMENT_WARNING_SECONDS and not self._warned:
            self._warned = True
            _log.warning(
                "%d of %d workers wait for a place in the cluster (each needs %s; there is %s); going on with %d",
                len(waiting), len(self._members), needs, self._cluster.resources(), placed,
            )  # fmt: skip
        if not placed and seconds > self._workers.start_timeout:
            raise WorkerLostError(
                f"no worker could be placed within {seconds:.0f} s: each needs {needs}, the cluster has"
                f" {self._cluster.resources()}; ask for less, or add nodes"
            )


class _PoolRun:
    """One list of tasks on its way through a pool."""

    def __init__(self, pool: RayPool, program: Program, tasks: Sequence[Task[Any]]) -> None:
        self._pool = pool
        self._tasks = tasks
        self._queue = deque(range(len(tasks)))
        self._attempts: Counter[int] = Counter()
        pickled = cloudpickle.dumps(program)
        self._program_id = xxhash.xxh3_128_hexdigest(pickled)
        self._program = ray.put(pickled)
        self.unfinished = len(tasks)

    def step(self) -> Iterator[tuple[int, Any]]:
        """Hand out what can be handed out, wait for something to happen, and take what is there."""
        self._pool.grow(self.unfinished)
        self._hand_out()
        self._pool.check_placement()
        owners = {
            ref: member for member in self._pool.members for ref in (*member.tasks, member.waiting) if ref is not None
        }
        done, _ = ray.wait(list(owners), num_returns=1, timeout=_WAIT_SECONDS)
        for ref in done:
            member = owners[ref]
            if member not in self._pool.members:
                continue
            try:
                value = ray.get(ref)
            except _LOST as error:
                self._lose(member, error)
            except RayTaskError as error:
                raise _cause(error, self._label(member, ref)) from None
            else:
                if ref == member.waiting:
                    member.waiting = None
                else:
                    self.unfinished -= 1
                    yield member.tasks.pop(ref), value

    def _hand_out(self) -> None:
        ready = [member for member in self._pool.members if member.waiting is None]
        for depth in range(self._pool.workers.max_in_flight):
            for member in ready:
                if self._queue and len(member.tasks) == depth:
                    number = self._queue.popleft()
                    pickled = cloudpickle.dumps(self._tasks[number])
                    ref = member.handle.run.remote(self._program_id, self._program, pickled)
                    member.tasks[ref] = number

    def _lose(self, member: _Member, error: Exception) -> None:
        """Put the tasks of a dead actor back; the oldest was the one that ran."""
        self._pool.remove(member)
        if getattr(error, "actor_init_failed", False):
            raise WorkerLostError(f"a worker cannot start: {error}")
        numbers = list(member.tasks.values())
        self._queue.extendleft(reversed(numbers))
        if not numbers:
            return
        running = numbers[0]
        self._attempts[running] += 1
        label, attempts = self._tasks[running].label, self._attempts[running]
        if attempts >= self._pool.workers.max_attempts:
            raise WorkerLostError(f"{label}: its worker died in each of {attempts} attempts; the last time: {error}")
        _log.warning("%s: its worker died in attempt %d, trying again: %s", label, attempts, _first_line(error))

    def _label(self, member: _Member, ref: Any) -> str:
        return self._tasks[member.tasks[ref]].label if ref in member.tasks else "a worker's start"


def _cause(error: RayTaskError, label: str) -> Exception:
    """What the task raised; errors of ours pass as they are, others get the place."""
    cause = error.cause
    if isinstance(cause, RaydataError):
        return cause
    return RaydataError(f"{label}: {type(cause).__name__}: {cause}\n{error}")


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
