"""From a row's number in a shard back to the file it was read from, for messages."""

from __future__ import annotations

import bisect
import traceback
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa


from raydata_ext.engine.chunk import Chunk
from raydata_ext.errors import StepError

_OWN_CODE = str(Path(__file__).parents[1])


class Trail:
    """Remembers, while a shard is read, which rows came from which piece."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._labels: list[str] = []
        self.rows_read = 0

    def follow(self, batches: Iterable[tuple[str, pa.RecordBatch]]) -> Iterator[Chunk]:
        """Number the rows of a shard as they are read."""
        for label, batch in batches:
            if not self._labels or self._labels[-1] != label:
                self._starts.append(self.rows_read)
                self._labels.append(label)
            origins = np.arange(self.rows_read, self.rows_read + batch.num_rows, dtype=np.int64)
            self.rows_read += batch.num_rows
            yield Chunk(batch, origins)

    def place(self, origins: Iterable[int]) -> str:
        """The file and the row, or range of rows, that a row or batch was read from."""
        numbers = [int(number) for number in origins]
        if not numbers:
            return "no rows"
        piece = bisect.bisect_right(self._starts, numbers[0]) - 1
        first, last = numbers[0] - self._starts[piece], numbers[-1] - self._starts[piece]
        rows = f"row {first}" if first == last else f"rows {first} to {last}"
        return f"{self._labels[piece]}: {rows}"

    def failure(self, step: str, origins: Iterable[int], error: BaseException) -> StepError:
        """What to raise where a user's function raised: step, place, and the user's own part of the traceback."""
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if not frame.filename.startswith(_OWN_CODE)]
        shown = "".join(traceback.format_list(own)) + "".join(traceback.format_exception_only(error))
        return StepError(f"{step}: {self.place(origins)}: {type(error).__name__}: {error}\n{shown.rstrip()}")
