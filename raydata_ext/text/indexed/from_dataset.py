"""A column of tokens of a data set as `.bin` and `.idx`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os

    from numpy.typing import DTypeLike

    from raydata_ext.dataset import Dataset


def write_indexed_dataset(
    dataset: Dataset,
    prefix: str | os.PathLike[str],
    *,
    column: str = "input_ids",
    dtype: DTypeLike | None = None,
) -> None:
    """Write a column of lists of integers, an item a row, as `prefix.bin` and `prefix.idx`; see `Dataset.to_fairseq`.

    Args:
        dataset: the rows.
        prefix: path of the files, without suffix.
        column: the column.
        dtype: type of the tokens in the file; None is the smallest of uint16 and int32 that fits all of them.

    Raises:
        ValueError: a token does not fit the type.
    """
    dataset.to_fairseq(prefix, column=column, dtype=dtype)
