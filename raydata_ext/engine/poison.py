"""What the deaths of workers teach: which step and which rows kill the process, down to the one row.

A task whose worker died is watched from then on (see `watch`). Its next death leaves a mark of what ran. Where rows may
be set aside, the rows of that mark are suspects: the next attempt gives them to the step in parts, which leaves a
narrower mark, until it is one row. A row is excluded once two deaths, one after the other, point to it, for a worker
may also die of something else at that moment. A death that teaches nothing counts as a failed attempt.

There must be another process to take note of a death: with the inline executor such a row ends the caller.
"""

from __future__ import annotations

import logging
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from raydata_ext.engine.watch import ExcludedRow, Mark, Watch, take_mark
from raydata_ext.table.ipc_writer import temporary_name

if TYPE_CHECKING:
    from raydata_ext.engine.worker import Program, Task

_log = logging.getLogger(__name__)

MOST_DEATHS = 64
"""Deaths of one task from which nothing more is learnt: so many poison rows are no accident."""


@dataclass
class _Case:
    """One task.

    Attributes:
        deaths: how many workers died of it.
        failures: deaths that taught nothing, since the last row that was excluded.
        path: the file for marks of the present attempt.
        mark: what ran when the last worker died, as far as it is known.
        suspects: see `Watch`.
        excluded: see `Watch`.
    """

    deaths: int = 0
    failures: int = 0
    path: str = ""
    mark: Mark | None = None
    suspects: Mark | None = None
    excluded: list[ExcludedRow] = field(default_factory=list)


class PoisonHunt:
    """The deaths of all tasks of a run.

    Args:
        program: what the tasks share.
    """

    def __init__(self, program: Program) -> None:
        self._chain = program.chain
        self._quarantines = program.errors.quarantines
        self._directory = Path(program.cache_dir) if program.cache_dir else None
        self._cases: dict[int, _Case] = {}

    def prepared(self, number: int, task: Task[Any]) -> Task[Any]:
        """A task as it is to be tried next."""
        case = self._cases.get(number)
        if case is None:
            return task
        case.path = self._new_path(number)
        return task.watched(Watch(case.path, case.suspects, tuple(case.excluded)))

    def learn(self, number: int, label: str, reason: str) -> int:
        """Take the death of a task's worker.

        Args:
            number: of the task.
            label: the task.
            reason: what is known of the death.

        Returns:
            How many attempts have failed without teaching anything, this one included.
        """
        case = self._cases.setdefault(number, _Case())
        case.deaths += 1
        mark = take_mark(case.path) if case.path else None
        if mark is not None:
            case.mark = mark
        is_clue = mark is not None and mark.names_rows and self._quarantines and case.deaths <= MOST_DEATHS
        if mark is None or not is_clue or not _narrowed(case, mark):
            case.failures += 1
        elif case.suspects is None:
            case.excluded.append(ExcludedRow(mark.step, mark.first, reason))
            case.failures = 0
            _log.warning("%s: its worker dies of %s; this row is set aside", label, self._what_ran(mark))
        return case.failures

    def last_seen(self, number: int) -> str | None:
        """What ran when the last worker of a task died, in words; None where it is not known."""
        case = self._cases.get(number)
        return None if case is None or case.mark is None else self._what_ran(case.mark)

    def advice(self, number: int) -> str:
        """What to do about a task whose workers die, as the end of a message; empty where nothing is known."""
        case = self._cases.get(number)
        if self._quarantines or case is None or case.mark is None or not case.mark.names_rows:
            return ""
        return "; on_error='quarantine' finds the rows that do this and sets them aside"

    def close(self) -> None:
        """Remove the marks of tasks that are not done: their workers are ended."""
        for case in self._cases.values():
            if case.path:
                Path(case.path).unlink(missing_ok=True)

    def _what_ran(self, mark: Mark) -> str:
        label = self._chain.label(mark.step)
        return f"{label} on {mark.place}" if mark.names_rows else f"{label} while it was built"

    def _new_path(self, number: int) -> str:
        """A file beside those that the store is writing, which is collected like these if the driver dies."""
        if self._directory is None:
            return str(temporary_name(Path(tempfile.gettempdir(), "mark")))
        directory = self._directory / f"{number % 256:02x}"
        directory.mkdir(parents=True, exist_ok=True)
        return str(temporary_name(directory / "mark"))


def _narrowed(case: _Case, mark: Mark) -> bool:
    """Take a mark for the new suspects, or no suspects where it is one row for the second time.

    Returns:
        Whether it says more than the deaths before.
    """
    before, case.suspects = case.suspects, mark
    if before is None:
        return True
    if not before.holds(mark):
        return False
    if mark.first == mark.last:
        case.suspects = None
        return True
    return mark.last - mark.first < before.last - before.first
