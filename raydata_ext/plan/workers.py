"""How many workers run some steps, and what each of them needs."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_RESOURCES_OF_RAY = ("CPU", "GPU", "memory", "object_store_memory")


@dataclass(frozen=True)
class Workers:
    """The pool of shard actors of a run, or of some of its steps. None of it changes a result.

    Attributes:
        min: actors that the pool keeps at least.
        max: actors at most; None is as many as the nodes of the cluster have room for.
        num_cpus: CPUs of each actor.
        num_gpus: GPUs of each actor.
        memory: bytes of memory that each actor reserves; None reserves none.
        resources: custom resources of each actor.
        max_in_flight: shards that an actor has at a time, the running one included.
        max_attempts: how often a shard is tried whose actor dies.
        start_timeout: seconds to wait for the first actor to be placed.
        stall_timeout: seconds without a row read, after which an actor counts as lost. A function may take as long for
            one batch.

    Raises:
        TypeError: one of them is no number where it has to be one.
        ValueError: one of them is out of range.
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
        for name in ("min", "max", "max_in_flight", "max_attempts"):
            _require_number(name, getattr(self, name), Integral, at_least=1)
        _require_number("memory", self.memory, Integral)
        for name in ("num_cpus", "num_gpus", "start_timeout", "stall_timeout"):
            _require_number(name, getattr(self, name), Real)
        for name, amount in self.resources.items():
            _require_number(f"resources[{name!r}]", amount, Real)
            if name in _RESOURCES_OF_RAY:
                raise ValueError(f"{name} is no custom resource of workers; set num_cpus, num_gpus or memory")
        if self.max is not None and self.max < self.min:
            raise ValueError(f"workers need min <= max, got min={self.min}, max={self.max}")
        if self.num_gpus > 1 and self.num_gpus % 1:
            raise ValueError(f"num_gpus of workers is {self.num_gpus}; above 1 it must be whole")

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
    def needs(self) -> dict[str, float]:
        """What each actor takes of its node, under the names that Ray has for it."""
        amounts = {"CPU": self.num_cpus, "GPU": self.num_gpus, "memory": self.memory or 0, **self.resources}
        return {name: amount for name, amount in amounts.items() if amount}

    @property
    def need_special_nodes(self) -> bool:
        """Whether they ask for what the calling process may not have."""
        return bool(self.needs.keys() - {"CPU", "memory"})

    @property
    def actor_options(self) -> dict[str, Any]:
        """Options of the Ray actors; the pool replaces an actor that dies and knows why, so Ray must not restart it."""
        return {
            "num_cpus": self.num_cpus,
            "num_gpus": self.num_gpus,
            "memory": self.memory,
            "resources": dict(self.resources),
            "max_restarts": 0,
            "max_task_retries": 0,
            "scheduling_strategy": "SPREAD",
        }

    def __str__(self) -> str:
        """What differs from the defaults, as it is written."""
        default = Workers()
        values = ((item.name, getattr(self, item.name)) for item in fields(self))
        changed = [f"{name}={_written(value)}" for name, value in values if value != getattr(default, name)]
        return f"Workers({', '.join(changed)})"


def _require_number(name: str, value: Any, kind: type[Any], *, at_least: int = 0) -> None:
    """Check one setting; None is that it is not set, where that is possible."""
    if value is None and name in ("max", "memory"):
        return
    if not isinstance(value, kind) or isinstance(value, bool):
        wanted = "a whole number" if kind is Integral else "a number"
        raise TypeError(f"{name} of workers is {value!r}; it must be {wanted}")
    if not value >= at_least:
        raise ValueError(f"{name} of workers is {value}; it must be at least {at_least}")


def _written(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
