"""What a worker process holds: the program that all its tasks share, and callables that stay warm between them."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from raydata_ext.errors import StepError
from raydata_ext.plan import Chain, Filter, Map
from raydata_ext.store import Store

Outcome_co = TypeVar("Outcome_co", covariant=True)


@dataclass(frozen=True, eq=False)
class Program:
    """What a run sends to each worker once.

    Attributes:
        chain: the steps.
        store: where results go.
    """

    chain: Chain
    store: Store


@dataclass(eq=False)
class Worker:
    """One worker, be it an actor or the driver itself."""

    program: Program
    name: str = field(default_factory=lambda: f"{socket.gethostname()}:{os.getpid()}")
    _callables: dict[int, Callable[..., Any]] = field(default_factory=dict)

    def callable(self, number: int) -> Callable[..., Any]:
        """The callable of a step, built at its first use and kept.

        Args:
            number: position of a map or filter in the chain.

        Raises:
            StepError: the class of the step cannot be built.
        """
        if number not in self._callables:
            step = self.program.chain.steps[number]
            assert isinstance(step, Map | Filter)
            try:
                self._callables[number] = step.function.build()
            except Exception as error:
                raise StepError(f"step {number + 1} `{step.label}`: {type(error).__name__}: {error}") from error
        return self._callables[number]


class Task(Protocol[Outcome_co]):
    """A unit of work for one worker: picklable, small, and safe to do twice."""

    @property
    def label(self) -> str:
        """The task as messages name it."""

    @property
    def num_bytes(self) -> int:
        """Bytes of input, for progress."""

    def run(self, worker: Worker) -> Outcome_co:
        """Do the work and return a receipt of it, never the rows."""


