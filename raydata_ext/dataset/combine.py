"""Several data sets as one: below one another, side by side, or mixed row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import numpy as np

from raydata_ext.dataset.base import Parts
from raydata_ext.dataset.dataset import Dataset
from raydata_ext.dataset.indices import Indices
from raydata_ext.dataset.lineage import Lineage
from raydata_ext.dataset.mixing import StoppingStrategy, mixed_by_chance, mixed_in_turn
from raydata_ext.store import FormatState
from raydata_ext.table import concat_tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from raydata_ext.table import Table


def concatenate_datasets(datasets: Sequence[Dataset], axis: int = 0) -> Dataset:
    """Data sets below one another, or side by side. No row is copied, but for rows under an indices mapping with axis
    1.

    The result has the format of the data sets where that is the same for all.

    Args:
        datasets: one at least.
        axis: 0 for all rows of the first, then those of the second: types are widened to hold those of all, and columns
            that one lacks are null in its rows. 1 for the columns of all in one row.

    Raises:
        SchemaError: (axis 0) the types of a column do not go together.
        ValueError: (axis 1) numbers of rows differ, or two have a column of one name. Or there are no data sets, or
            another axis.
    """
    _require_datasets(datasets)
    if axis not in (0, 1):
        raise ValueError(f"axis is {axis}; it must be 0 or 1")
    return _below(datasets) if axis == 0 else _beside(datasets)


def interleave_datasets(
    datasets: Sequence[Dataset],
    probabilities: Sequence[float] | None = None,
    seed: int | None = None,
    stopping_strategy: StoppingStrategy = "first_exhausted",
) -> Dataset:
    """Rows of one data set after another, in turn or by chance, in the order of Hugging Face `datasets`.

    Args:
        datasets: one at least.
        probabilities: how likely each gives the next row; None is one after the other in turn.
        seed: of the choice; None is a random one.
        stopping_strategy: `"first_exhausted"` ends when one has no more rows; `"all_exhausted"` when each has given all
            of its rows, those of shorter ones again from the first on; `"all_exhausted_without_replacement"` gives each
            row once. In turn, the first two end with whole turns.

    Raises:
        ValueError: there are no data sets; there are not as many probabilities as data sets, or they do not add up to
            1; there is no such strategy; or one that has no rows, or is never chosen, would have to be used up.
    """
    _require_datasets(datasets)
    if stopping_strategy not in get_args(StoppingStrategy):
        raise ValueError(f"stopping_strategy is {stopping_strategy!r}; choose one of {get_args(StoppingStrategy)}")
    lengths = [len(dataset) for dataset in datasets]
    if probabilities is None:
        positions = mixed_in_turn(lengths, stopping_strategy)
    else:
        positions = mixed_by_chance(lengths, probabilities, seed, stopping_strategy)
    return _below(datasets).select(positions)


def _below(datasets: Sequence[Dataset]) -> Dataset:
    parts = [dataset.parts for dataset in datasets]
    indices = None
    if any(part.indices is not None for part in parts):
        starts = np.cumsum([0, *(part.table.num_rows for part in parts)])
        rows = [
            (np.arange(part.table.num_rows) if part.indices is None else part.indices.rows) + start
            for part, start in zip(parts, starts[:-1].tolist(), strict=True)
        ]
        indices = Indices.of(np.concatenate(rows), parts[0].workspace.store)
    lineage = Lineage.joined("below", [part.lineage for part in parts])
    return _joined(concat_tables([part.table for part in parts]), lineage, parts, indices)


def _beside(datasets: Sequence[Dataset]) -> Dataset:
    names = [name for dataset in datasets for name in dataset.column_names]
    twice = [name for position, name in enumerate(names) if name in names[:position]]
    if twice:
        raise ValueError(f"two data sets have a column {twice[0]!r}; rename or remove one of them")
    mappings = {id(dataset.parts.indices) for dataset in datasets}
    in_order = datasets if len(mappings) == 1 else [dataset.flatten_indices() for dataset in datasets]
    parts = [dataset.parts for dataset in in_order]
    table = concat_tables([part.table for part in parts], axis=1)
    lineages = [dataset.parts.lineage for dataset in datasets]
    return _joined(table, Lineage.joined("beside", lineages), parts, parts[0].indices)


def _joined(table: Table, lineage: Lineage, parts: Sequence[Parts], indices: Indices | None) -> Dataset:
    formats = [part.format for part in parts]
    return Dataset(
        Parts(
            table,
            lineage,
            parts[0].workspace,
            files={path: file for part in parts for path, file in part.files.items()},
            indices=indices,
            format=formats[0] if all(format_ == formats[0] for format_ in formats) else FormatState(),
        )
    )


def _require_datasets(datasets: Sequence[Dataset]) -> None:
    if not datasets:
        raise ValueError("there are no data sets; pass one at least")
    for dataset in datasets:
        if not isinstance(dataset, Dataset):
            raise TypeError(f"all must be a Dataset; one is a {type(dataset).__name__}")
