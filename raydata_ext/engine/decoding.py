"""The big compressed files of a run, as the driver sees them: which shards came of them, and what is to be done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raydata_ext.engine.decode_task import Decoded, DecodeTask, lines_key
from raydata_ext.engine.part_task import PartTask
from raydata_ext.engine.shard_task import ShardTask
from raydata_ext.plan import FilePart, Resolution, ShardState, Workspace, find_results, parts_key, remember_parts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from raydata_ext.engine.worker import Completed, Task


class Decoding:
    """Turns missing shards into tasks of the first workers, and what is decompressed into shards and further tasks.

    Args:
        resolution: the plan.
        workspace: where lines, results and the parts of files are kept.
        quarantine: whether results count from which rows were set aside.
    """

    def __init__(self, resolution: Resolution, workspace: Workspace, *, quarantine: bool) -> None:
        self._resolution = resolution
        self._workspace = workspace
        self._quarantine = quarantine
        self._stop = resolution.chain.groups[0].stop
        self._cut: dict[ShardState, list[ShardState]] = {}  # a file, and what it was found to be cut into
        self._parts: dict[ShardState, list[FilePart]] = {}
        self._wanted: dict[tuple[ShardState, int], ShardState] = {}  # of known parts that are decompressed again
        self._decoded: dict[ShardState, Completed[Decoded]] = {}

    @property
    def states(self) -> list[ShardState]:
        """The states of all shards in order; those of parts, as far as these are known, in place of their file."""
        return [part for state in self._resolution.states for part in self._cut.get(state, [state])]

    @property
    def num_shards(self) -> int:
        """How many shards there are, as far as that is known."""
        return len(self._resolution.states) + sum(len(states) - 1 for states in self._cut.values())

    def first_tasks(self) -> list[Task[Any]]:
        """Tasks for what is missing, largest first, so that none of these is left over when the others are done."""
        tasks: list[Task[Any]] = []
        parts: dict[int, list[ShardState]] = {}
        for state in self._resolution.missing:
            if not state.is_cut:
                tasks.append(DecodeTask(state, self._workspace.index.content(state.shard.pieces[0])))
            elif state.reached(self._stop) is not None:
                continue
            elif state.whole is not None:
                parts.setdefault(state.position.index, []).append(state)
            else:
                tasks.append(ShardTask(state))
        for states in parts.values():
            whole, position = states[0].whole, states[0].position
            assert whole is not None
            content = self._workspace.index.content(whole.pieces[0])
            tasks += self._tasks_of_parts(ShardState(whole, position), content, states)
        return sorted(tasks, key=lambda task: -task.num_bytes)

    def decoded(self, state: ShardState) -> Completed[Decoded] | None:
        """How a part of a file was decompressed; None where it was not, or is no part of one."""
        return self._decoded.get(state)

    def take(self, task: DecodeTask, done: Completed[Decoded]) -> tuple[list[ShardState], list[Task[Any]]]:
        """Take what a worker reports.

        Returns:
            The states of shards that came to light; and tasks, for those whose result is missing and for what is still
            wanted of the file.
        """
        decoded = done.value
        self._workspace.index.add(decoded.sightings)
        wanted = self._wanted.get((task.state, decoded.parts[0].start))
        if wanted is not None:
            self._decoded[wanted] = done
            return [], [PartTask(wanted), *task.next(decoded)]
        states = self._add(task.state, decoded.parts)
        missing = [state for state in states if state.reached(self._stop) is None]
        if decoded.status == "known":
            return states, self._tasks_of_parts(task.state, decoded.content, missing)
        self._decoded |= dict.fromkeys(states, done)
        if decoded.status == "end":
            key = parts_key(task.file, decoded.content)
            remember_parts(self._workspace.store, key, self._parts[task.state])
        return states, [*map(PartTask, missing), *task.next(decoded)]

    def _add(self, file: ShardState, parts: Sequence[FilePart]) -> list[ShardState]:
        """The states of parts that are new, with their results."""
        chain = self._resolution.chain
        states = [file.of_part(chain, part) for part in parts]
        keys = [key for state in states for key in state.keys or ()]
        results = find_results(self._workspace.store, keys, quarantine=self._quarantine)
        states = [state.found(chain, results) for state in states]
        self._cut.setdefault(file, []).extend(states)
        self._parts.setdefault(file, []).extend(parts)
        return states

    def _tasks_of_parts(self, file: ShardState, content: str | None, states: Sequence[ShardState]) -> list[Task[Any]]:
        """Tasks for parts that are known; where lines are gone, the file is decompressed for these again."""
        there = self._workspace.store.find(map(lines_key, states))
        unread = [state for state in states if state.prefix is None and lines_key(state) not in there]
        gone = {state.shard.pieces[0].start: state for state in unread}
        tasks: list[Task[Any]] = [PartTask(state) for state in states if state.shard.pieces[0].start not in gone]
        if gone:
            first, *later = gone
            self._wanted |= {(file, start): state for start, state in gone.items()}
            tasks.append(DecodeTask(file, content, first, tuple(later)))
        return tasks
