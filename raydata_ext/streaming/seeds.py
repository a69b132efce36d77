"""Seeds as values, and the blocks of random numbers that a shuffle or a mixture consumes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

BLOCK = 1000
"""Numbers that are drawn at a time. The reference order depends on it: the last shuffle of a buffer comes after a whole
block."""

_NONE: NDArray[np.int64] = np.empty(0, np.int64)


@dataclass(frozen=True)
class Seed:
    """Where a generator starts: a user's seed, moved on by epoch and worker.

    Attributes:
        value: not negative.
        shifts: epoch, worker and the like, in the order in which they were applied.
    """

    value: int
    shifts: tuple[int, ...] = ()

    def shifted(self, by: int) -> Seed:
        """The seed for an epoch or a worker; a shift by 0 gives another seed, too."""
        return Seed(self.value, (*self.shifts, by))

    def generator(self) -> np.random.Generator:
        """A fresh generator; the rule for shifts is that of Hugging Face `datasets`."""
        generator = np.random.default_rng(self.value)
        for shift in self.shifts:
            generator = np.random.default_rng((int(generator.integers(0, 1 << 63)) - shift) % (1 << 64))
        return generator


@dataclass(frozen=True)
class MixedSeed(Seed):
    """A seed whose shifts are mixed in at once, so that no two of (seed, epoch, lane) have random numbers in common."""

    @override
    def shifted(self, by: int) -> MixedSeed:
        return MixedSeed(self.value, (*self.shifts, by))

    @override
    def generator(self) -> np.random.Generator:
        return np.random.default_rng([self.value, *self.shifts])


def mixed(*parts: int) -> int:
    """One seed of several numbers, such that other numbers or another order give another seed."""
    return int(np.random.SeedSequence((len(parts), *parts)).generate_state(1, np.uint64)[0] >> np.uint64(1))


class Draws:
    """The numbers that a generator gives, drawn in blocks, with a position that can be saved.

    Args:
        generator: what draws; not shared.
        draw: draws so many numbers, a multiple of `BLOCK`.
    """

    def __init__(
        self, generator: np.random.Generator, draw: Callable[[np.random.Generator, int], NDArray[np.int64]]
    ) -> None:
        self.generator = generator
        self._draw = draw
        self._before = generator.bit_generator.state  # before the numbers at hand were drawn
        self._drawn = 0  # how many there were
        self._left: NDArray[np.int64] = _NONE

    def peek(self) -> NDArray[np.int64]:
        """The numbers at hand, one at least, without using them."""
        if not len(self._left):
            self._redraw(BLOCK)
        return self._left

    def use(self, count: int) -> None:
        """Use so many of the numbers at hand."""
        self._left = self._left[count:] if count < len(self._left) else _NONE

    def take(self, count: int) -> NDArray[np.int64]:
        """Use the next numbers; int64, shape (count,)."""
        left = self._left
        if count <= len(left):
            self.use(count)
            return left[:count]
        missing = count - len(left)
        self._redraw(-(-missing // BLOCK) * BLOCK)
        drawn = self._left
        self._left = drawn[missing:].copy()  # few, for which all would be held
        return np.concatenate([left, drawn[:missing]]) if len(left) else drawn[:missing]

    def state(self) -> dict[str, Any]:
        """The position; never changed later."""
        return {"generator": self._before, "drawn": self._drawn, "used": self._drawn - len(self._left)}

    def load(self, state: dict[str, Any]) -> None:
        """Go to a saved position."""
        self.generator.bit_generator.state = state["generator"]
        self._before, self._drawn, self._left = state["generator"], 0, _NONE
        if state["drawn"]:
            self._redraw(state["drawn"])
            self.use(state["used"])

    def _redraw(self, count: int) -> None:
        self._before = self.generator.bit_generator.state
        self._left = self._draw(self.generator, count)
        self._drawn = count
