"""What a function counts of its rows, beside what it returns of them."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Counted:
    """What the function of a `map` may return in place of its result: the result, and counts for the report.

        return Counted({"ids": ids}, {"tokens": len(ids), "unknown words": len(unknown)})

    The counts of a step are added up, name by name, over all rows or batches that come out of it, and stand in the
    report of the run and in the receipts of shards: those of results that were computed before count as well. They are
    no part of a key.

    Attributes:
        result: what the function would return otherwise.
        counts: whole numbers by name.

    Raises:
        TypeError: a count is no whole number.
    """

    result: Any
    counts: Mapping[str, int]

    def __post_init__(self) -> None:
        plain = {str(name): operator.index(number) for name, number in self.counts.items()}
        object.__setattr__(self, "counts", plain)
