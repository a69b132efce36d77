"""Batches as two arrays: the rows of all batches one after the other, and where each batch ends.

A list of lists costs 40 bytes a row in every process that holds it. Here it is the bytes of one integer, and as a
mapped file it is shared by all processes of a machine.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from typing_extensions import Self, override

from raydata_ext.errors import CorruptFileError
from raydata_ext.table import ShardWriter, open_ipc_file

if TYPE_CHECKING:
    import os

COLUMN = "indices"


class Batches(Sequence[NDArray[np.integer[Any]]]):
    """A sequence of batches, each an array of row numbers that is a view into one array.

    Args:
        indices: row numbers of all batches, one batch after the other: any integer dtype, shape (rows,).
        boundaries: where batches begin and end in `indices`, ascending from 0 to `rows`: int64 of shape (batches + 1,).

    Raises:
        ValueError: the boundaries do not fit the indices.
    """

    def __init__(self, indices: NDArray[np.integer[Any]], boundaries: NDArray[np.int64]) -> None:
        self._indices = indices
        self._boundaries = boundaries
        self._path: str | None = None
        if not (len(boundaries) and boundaries[0] == 0 and boundaries[-1] == len(indices)):
            raise ValueError(f"boundaries of {len(indices)} indices must go from 0 to {len(indices)}")
        if np.any(boundaries[1:] < boundaries[:-1]):
            raise ValueError("boundaries must ascend")

    @classmethod
    def from_lists(cls, batches: Iterable[Iterable[int]]) -> Self:
        """Batches that are given as lists of row numbers."""
        arrays = [np.fromiter(batch, dtype=np.int64) for batch in batches]
        boundaries = np.concatenate([[0], np.cumsum([len(array) for array in arrays], dtype=np.int64)])
        return cls(np.concatenate([np.empty(0, np.int64), *arrays]), boundaries.astype(np.int64))

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Map what `save` wrote; nothing is read before batches are asked for, and nothing is copied.

        Raises:
            CorruptFileError: it is no whole file of batches.
        """
        table = open_ipc_file(path)
        if table.column_names != [COLUMN] or table.num_rows == 0 or not pa.types.is_large_list(table.schema[0].type):
            raise CorruptFileError(f"{path}: no file of batches, it holds {table.schema.to_string()!r}")
        lists = table.column(COLUMN).chunk(0)
        try:
            # The first list is empty: so a file without batches still has the type of its rows.
            batches = cls(lists.values.to_numpy(), lists.offsets.to_numpy()[1:])
        except ValueError as error:
            raise CorruptFileError(f"{path}: a damaged file of batches: {error}") from error
        batches._path = str(path)
        return batches

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the batches as an Arrow file of one list a batch, which appears when it is complete."""
        offsets = np.concatenate([[0], self._boundaries])
        lists = pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), pa.array(self._indices))
        batch = pa.RecordBatch.from_arrays([lists], [COLUMN])
        with ShardWriter(path, batch.schema, batch_rows=len(lists), batch_bytes=max(1, 2 * batch.nbytes)) as writer:
            writer.write(batch)

    @property
    def indices(self) -> NDArray[np.integer[Any]]:
        """The rows of all batches, in order."""
        return self._indices

    @property
    def boundaries(self) -> NDArray[np.int64]:
        """Where batches begin and end in `indices`, shape (batches + 1,)."""
        return self._boundaries

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Rows of each batch, shape (batches,)."""
        return np.diff(self._boundaries)

    @property
    def nbytes(self) -> int:
        """Bytes of both arrays."""
        return self._indices.nbytes + self._boundaries.nbytes

    @override
    def __len__(self) -> int:
        return len(self._boundaries) - 1

    @overload
    def __getitem__(self, index: SupportsIndex) -> NDArray[np.integer[Any]]: ...
    @overload
    def __getitem__(self, index: slice) -> list[NDArray[np.integer[Any]]]: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Any:
        """One batch, or a list of them; both are views."""
        if isinstance(index, slice):
            return [self[position] for position in range(*index.indices(len(self)))]
        position = operator.index(index)
        if not -len(self) <= position < len(self):
            raise IndexError(f"batch {position} is out of range for {len(self)} batches")
        position %= len(self)
        return self._indices[self._boundaries[position] : self._boundaries[position + 1]]

    def __reduce__(self) -> tuple[Any, ...]:
        """Mapped batches travel as their path."""
        if self._path is not None:
            return type(self).open, (self._path,)
        return type(self), (self._indices, self._boundaries)

    def __repr__(self) -> str:
        return f"Batches({len(self)} batches of {len(self._indices)} rows)"
