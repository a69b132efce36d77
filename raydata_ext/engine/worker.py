"""What a worker process holds: the program that all its tasks share, and callables that stay warm between them."""

from __future__ import annotations

import functools
import os
import resource
import socket
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from raydata_ext.engine.error_policy import ErrorPolicy
from raydata_ext.engine.event_loop import EventLoop, Outcome
from raydata_ext.engine.failure_text import described
from raydata_ext.engine.trail import Trail
from raydata_ext.errors import StepError
from raydata_ext.plan import Chain, Filter, Map

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from typing_extensions import Self

    from raydata_ext.engine.node import Node
    from raydata_ext.engine.watch import Watch
    from raydata_ext.sources.part_decoder import PartDecoder
    from raydata_ext.store import Store

Outcome_co = TypeVar("Outcome_co", covariant=True)


@dataclass(frozen=True, eq=False)
class Program:
    """What a run sends to each worker once.

    Attributes:
        chain: the steps.
        store: where results go.
        cache_dir: local directory of the store; empty where it is none.
        inputs: some local input files, which every worker must see.
        errors: what happens to bad rows.
        stop: how many steps of the chain a shard passes here, at least; None is all of them.
    """

    chain: Chain
    store: Store
    cache_dir: str = ""
    inputs: tuple[str, ...] = ()
    errors: ErrorPolicy = field(default_factory=ErrorPolicy)
    stop: int | None = None


@dataclass(eq=False)
class Worker:
    """One worker, be it an actor or the driver itself.

    A step whose function is a class has one instance a worker. Methods `setup()` and `teardown()` of it, where it has
    them, are called after it was built and when the worker is closed. Leave the worker as a context, or call `close`.

    Attributes:
        program: what it works on.
        name: what reports call it, `host:pid`.
        trail: of the shard that it reads or read last.
        decoder: the compressed file that it holds open, see `DecodeTask`.
    """

    program: Program
    name: str = field(default_factory=lambda: f"{socket.gethostname()}:{os.getpid()}")
    trail: Trail = field(default_factory=Trail)
    decoder: PartDecoder | None = field(default=None, init=False)
    _callables: dict[int, Callable[..., Any]] = field(default_factory=dict, init=False)
    _instances: list[tuple[int, Any]] = field(default_factory=list, init=False)
    _loop: EventLoop | None = field(default=None, init=False)

    def callable(self, number: int) -> Callable[..., Any]:
        """The callable of a step, built at its first use and kept.

        Args:
            number: position of a map or filter in the chain.

        Raises:
            StepError: the class of the step cannot be built or set up.
        """
        if number not in self._callables:
            try:
                self._callables[number] = self._built(number)
            except Exception as error:
                raise self._failure(number, "building", error) from error
        return self._callables[number]

    def await_all(self, coroutines: Sequence[Coroutine[Any, Any, Any]]) -> list[Outcome]:
        """Run coroutines of a user's function side by side; see `EventLoop.run`."""
        if self._loop is None:
            self._loop = EventLoop()
        return self._loop.run(coroutines)

    def close_decoder(self) -> None:
        """Close the compressed file that it holds open, if there is one."""
        decoder, self.decoder = self.decoder, None
        if decoder is not None:
            decoder.close()

    def close(self) -> None:
        """Let go of all callables; the worker may be used again and builds new ones then.

        Raises:
            StepError: a `teardown` raised; the others were called all the same.
        """
        self.close_decoder()
        instances, self._instances = self._instances, []
        self._callables.clear()
        failures: list[StepError] = []
        for number, instance in reversed(instances):
            try:
                getattr(instance, "teardown", _nothing)()
            except Exception as error:  # noqa: BLE001 - raised below, once every instance had its turn
                failures.append(self._failure(number, "teardown", error))
        if self._loop is not None:
            self._loop.close()
            self._loop = None
        if failures:
            raise failures[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        self.close()

    def _built(self, number: int) -> Callable[..., Any]:
        step = self.program.chain.steps[number]
        assert isinstance(step, Map | Filter)
        function = step.function.build()
        if isinstance(step.function.target, type):
            instance = function.func if isinstance(function, functools.partial) else function
            if not callable(instance):
                raise TypeError(
                    "its instances cannot be called; give the class a method `__call__`, or pass a function"
                )
            getattr(instance, "setup", _nothing)()
            self._instances.append((number, instance))
        return function

    def _failure(self, number: int, doing: str, error: Exception) -> StepError:
        label = self.program.chain.label(number)
        return StepError(f"{label}: {doing}: {described(error)}")


@dataclass(frozen=True)
class Completed(Generic[Outcome_co]):
    """A task that is done.

    Attributes:
        number: position of the task.
        value: what it returned.
        attempt: 1 where the first try succeeded.
        memory_high_water: most bytes of memory that its worker has had so far.
        node: where its worker is.
    """

    number: int
    value: Outcome_co
    attempt: int
    memory_high_water: int
    node: Node


class Task(Protocol[Outcome_co]):
    """A unit of work for one worker: picklable, small, and safe to do twice."""

    @property
    def label(self) -> str:
        """The task as messages name it."""

    @property
    def num_bytes(self) -> int:
        """Bytes of input, for progress."""

    @property
    def home(self) -> str:
        """The host that is likely to have a copy of the input, or of most of it; empty where any host is as good."""

    def run(self, worker: Worker) -> Outcome_co:
        """Do the work and return a receipt of it, never the rows."""

    def recover(self, program: Program) -> Outcome_co | None:
        """What the work gave, if it was done by a worker that died before it could say so; else None."""

    def watched(self, watch: Watch) -> Task[Outcome_co]:
        """The same work, done so that a death of its worker tells what it was at."""


def memory_high_water() -> int:
    """Most bytes of memory that this process has had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _nothing() -> None:
    """What is called in place of a method that the user's class does not have."""
