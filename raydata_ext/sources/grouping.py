"""Many small files to few shards, by a rule under which one more or one fewer file leaves the other shards alone.

The sorted list of files is cut, recursively, in front of the file whose *name* has the lowest hash, until every part
fits into the wanted size. Where the cuts fall therefore depends on names and sizes only, not on positions. (The cuts
are the upper nodes of a treap over the names: Seidel and Aragon, "Randomized search trees", 1996.)

In other words, there is a cut in front of a file if the files around it, up to the nearest on each side whose name
has a lower hash, do not fit into one group. So whether one is there depends on no file further away than `max_bytes`,
and a file that is added, removed or edited changes only groups within twice `max_bytes` of it on either side, in the
mean two of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xxhash

if TYPE_CHECKING:
    from collections.abc import Sequence

SMALLEST_FILE_COST = 4096
"""Bytes that a file counts for at least, so that a million empty files do not end up in one group."""


def group_files(names: Sequence[str], sizes: Sequence[int], max_bytes: int) -> list[tuple[int, int]]:
    """Cut a list of files into groups of at most `max_bytes`, about half full on average.

    Args:
        names: names that stay the same when the corpus moves, in order.
        sizes: bytes of each file. A file above `max_bytes` is a group of its own.
        max_bytes: the largest sum of sizes of a group.

    Returns:
        (first, one past the last) positions of each group, in order, without gaps.
    """
    if not names:
        return []
    costs = np.maximum(np.asarray(sizes, dtype=np.int64), SMALLEST_FILE_COST)
    ends = np.concatenate([[0], np.cumsum(costs)])
    priorities = np.array([xxhash.xxh3_64_intdigest(name.encode("utf8", "surrogatepass")) for name in names], np.uint64)
    groups, stack = [], [(0, len(names))]
    while stack:
        first, last = stack.pop()
        if last - first == 1 or ends[last] - ends[first] <= max_bytes:
            groups.append((first, last))
            continue
        cut = first + 1 + int(np.argmin(priorities[first + 1 : last]))
        stack += [(cut, last), (first, cut)]
    return groups
