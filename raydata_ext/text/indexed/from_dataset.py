"""A column of tokens of a data set as `.bin` and `.idx`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from raydata_ext.text.indexed.mmap_builder import MMapIndexedDatasetBuilder
from raydata_ext.text.indexed.token_file import data_path

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
    """Write a column of lists of integers, an item a row, as `prefix.bin` and `prefix.idx`.

    Args:
        dataset: the rows.
        prefix: path of the files, without suffix.
        column: the column.
        dtype: type of the tokens in the file; None is that of the column.

    Raises:
        ValueError: a token does not fit the type.
    """
    column_type = dataset.schema.field(column).type.value_type.to_pandas_dtype()
    with MMapIndexedDatasetBuilder(data_path(str(prefix)), dtype or column_type) as builder:
        for batch in dataset.table.iter_batches():
            lists = batch.column(column)
            builder.add_items(lists.flatten().to_numpy(), np.diff(lists.offsets.to_numpy()))
        builder.finalize()
