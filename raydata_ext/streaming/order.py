"""In which order rows come, as arithmetic on arrays of indices; nothing here reads rows or keeps state."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from raydata_ext.streaming.seeds import Seed

    Indices = NDArray[np.int64]

_UINT16_VALUES = 1 << 16
_UINT32_BITS = 32


def permutation(count: int, seed: Seed) -> list[int]:
    """The order in which shards are read."""
    order = list(range(count))
    seed.generator().shuffle(order)
    return order


def before_permutation(count: int, seed: Seed) -> Indices:
    """Where among permuted shards each shard is: the order that undoes `permutation`; int64, shape (count,)."""
    order: Indices = np.argsort(permutation(count, seed))
    return order


def even_cuts(count: int, parts: int) -> list[int]:
    """Bounds of nearly equal runs of `count` things; the first runs hold one more. `parts + 1` numbers from 0 on."""
    size, extra = divmod(count, parts)
    return [size * i + min(i, extra) for i in range(parts + 1)]


def dealt(count: int, parts: int, index: int, *, contiguous: bool) -> range:
    """Which of `count` shards one of `parts` readers gets: a run of them, or every `parts`-th."""
    if contiguous:
        low, high = even_cuts(count, parts)[index : index + 2]
        return range(low, high)
    return range(index, count, parts)


def round_robin(groups: int, rows: int) -> Indices:
    """The order that takes one row of each group in turn, over the groups' rows laid one after the other.

    Args:
        groups: number of groups.
        rows: rows of each group.

    Returns:
        Positions in the joined groups; int64, shape (groups * rows,).
    """
    positions: Indices = np.arange(groups * rows).reshape(groups, rows).T.reshape(-1)
    return positions


def picked(picks: Indices) -> Indices:
    """The order that takes the next row of the picked source, over the sources' rows laid one after the other.

    Args:
        picks: number of the source of each row; shape (n,).

    Returns:
        Positions in the joined rows, as many of each source as it was picked; int64, shape (n,).
    """
    order = np.empty(len(picks), np.int64)
    order[np.argsort(picks, kind="stable")] = np.arange(len(picks))
    return order


def picks_until_used_up(picks: Indices, available: Sequence[int]) -> int:
    """How many picks can be served until the first source has given all the rows that it has at hand.

    Args:
        picks: number of the source of each row; shape (n,).
        available: rows that each source has at hand; one at least for each that is picked.

    Returns:
        All n, or the number of picks up to that which takes the last row of a source.
    """
    served = len(picks)
    for source, rows in enumerate(available):
        if rows < served:
            places = np.flatnonzero(picks[:served] == source)
            if rows <= len(places) and rows:
                served = int(places[rows - 1]) + 1
    return served


def through_buffer(buffer: Indices, incoming: Indices, slots: Indices) -> tuple[Indices, Indices]:
    """Shuffle rows through a full buffer: row k emits what slot k holds, and takes its place.

    Args:
        buffer: what the slots hold; shape (b,). Not changed.
        incoming: the rows; shape (n,).
        slots: slot of each row, below b; shape (n,).

    Returns:
        What is emitted, shape (n,), and what the slots hold then, shape (b,).
    """
    size, count = len(buffer), len(incoming)
    if size <= count and size.bit_length() + (size + 1 + count).bit_length() <= _UINT32_BITS:
        return _through_small_buffer(buffer, incoming, slots)
    return _through_large_buffer(buffer, incoming, slots)


def _through_small_buffer(buffer: Indices, incoming: Indices, slots: Indices) -> tuple[Indices, Indices]:
    """All rows, those of the buffer first, sorted by slot and time: each takes the place of the one before it.

    What stands before an incoming row is what it emits. What stands before a row of the buffer is what is left in the
    slot before; for the last slot, there is one more with a row that nobody gets. Slot and time are one number, since
    numbers are sorted several times as fast as their places.
    """
    size = len(buffer) + 1
    rows = np.concatenate([buffer, buffer[:1], incoming])
    times = np.arange(len(rows), dtype=np.uint32)
    bits = len(rows).bit_length()
    keys = np.empty(len(rows), np.uint32)
    keys[:size] = times[:size]
    keys[size:] = slots
    keys <<= bits
    keys |= times
    keys.sort()
    keys &= (1 << bits) - 1
    order = keys.astype(np.int64)
    pushed_out = np.empty_like(rows)
    pushed_out[order[1:]] = rows.take(order[:-1])
    return pushed_out[size:], pushed_out[1:size].copy()


def _through_large_buffer(buffer: Indices, incoming: Indices, slots: Indices) -> tuple[Indices, Indices]:
    """The incoming rows alone, sorted by slot and time, since few rows of the buffer are touched.

    What slot s emits at step k was put there by the step before k that had the same slot, or was there from the
    begin. A stable sort by slot brings the steps of each slot together, in the order of time.
    """
    size = len(buffer)
    narrow = slots.astype(np.uint16) if size <= _UINT16_VALUES else slots
    steps = np.argsort(narrow, kind="stable") if narrow is not slots else _stable_argsort(slots)
    slot_of = narrow.take(steps)
    before = np.empty(len(steps), np.int64)  # place among the incoming, after the buffer, of the step before each
    np.add(steps[:-1], size, out=before[1:])
    is_first = np.empty(len(steps), np.bool_)
    is_first[:1] = True
    np.not_equal(slot_of[1:], slot_of[:-1], out=is_first[1:])
    emitted = np.empty_like(incoming)
    emitted[steps] = np.concatenate([buffer, incoming]).take(np.where(is_first, slot_of, before))
    left = buffer.copy()
    left[slots] = incoming  # of several rows for one slot, the last stays
    return emitted, left


def _stable_argsort(values: Indices) -> Indices:
    """Positions in ascending order of value, below 2**32; numpy sorts 16 bits by radix, which is many times faster."""
    by_low = np.argsort(values.astype(np.uint16), kind="stable")  # the cast keeps the low bits
    return by_low[np.argsort((values[by_low] >> 16).astype(np.uint16), kind="stable")]
