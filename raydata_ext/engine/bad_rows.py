"""Which rows of a chunk a step fails on, found by halving it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raydata_ext.errors import RaydataError

if TYPE_CHECKING:
    from collections.abc import Callable

    from raydata_ext.engine.chunk import Chunk


class NoRowToBlameError(RaydataError):
    """Rows on which a step fails together, while it fails on neither half of them.

    Args:
        rows: those rows.
        error: what it raised for all of them.
    """

    def __init__(self, rows: Chunk, error: Exception) -> None:
        super().__init__(str(error))
        self.rows = rows
        self.error = error


def failing_rows(chunk: Chunk, error: Exception, attempt: Callable[[Chunk], Exception | None]) -> dict[int, Exception]:
    """Find the rows that a step fails on.

    Args:
        chunk: rows that it fails on together.
        error: what it raised.
        attempt: does the step on some of the rows and returns what it raised.

    Returns:
        What the step raised for each row by itself, by position; k of n rows take about 2 k log2(n / k) attempts.

    Raises:
        NoRowToBlameError: the step fails on some rows and on neither half of them.
    """
    if chunk.num_rows == 1:
        return {0: error}
    middle = chunk.num_rows // 2
    failures: dict[int, Exception] = {}
    for start, end in ((0, middle), (middle, chunk.num_rows)):
        half = chunk.slice(start, end - start)
        raised = attempt(half)
        if raised is not None:
            found = failing_rows(half, raised, attempt)
            failures.update((start + position, one) for position, one in found.items())
    if not failures:
        raise NoRowToBlameError(chunk, error)
    return failures
