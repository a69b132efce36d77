"""Which rows go where when a data set is cut in two by chance, as positions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from raydata_ext.dataset.indexing import Positions

_DEFAULT_TEST_SHARE = 0.25


def split_sizes(num_rows: int, test_size: float | None, train_size: float | None) -> tuple[int, int]:
    """Rows of the training and of the test part.

    Args:
        num_rows: rows that there are.
        test_size: a number of rows (int), or a share of them (float between 0 and 1), rounded up. None is what is left,
            or a quarter where `train_size` is not given either.
        train_size: the same, rounded down. None is what is left.

    Raises:
        ValueError: a size is out of range, or together they are too large, or nothing is left to train on.
    """
    if test_size is None and train_size is None:
        test_size = _DEFAULT_TEST_SHARE
    test = None if test_size is None else _rows("test_size", test_size, num_rows, math.ceil)
    train = None if train_size is None else _rows("train_size", train_size, num_rows, math.floor)
    if train is None:
        train = num_rows - (test or 0)
    if test is None:
        test = num_rows - train
    if train + test > num_rows:
        raise ValueError(f"train_size={train_size} and test_size={test_size} are {train + test} of {num_rows} rows")
    if train == 0:
        raise ValueError(
            f"nothing is left to train on: test_size={test_size}, train_size={train_size}, {num_rows} rows"
        )
    return train, test


def random_split(num_rows: int, train: int, test: int, generator: np.random.Generator) -> tuple[Positions, Positions]:
    """Positions of the training and of the test part, in the order of Hugging Face's `train_test_split`."""
    permutation = generator.permutation(num_rows)
    return permutation[test : test + train], permutation[:test]


def stratified_split(
    labels: NDArray[Any], train: int, test: int, generator: np.random.Generator
) -> tuple[Positions, Positions]:
    """Positions of the two parts, each with the labels in the proportions of the whole, as nearly as rows allow.

    Args:
        labels: of each row; shape (n,).
        train: rows of the training part.
        test: rows of the test part.
        generator: of the order.

    Raises:
        ValueError: a label is rarer, or a part smaller, than the other parts need.
    """
    _, label_of, counts = np.unique(labels, return_inverse=True, return_counts=True)
    if counts.min() < 2:  # noqa: PLR2004 - one for each part
        raise ValueError("a label that only one row has cannot be in both parts; leave it out or do not stratify")
    for name, size in (("train_size", train), ("test_size", test)):
        if size < len(counts):
            raise ValueError(f"{name} is {size} rows, fewer than the {len(counts)} labels")
    of_train = _shares(counts, train)
    of_test = _shares(counts - of_train, test)
    parts: tuple[list[Positions], list[Positions]] = ([], [])
    by_label = np.split(np.argsort(label_of, kind="stable"), np.cumsum(counts)[:-1])
    for rows, first, second in zip(by_label, of_train.tolist(), of_test.tolist(), strict=True):
        mixed = generator.permutation(rows)
        parts[0].append(mixed[:first])
        parts[1].append(mixed[first : first + second])
    return generator.permutation(np.concatenate(parts[0])), generator.permutation(np.concatenate(parts[1]))


def _rows(name: str, size: float, num_rows: int, rounded: Any) -> int:
    if isinstance(size, bool) or not isinstance(size, int | float | np.integer | np.floating):
        raise TypeError(f"{name} is {size!r}; it must be a number of rows or a share between 0 and 1")
    share = isinstance(size, float | np.floating)
    if not 0 < size < (1 if share else num_rows):
        raise ValueError(f"{name} is {size}; of {num_rows} rows it must be more than 0 and less than all")
    return int(rounded(size * num_rows)) if share else int(size)


def _shares(counts: NDArray[np.int64], total: int) -> NDArray[np.int64]:
    """Whole numbers that add up to `total` in the proportions of `counts`: the largest remainders are rounded up."""
    exact = total * counts / counts.sum()
    shares: NDArray[np.int64] = np.floor(exact).astype(np.int64)
    missing = total - int(shares.sum())
    shares[np.argsort(shares - exact, kind="stable")[:missing]] += 1
    return shares
