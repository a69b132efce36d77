"""Random numbers that depend on a seed, an epoch and a row, and on nothing else.

Each draw has a generator of its own: no global state is read or changed, so neither the process, nor the order in which
rows are asked for, nor other code that draws can change what comes out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random.bit_generator import ISeedSequence
from typing_extensions import override

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SEEDS = 1e6  # a float on purpose: the remainder of a hash of 63 bits by a float is another one than by an integer


def fairseq_random_state(seed: int, *more: int) -> np.random.RandomState:
    """Return a generator in the state that fairseq's `numpy_seed(seed, *more)` sets the global one to.

    With further numbers, the seed is a hash of all, of which there are fewer than 10**6: rows of a large corpus share
    them. That is the price of equal draws.

    Args:
        seed: the seed.
        more: what else the draws depend on, such as epoch and index.
    """
    if more:
        seed = int(hash((seed, *more)) % _SEEDS)
    bits = np.random.MT19937(_Zeros())  # type: ignore[arg-type]  # any ISeedSequence will do
    random = np.random.RandomState(bits)
    random.seed(seed)
    return random


class _Zeros(ISeedSequence):
    """The state of a generator that is seeded right away: cheaper to make than a random one, of which it has no use."""

    @override
    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> NDArray[Any]:
        return np.zeros(n_words, dtype)
