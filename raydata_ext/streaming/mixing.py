"""What mixtures have in common: who gives the next rows by chance, and taking these rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from raydata_ext.streaming.order import picked
from raydata_ext.streaming.rows import Rows, pick
from raydata_ext.streaming.seeds import Draws, Seed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from raydata_ext.streaming.row_reader import RowReader
    from raydata_ext.streaming.rows import References


def draws_by_weight(weights: Sequence[float], seed: Seed) -> Draws:
    """Numbers of sources, without end.

    Args:
        weights: how likely each source is; they add up to 1.
        seed: of the choice.
    """
    count, probabilities = len(weights), tuple(weights)
    return Draws(seed.generator(), lambda generator, size: generator.choice(count, size=size, p=probabilities))


def take_picked(readers: Sequence[RowReader | None], picks: References) -> Rows:
    """Take the next row of one reader after another.

    Args:
        readers: of the sources; each that is picked has as many rows at hand as it is picked. None is one that is not.
        picks: number of the source of each row, one at least; shape (n,).
    """
    counts = np.bincount(picks, minlength=len(readers)).tolist()
    pieces = [reader.take(count) for reader, count in zip(readers, counts, strict=True) if reader is not None and count]
    return pieces[0] if len(pieces) == 1 else pick(pieces, picked(picks))
