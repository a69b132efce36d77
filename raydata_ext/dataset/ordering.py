"""Choosing and ordering rows. All of it is arithmetic on positions: no row is moved."""

from __future__ import annotations

import logging
import secrets
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from raydata_ext.dataset.dataset_dict import DatasetDict
from raydata_ext.dataset.formats import Formats
from raydata_ext.dataset.indexing import as_run, positions_of
from raydata_ext.dataset.indices import Indices
from raydata_ext.dataset.splitting import random_split, split_sizes, stratified_split
from raydata_ext.dataset.view import View
from raydata_ext.fingerprint import hash_value
from raydata_ext.store import FormatState

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray
    from typing_extensions import Self

    from raydata_ext.dataset.indexing import Positions
    from raydata_ext.dataset.lineage import Lineage

logger = logging.getLogger(__name__)

_NULLS_PER_KEY = int(pa.__version__.partition(".")[0]) >= 25  # noqa: PLR2004 - pyarrow moved it to the keys then


class Ordering(Formats):
    """Other rows, or another order, of the same table."""

    def select(self, indices: Iterable[SupportsIndex] | NDArray[np.integer[Any]]) -> Self:
        """The rows at some positions, in their order; a position may come again.

        A run of rows is a slice of the table; all else is an indices mapping.

        Args:
            indices: integers, negative ones counted from the end.

        Raises:
            IndexError: there is no such row.
            TypeError: they are no integers.
        """
        positions = positions_of(indices, self.num_rows)
        return self._selected(positions, self.parts.lineage.then("select", hash_value(positions)))

    def skip(self, n: int) -> Self:
        """All rows but the first n.

        Raises:
            ValueError: n is negative.
        """
        return self._run(min(_not_negative(n), self.num_rows), self.num_rows)

    def take(self, n: int) -> Self:
        """The first n rows, or all where there are fewer.

        Raises:
            ValueError: n is negative.
        """
        return self._run(0, min(_not_negative(n), self.num_rows))

    def shuffle(self, seed: int | None = None, generator: np.random.Generator | None = None) -> Self:
        """All rows in the order of `numpy.random.default_rng(seed).permutation(num_rows)`, the same everywhere.

        Args:
            seed: of the order; None is a fresh one, which is logged and counts in the fingerprint.
            generator: gives the permutation in place of a seed; it moves on by that.

        Raises:
            ValueError: both are given.
        """
        order = _generator(seed, generator).permutation(self.num_rows)
        return self._selected(order, self.parts.lineage.then("select", hash_value(order)))

    def sort(
        self,
        column_names: str | Sequence[str],
        reverse: bool | Sequence[bool] = False,  # positional as in Hugging Face
        null_placement: Literal["at_start", "at_end"] = "at_end",
    ) -> Self:
        """All rows in the order of some columns; rows that are equal in these stay in the order that they had.

        Args:
            column_names: the columns, the one that counts most first.
            reverse: whether the largest comes first; one for all columns, or one for each.
            null_placement: where rows without a value go.

        Raises:
            ValueError: there is no such column, or not one `reverse` for each.
            TypeError: the type of a column has no order.
        """
        names = [column_names] if isinstance(column_names, str) else list(column_names)
        self._require_columns(names)
        descending = [reverse] * len(names) if isinstance(reverse, bool) else list(reverse)
        if not names or len(descending) != len(names):
            raise ValueError(f"there are {len(names)} columns to sort by and {len(descending)} values of reverse")
        if null_placement not in ("at_start", "at_end"):
            raise ValueError(f"null_placement is {null_placement!r}; it must be 'at_start' or 'at_end'")
        orders = ["descending" if down else "ascending" for down in descending]
        order = _sorted(self._plain_columns(names), list(zip(names, orders, strict=True)), null_placement)
        return self._selected(order, self.parts.lineage.then("select", hash_value(order)))

    def shard(self, num_shards: int, index: int, contiguous: bool = True) -> Self:  # positional as in Hugging Face
        """One of several parts, which together have each row once.

        Args:
            num_shards: number of parts.
            index: which of them.
            contiguous: a run of rows, where the first parts have one more if they do not divide evenly; else every
                `num_shards`-th row.

        Raises:
            ValueError: the part is not among them.
        """
        if not 0 <= index < num_shards:
            raise ValueError(f"index is {index} of num_shards={num_shards}; it must be from 0 to num_shards - 1")
        if not contiguous:
            return self.select(range(index, self.num_rows, num_shards))
        length, rest = divmod(self.num_rows, num_shards)
        start = index * length + min(index, rest)
        return self._run(start, start + length + (index < rest))

    def train_test_split(
        self,
        test_size: float | None = None,
        train_size: float | None = None,
        shuffle: bool = True,  # positional as in Hugging Face
        stratify_by_column: str | None = None,
        seed: int | None = None,
        generator: np.random.Generator | None = None,
    ) -> DatasetDict:
        """Two parts without a common row, `"train"` and `"test"`.

        Args:
            test_size: rows (int) or share of rows (float) of the test part; None is what is left, or else a quarter.
            train_size: the same of the training part.
            shuffle: mix the rows first; else the training part is the head and the test part what follows.
            stratify_by_column: a column whose values both parts have in the proportions of the whole.
            seed: of the order, as in `shuffle`.
            generator: in place of a seed, as in `shuffle`.

        Raises:
            ValueError: sizes are out of range, or rows cannot be stratified.
        """
        train, test = split_sizes(self.num_rows, test_size, train_size)
        if not shuffle:
            if stratify_by_column is not None:
                raise ValueError("stratify_by_column needs shuffle=True")
            return _split(self._run(0, train), self._run(train, train + test))
        random = _generator(seed, generator)
        if stratify_by_column is None:
            parts = random_split(self.num_rows, train, test, random)
        else:
            self._require_columns([stratify_by_column])
            labels = comparable(self._plain_columns([stratify_by_column]).column(0))
            if labels.null_count:
                raise ValueError(
                    f"column {stratify_by_column!r} is null in {labels.null_count} rows, which have no label then; fill"
                    " or filter them first"
                )
            parts = stratified_split(labels.to_numpy(), train, test, random)
        return _split(self.select(parts[0]), self.select(parts[1]))

    def unique(self, column: str) -> list[Any]:
        """The distinct values of a column, in the order in which they first appear.

        Raises:
            ValueError: there is no such column.
            TypeError: values of its type cannot be compared.
        """
        self._require_columns([column])
        found = self.schema.field(column).type
        seen: pa.Array | None = None
        try:
            for piece in self._plain_view([column]).pieces():
                new = pc.unique(comparable(piece.column(0)))
                seen = new if seen is None else pc.unique(pa.concat_arrays([seen, new]))
        except pa.ArrowNotImplementedError as error:
            raise TypeError(f"column {column!r} is {found}, whose values cannot be compared ({error})") from error
        return [] if seen is None else seen.to_pylist()

    def _run(self, start: int, stop: int) -> Self:
        """Rows [start, stop), which are in range."""
        lineage = self.parts.lineage.then("run", start, stop)
        if self.parts.indices is not None:
            return self._with(lineage=lineage, indices=self.parts.indices.slice(start, stop))
        return self._with(lineage=lineage, table=self.parts.table.slice(start, stop - start))

    def _selected(self, positions: Positions, lineage: Lineage) -> Self:
        """Rows at positions, which are in range."""
        run = as_run(positions)
        if run is not None:
            return self._run(run.start, run.stop)
        rows = positions if self.parts.indices is None else self.parts.indices.rows[positions]
        return self._with(lineage=lineage, indices=Indices.of(rows, self.parts.workspace.store))

    def _plain_view(self, names: Sequence[str]) -> View:
        return View(self.parts.table, self.parts.indices, FormatState(columns=tuple(names)))

    def _plain_columns(self, names: Sequence[str]) -> pa.Table:
        return self._plain_view(names).arrow_run(0, self.num_rows)


def comparable(column: pa.Array | pa.ChunkedArray) -> Any:
    """The values of a column in a type that Arrow compares: those of a dictionary, and text that is no view."""
    kind = column.type
    if types.is_dictionary(kind):
        return comparable(column.cast(kind.value_type))
    if types.is_string_view(kind) or types.is_binary_view(kind):
        return column.cast(pa.large_string() if types.is_string_view(kind) else pa.large_binary())
    return column


def _split(train: Any, test: Any) -> DatasetDict:
    return DatasetDict(train=train, test=test)


def _generator(seed: int | None, generator: np.random.Generator | None) -> np.random.Generator:
    if generator is not None:
        if seed is not None:
            raise ValueError("seed and generator are both given; give one of them")
        return generator
    if seed is None:
        seed = secrets.randbits(63)
        logger.info("no seed is given; this order is that of seed=%d", seed)
    return np.random.default_rng(seed)


def _sorted(columns: pa.Table, keys: Sequence[tuple[str, str]], null_placement: str) -> Positions:
    if _NULLS_PER_KEY:
        options: dict[str, Any] = {"sort_keys": [(*key, null_placement) for key in keys]}
    else:
        options = {"sort_keys": keys, "null_placement": null_placement}
    values = pa.table([comparable(column) for column in columns.columns], names=columns.column_names)
    try:
        order = pc.sort_indices(values, **options)
    except (pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        found = ", ".join(f"{field.name!r} is {field.type}" for field in columns.schema)
        raise TypeError(f"cannot sort: {found} ({error})") from error
    return order.to_numpy().view(np.int64)  # type: ignore[no-any-return]  # pyarrow has no stubs


def _not_negative(n: int) -> int:
    if n < 0:
        raise ValueError(f"the number of rows is {n}; it must not be negative")
    return n
