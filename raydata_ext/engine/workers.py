"""How many workers a run may use, and what each of them needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Workers:
    """The pool of shard actors of a run. None of it changes a result.

    Attributes:
        min: actors that the pool keeps at least.
        max: actors at most; None is as many as the cluster has CPUs for.
        num_cpus: CPUs of each actor.
        num_gpus: GPUs of each actor.
        memory: bytes of memory that each actor reserves; None reserves none.
        resources: custom resources of each actor.
        max_in_flight: shards that an actor has at a time, the running one included.
        max_attempts: how often a shard is tried whose actor dies.
        start_timeout: seconds to wait for the first actor to be placed.
        stall_timeout: seconds without a row read, after which an actor counts as lost. A function may take as long for
            one batch.
    """

    min: int = 1
    max: int | None = None
    num_cpus: float = 1
    num_gpus: float = 0
    memory: int | None = None
    resources: Mapping[str, float] = field(default_factory=dict)
    max_in_flight: int = 2
    max_attempts: int = 3
    start_timeout: float = 300.0
    stall_timeout: float = 1800.0

    def __post_init__(self) -> None:
        if self.min < 1 or (self.max is not None and self.max < self.min):
            raise ValueError(f"workers need 1 <= min <= max, got min={self.min}, max={self.max}")
        for name in ("max_in_flight", "max_attempts"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} of workers is {getattr(self, name)}; it must be at least 1")

    @classmethod
    def of(cls, value: Workers | int | None) -> Workers:
        """A number stands for exactly so many workers, None for the defaults.

        Raises:
            TypeError: it is neither.
        """
        if value is None:
            return cls()
        if isinstance(value, int) and not isinstance(value, bool):
            return cls(min=value, max=value)
        if not isinstance(value, cls):
            raise TypeError(f"workers must be a number or Workers(...), got {value!r}")
        return value

    @property
    def actor_options(self) -> dict[str, Any]:
        """Options of the Ray actors; the pool replaces an actor that dies and knows why, so Ray must not restart it."""
        return {**self.needs, "max_restarts": 0, "max_task_retries": 0, "scheduling_strategy": "SPREAD"}

    @property
    def needs(self) -> dict[str, Any]:
        """What each actor takes of its node."""
        needs: dict[str, Any] = {"num_cpus": self.num_cpus, "num_gpus": self.num_gpus}
        if self.memory is not None:
            needs["memory"] = self.memory
        if self.resources:
            needs["resources"] = dict(self.resources)
        return needs
