"""One list of tasks on its way through a pool of actors, which may die.

An actor is given its next task while it works on one, so it never waits for the driver. When it dies, its tasks go back
to the queue and a new actor takes its place; only the task at the head of its queue counts as tried, since that one was
running.

An actor that Ray ended because memory ran out gets no successor, so that those that are left have more of it. As long
as there are others the task is not to blame: it may have been the small one beside a large one.
"""

from __future__ import annotations

import logging
import re
import time
from collections import Counter, deque
from typing import TYPE_CHECKING, Any

import cloudpickle
import ray
import xxhash
from ray.exceptions import NodeDiedError, OutOfMemoryError, RayActorError, RayError, RayTaskError

from raydata_ext.engine.decode_task import DecodeTask
from raydata_ext.engine.failure_text import message_of
from raydata_ext.engine.heartbeat import BEAT_SECONDS
from raydata_ext.engine.poison import PoisonHunt
from raydata_ext.engine.task_queue import TaskQueue
from raydata_ext.engine.worker import Completed
from raydata_ext.errors import PlanError, RaydataError, WorkerLostError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from raydata_ext.engine.pool_member import Member
    from raydata_ext.engine.ray_pool import RayPool
    from raydata_ext.engine.shard_actor import Reply
    from raydata_ext.engine.worker import Program, Task

_log = logging.getLogger(__name__)

_EXIT_DETAIL = re.compile(r"Worker exit detail: (.*)", re.DOTALL)
_LOST = (RayActorError, OutOfMemoryError, NodeDiedError)
_WAIT_SECONDS = 1.0
_FIRST_BACKOFF_SECONDS = 0.25
_LONGEST_BACKOFF_SECONDS = 8.0
_MOST_CROWDED_ATTEMPTS = 10
"""So often a task may run out of memory beside others before it is to blame all the same: not all nodes are to go."""


class PoolRun:
    """One list of tasks.

    Args:
        pool: the actors.
        program: what the tasks share.
        tasks: the tasks. The list may grow while the run goes on.
    """

    def __init__(self, pool: RayPool, program: Program, tasks: Sequence[Task[Any]]) -> None:
        self._pool = pool
        self._tasks = tasks
        self._queue = TaskQueue(tasks)
        self._num_done = 0
        self._attempts: Counter[int] = Counter()
        self._poison = PoisonHunt(program)
        self._failed_starts = 0
        self._beats: Any = None
        self._beats_read = time.monotonic()
        pickled = _pickled(program)
        self._program_id = xxhash.xxh3_128_hexdigest(pickled)
        self._program = program
        self._pickled_program = ray.put(pickled)

    @property
    def unfinished(self) -> int:
        """How many tasks have not come back."""
        return len(self._tasks) - self._num_done

    def close(self) -> None:
        """Leave nothing behind, however the run ended."""
        self._poison.close()

    def step(self) -> Iterator[Completed[Any]]:
        """Hand out what can be handed out, wait for something to happen, and take what is there."""
        self._queue.take_in()
        wanted = self.unfinished + self._num_expected()
        self._pool.grow(wanted)
        self._pool.shrink(wanted)
        self._hand_out()
        self._pool.check_placement()
        yield from self._check_progress()
        owners = {ref: member for member in self._pool.members for ref in (*member.tasks, member.starting) if ref}
        if not owners:  # none may be started yet
            time.sleep(_WAIT_SECONDS)
            return
        done, _ = ray.wait(list(owners), num_returns=1, timeout=_WAIT_SECONDS)
        for ref in done:
            if owners[ref] in self._pool.members:  # it may have been lost by an earlier one of these
                yield from self._take(owners[ref], ref)

    def _take(self, member: Member, ref: Any) -> Iterator[Completed[Any]]:
        """Take what a reference holds: an actor that is ready, a task that is done, or a failure of either."""
        try:
            value = ray.get(ref)
        except _LOST as error:
            yield from self._lose(member, error)
        except RayTaskError as error:
            label = self._tasks[member.tasks[ref]].label if ref in member.tasks else "a worker's start"
            raise _cause(error, label) from None
        else:
            if ref == member.starting:
                if isinstance(value, PlanError):
                    raise value
                member.starting, member.info = None, value
                self._failed_starts = 0
            else:
                yield self._finished(member, ref, value)

    def _finished(self, member: Member, ref: Any, reply: Reply) -> Completed[Any]:
        return self._completed(member.finish(ref), member, reply.value, reply.memory_high_water)

    def _completed(self, number: int, member: Member, value: Any, memory_high_water: int) -> Completed[Any]:
        self._num_done += 1
        assert member.info is not None  # it was ready, or it would have had no task
        return Completed(number, value, self._attempts[number] + 1, memory_high_water, member.info.node)

    def _hand_out(self) -> None:
        """Give each actor its first task before any gets a second, which it gets while there are tasks for all of them.

        The last tasks wait in the queue, so that none waits behind a long one while an actor has nothing to do.
        An actor that holds a stream open comes last: it goes on decompressing unless all others have enough to do, and
        one part more waits for each of them. While it decompresses nothing waits behind, so that it can go on at once.
        """
        now = time.monotonic()
        ready = {member.info.name: member for member in self._pool.members if member.info is not None}
        depths = range(self._pool.workers.max_in_flight)
        leave = (len(self._pool.members) - len(ready)) * len(depths) + len(ready) - 1
        kept_back = 0 if self._num_expected() else len(self._pool.members)
        for holds_stream in (False, True):
            for depth in depths:
                for name, member in ready.items():
                    if len(member.tasks) != depth or self._queue.has_stream_for(name) != holds_stream:
                        continue
                    if depth and len(self._queue) <= kept_back:
                        return
                    if not self._decode_tasks(member):
                        self._give(member, self._queue.take(name, ready, now, leave=leave))

    def _give(self, member: Member, number: int | None) -> None:
        if number is None:
            return
        pickled = cloudpickle.dumps(self._poison.prepared(number, self._tasks[number]))
        ref = member.handle.run.remote(self._program_id, self._pickled_program, pickled)
        if not member.tasks:
            member.begin_next()
        member.tasks[ref] = number

    def _decode_tasks(self, member: Member) -> list[DecodeTask]:
        tasks = (self._tasks[number] for number in member.tasks.values())
        return [task for task in tasks if isinstance(task, DecodeTask)]

    def _num_expected(self) -> int:
        """How many tasks are likely to come up."""
        running = (task for member in self._pool.members for task in self._decode_tasks(member))
        return self._queue.num_expected + sum(task.expected_parts for task in running)

    def _lose(self, member: Member, error: Exception) -> Iterator[Completed[Any]]:
        """Put the tasks of a dead actor back; the oldest that is not done was the one that ran."""
        self._pool.remove(member)
        self._pool.lost += 1
        is_crowded = False
        if isinstance(error, OutOfMemoryError):
            is_crowded = any(other.is_ready for other in self._pool.members)
            self._pool.relieve_memory()
        if not member.is_ready and not is_crowded:
            self._count_failed_start(error)
        numbers = deque(member.tasks.values())
        while numbers and (value := self._tasks[numbers[0]].recover(self._program)) is not None:
            yield self._completed(numbers.popleft(), member, value, 0)
        self._queue.put_back(numbers)
        if numbers:
            self._count_attempt(numbers[0], member, error, is_crowded=is_crowded)

    def _count_failed_start(self, error: Exception) -> None:
        self._failed_starts += 1
        if getattr(error, "actor_init_failed", False) or self._failed_starts >= self._pool.workers.max_attempts:
            raise WorkerLostError(f"a worker cannot start: {_reason(error)}")
        _log.warning("a worker died at its start, starting another: %s", _reason(error))

    def _count_attempt(self, number: int, member: Member, error: Exception, *, is_crowded: bool) -> None:
        self._attempts[number] += 1
        attempts, label = self._attempts[number], self._tasks[number].label
        failures = 0
        if not is_crowded or attempts > _MOST_CROWDED_ATTEMPTS:
            failures = self._poison.learn(number, label, _reason(error))
        if failures >= self._pool.workers.max_attempts:
            ran = self._poison.last_seen(number)
            where = _how_far(member) if ran is None else f"in {ran}"
            raise WorkerLostError(
                f"{label}: its worker died in each of {attempts} attempts, {where}; the last time ({member.name}):"
                f" {_reason(error)}{self._poison.advice(number)}"
            )
        backoff = min(_FIRST_BACKOFF_SECONDS * 2**failures, _LONGEST_BACKOFF_SECONDS)
        self._queue.delay(number, time.monotonic() + backoff)
        _log.warning("%s: %s died in attempt %d, trying again: %s", label, member.name, attempts, _reason(error))

    def _check_progress(self) -> Iterator[Completed[Any]]:
        """Read the signs of life, and give up on actors that have moved nothing for too long."""
        if self._beats is not None and ray.wait([self._beats], timeout=0)[0]:
            self._read_beats()
        if self._beats is None and time.monotonic() - self._beats_read > BEAT_SECONDS:
            self._beats = self._pool.board.read.remote()
        for member in list(self._pool.members):
            seconds = member.seconds_without_progress()
            if seconds > self._pool.workers.stall_timeout:
                yield from self._lose(member, TimeoutError(_stalled(member, seconds)))

    def _read_beats(self) -> None:
        try:
            beats = ray.get(self._beats)
        except RayError as error:
            _log.warning("signs of life cannot be read: %s", _first_line(error))
        else:
            for member in self._pool.members:
                if member.info is not None and member.info.name in beats:
                    member.see(beats[member.info.name])
        self._beats, self._beats_read = None, time.monotonic()


def _pickled(program: Program) -> bytes:
    """What is sent to workers.

    Raises:
        PlanError: a step cannot be sent; names it.
    """
    try:
        pickled: bytes = cloudpickle.dumps(program)
    except Exception:
        for number, step in enumerate(program.chain.steps):
            try:
                cloudpickle.dumps(step)
            except Exception as error:
                label = program.chain.label(number)
                raise PlanError(
                    f"{label} cannot be sent to a worker: {message_of(error)}; give a class as the function, whose"
                    " constructor makes such things, or run with executor='inline'"
                ) from error
        raise
    return pickled


def _stalled(member: Member, seconds: float) -> str:
    node = member.info.node.id if member.info else "unknown"
    return f"it made no progress for {seconds:.0f} s on node {node}, {_how_far(member)}"


def _how_far(member: Member) -> str:
    rows = member.rows_read
    return "before it told of its progress" if rows is None else f"after it had read {rows} rows"


def _cause(error: RayTaskError, label: str) -> Exception:
    """What the task raised; errors of ours pass as they are, others get the place."""
    cause = error.cause
    if isinstance(cause, RaydataError):
        return cause
    return RaydataError(f"{label}: {type(cause).__name__}: {cause}\n{error}")


def _reason(error: Exception) -> str:
    """Why a worker died; what Ray says of memory is pages of figures, and of another remedy."""
    if isinstance(error, OutOfMemoryError):
        return (
            f"out of memory: {_first_line(error)}. Let each worker have more (fewer workers a node, by num_cpus= or"
            " memory= of Workers), or take less at a time (a smaller batch_size, max_shard_bytes)"
        )
    detail = _EXIT_DETAIL.search(str(error))
    if detail is None:
        return str(error)
    if "connection error" not in detail[1]:
        return f"its process ended ({detail[1].strip()})"
    return (
        "its process ended without a word: killed (by the system, too, where memory runs out), crashed, or by os._exit;"
        " what it printed is in the logs of Ray on its node"
    )


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
