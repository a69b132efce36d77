"""Where each position of the global order lies: round-robin over lanes, as arithmetic.

Position p is row `index` of a lane. One row of each lane is taken in turn; a lane that has ended is passed over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Positions = NDArray[np.int64]

ENDLESS = 1 << 50
"""Rows of a lane without end."""


class Layout:
    """The lanes of an epoch, by their lengths.

    Rounds in which the same lanes still have rows make a section; there are at most as many as there are lanes.

    Args:
        lengths: rows of each lane, `ENDLESS` for one without end; one lane at least.
    """

    def __init__(self, lengths: Sequence[int]) -> None:
        self.lengths: Positions = np.array(lengths, np.int64)
        self.total = sum(map(int, lengths))
        self._rounds = np.unique(np.append(self.lengths[self.lengths > 0], 0))[:-1]  # first round of each section
        self._active = [np.flatnonzero(self.lengths > first) for first in self._rounds.tolist()]
        widths = np.array([len(lanes) for lanes in self._active], np.int64)
        ends = np.append(self._rounds[1:], self.lengths.max())
        self._starts = np.cumsum(np.append(0, (ends - self._rounds) * widths))[: len(widths)]
        self._widths = widths

    @property
    def num_lanes(self) -> int:
        """Number of lanes."""
        return len(self.lengths)

    @property
    def is_endless(self) -> bool:
        """Whether there is no last position."""
        return bool(self.lengths.max() >= ENDLESS)

    def locate(self, positions: Positions) -> tuple[Positions, Positions]:
        """Find positions.

        Args:
            positions: below `total`; int64, shape (n,).

        Returns:
            The lane of each, and the index of its row in the lane; int64, shape (n,).
        """
        sections = self._starts.searchsorted(positions, side="right") - 1
        offsets = positions - self._starts[sections]
        widths = self._widths[sections]
        places = offsets % widths
        lanes = np.empty(len(positions), np.int64)
        for section in np.unique(sections).tolist():
            mine = sections == section
            lanes[mine] = self._active[section][places[mine]]
        return lanes, self._rounds[sections] + offsets // widths

    def rows_before(self, position: int) -> Positions:
        """How many rows of each lane come before a position, at most `total`; int64, shape (lanes,)."""
        if not len(self._starts):
            return np.zeros_like(self.lengths)
        section = int(self._starts.searchsorted(position, side="right")) - 1
        full, rest = divmod(position - int(self._starts[section]), int(self._widths[section]))
        rows = np.minimum(self.lengths, int(self._rounds[section]) + full)
        rows[self._active[section][:rest]] += 1
        return rows
