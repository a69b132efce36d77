"""Which offsets of a step each rank receives.

Where the lanes divide evenly over the ranks and the batch over the lanes, a rank keeps to its own lanes, and so to
its own shards; otherwise the step is cut into contiguous runs. Either way the ranks together receive the whole step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Share:
    """The part of each step that one rank receives.

    Attributes:
        rank: 0 <= rank < world_size.
        world_size: number of ranks, at most the global batch size.
        num_lanes: number of lanes of the order.
        global_batch_size: rows of a step.
    """

    rank: int
    world_size: int
    num_lanes: int
    global_batch_size: int

    @property
    def by_lane(self) -> bool:
        """Whether the rank keeps to its own lanes."""
        return self.num_lanes % self.world_size == 0 and self.global_batch_size % self.num_lanes == 0

    @property
    def lanes(self) -> range:
        """The lanes whose rows the rank receives, as long as no lane has ended; all, where it has none of its own."""
        if not self.by_lane:
            return range(self.num_lanes)
        each = self.num_lanes // self.world_size
        return range(self.rank * each, (self.rank + 1) * each)

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Places in a step, in ascending order; int64, shape (rows of the rank in a full step,)."""
        size = self.global_batch_size
        if not self.by_lane:
            return np.arange(self.rank * size // self.world_size, (self.rank + 1) * size // self.world_size)
        rounds = np.arange(0, size, self.num_lanes)[:, None]
        offsets: NDArray[np.int64] = (rounds + np.array(self.lanes)).reshape(-1)
        return offsets
