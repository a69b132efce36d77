"""Computing the shard of one part of a big compressed file, from lines that a `decode_task` left."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from typing_extensions import override

from raydata_ext.engine.decode_task import lines_key
from raydata_ext.engine.shard_task import ShardOutcome, ShardTask
from raydata_ext.sources import FileShard
from raydata_ext.sources.input_file import CompressedRange

if TYPE_CHECKING:
    from raydata_ext.engine.worker import Worker
    from raydata_ext.plan import ShardState


@dataclass(frozen=True, eq=False)
class PartTask(ShardTask):
    """One missing shard that is a part of a big compressed file.

    The lines are no result: they go when the shard is computed, so that a file of a terabyte passes through a small
    disk. Where they are gone too early, the file is decompressed up to them again.
    """

    @override
    def run(self, worker: Worker) -> ShardOutcome:
        store, key = worker.program.store, lines_key(self.state)
        lines = store.get(key)
        if lines is None:
            return super().run(worker)
        outcome = ShardTask.run(replace(self, state=_reading(self.state, store.local_path(lines))), worker)
        store.release(lines)
        store.discard(key)
        return outcome


def _reading(state: ShardState, path: str) -> ShardState:
    """The state with a shard that reads its lines from a file."""
    assert isinstance(state.shard, FileShard)
    (piece,) = state.shard.pieces
    assert isinstance(piece, CompressedRange)
    return replace(state, shard=replace(state.shard, pieces=(replace(piece, lines_path=path),)))
