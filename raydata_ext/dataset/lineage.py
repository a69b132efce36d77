"""What the rows of a data set are made of; its hash is the fingerprint, computed when it is first asked for.

So a data set is opened, and its columns and order are changed, without reading a file only to name it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from raydata_ext.fingerprint import combine
from raydata_ext.sources import Piece, Sighting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from raydata_ext.plan import InputShard, TableShard
    from raydata_ext.sources import IdentityIndex


@dataclass(eq=False)
class Lineage:
    """Where rows come from, and the operations since.

    Args:
        root: a hash of the rows; or files as shards, whose content has not been hashed; or other lineages after the
            name of what was made of them.
        steps: name and arguments of each operation.
    """

    root: str | tuple[TableShard, ...] | tuple[str, tuple[Lineage, ...]]
    steps: tuple[tuple[str, ...], ...] = ()
    _known: str | None = field(default=None, init=False, repr=False)

    @classmethod
    def joined(cls, how: str, lineages: Sequence[Lineage]) -> Lineage:
        """Rows that are made of those of several data sets.

        Args:
            how: what was done.
            lineages: of the data sets, in order.
        """
        return cls((how, tuple(lineages)))

    def then(self, name: str, *arguments: str | int) -> Lineage:
        """The rows after one more operation.

        Args:
            name: of the operation.
            arguments: all that its result depends on, beside the rows.
        """
        step = (name, *map(str, arguments))
        if self._known is not None:
            return Lineage(self._known, (step,))
        return Lineage(self.root, (*self.steps, step))

    def fingerprint(self, index: IdentityIndex) -> str:
        """The hash.

        Args:
            index: knows the content of files, and is told what is found out here.
        """
        if self._known is None:
            found = self._root_fingerprint(index)
            for step in self.steps:
                found = combine(step[0], found, *step[1:])
            self._known = found
        return self._known

    def _root_fingerprint(self, index: IdentityIndex) -> str:
        match self.root:
            case str(known):
                return known
            case (str(how), tuple(lineages)):
                return combine("joined", how, *(lineage.fingerprint(index) for lineage in lineages))
        shards: Any = self.root
        identities = [content_of(shard, index) for shard in shards]
        index.save()
        return combine("files", *identities)


def content_of(shard: InputShard, index: IdentityIndex) -> str:
    """The identity of what a shard holds; files whose content is not known are read.

    Args:
        shard: the shard.
        index: knows the content of files, and is told what is found out here.
    """

    def look(piece: Piece) -> str:
        known = index.content(piece)
        if known is None:
            before = time.time_ns()
            known = shard.hash_piece(piece)
            index.add([Sighting(piece, known, before)])
        return known

    identity = shard.identity(look)
    assert identity is not None, "every piece is hashed where it is not known"
    return identity
