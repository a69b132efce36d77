"""Computing one missing shard: a look whether its content is known under another name, then a pass over its rows."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from raydata_ext.engine.shard_pass import ShardPass
from raydata_ext.engine.uniform_rows import ColumnsGrewError
from raydata_ext.errors import PlanError, QuarantineError, SchemaError, StepError
from raydata_ext.sources import Piece, Sighting

if TYPE_CHECKING:
    from raydata_ext.engine.watch import Watch
    from raydata_ext.engine.worker import Program, Worker
    from raydata_ext.plan import ShardState
    from raydata_ext.store import Receipt


@dataclass(frozen=True)
class ShardOutcome:
    """What a worker reports of a shard.

    Attributes:
        receipt: of the last result that was asked for.
        identity: of the content of the input.
        cached: whether the result was there already, once the content of the input was known.
        sightings: contents that were hashed on the way.
        started: when the work began (seconds since the epoch).
        seconds: time it took.
        worker: who did it, as `host:pid`.
    """

    receipt: Receipt
    identity: str
    cached: bool
    sightings: tuple[Sighting, ...]
    started: float
    seconds: float
    worker: str


@dataclass(frozen=True, eq=False)
class ShardTask:
    """One missing shard of a resolved plan.

    Attributes:
        state: the shard.
        watch: how to look on; None where no worker has died of it.
    """

    state: ShardState
    watch: Watch | None = None

    @property
    def label(self) -> str:
        """The shard as messages name it."""
        return self.state.shard.label

    @property
    def home(self) -> str:
        """The host that is likely to have a copy of what is read; empty where any host is as good."""
        return self.state.shard.home if self.state.prefix is None else self.state.prefix[1].host

    @property
    def num_bytes(self) -> int:
        """Bytes of input."""
        return self.state.shard.num_bytes

    def run(self, worker: Worker) -> ShardOutcome:
        """Compute the shard, unless its content turns out to be known under another name."""
        began, started = time.time(), time.perf_counter()
        sightings: list[Sighting] = []
        state = self._identified(worker, sightings)
        found = state.reached(worker.program.stop)
        receipt = found or self._computed(state, worker, started)
        seconds = time.perf_counter() - started
        assert state.identity is not None
        return ShardOutcome(receipt, state.identity, found is not None, tuple(sightings), began, seconds, worker.name)

    def _computed(self, state: ShardState, worker: Worker, started: float) -> Receipt:
        """The result of a pass over the rows; of a second one where the first did not know all of their columns."""
        first = ShardPass(state, worker, started, self.watch)
        try:
            return first.write()
        except (ColumnsGrewError, StepError, PlanError, SchemaError, QuarantineError):
            columns = first.columns_beyond()
            if columns is None:
                raise
        return ShardPass(state, worker, started, self.watch, columns).write()

    def recover(self, program: Program) -> ShardOutcome | None:
        """The result, if it is in the store by now."""
        state = self.state.looked_up(program.chain, program.store, quarantine=program.errors.quarantines)
        receipt = state.reached(program.stop)
        if receipt is None or state.identity is None:
            return None
        started = receipt.created - receipt.seconds
        return ShardOutcome(receipt, state.identity, False, (), started, receipt.seconds, receipt.worker)

    def watched(self, watch: Watch) -> ShardTask:
        """The same shard, watched."""
        return replace(self, watch=watch)

    def _identified(self, worker: Worker, sightings: list[Sighting]) -> ShardState:
        """The state with keys, and with what the store holds for them now.

        The store is asked again also where the keys were known: an earlier attempt may have died after it had finished,
        and another job may have made the same result meanwhile.
        """
        state = self.state
        chain, store, errors = worker.program.chain, worker.program.store, worker.program.errors

        def look(piece: Piece) -> str:
            before = time.time_ns()
            sighting = Sighting(piece, state.shard.hash_piece(piece), before)
            sightings.append(sighting)
            return sighting.content

        if state.identity is None:
            identity = state.shard.identity(look)
            assert identity is not None
            state = state.identified(chain, identity)
        return state.looked_up(chain, store, quarantine=errors.quarantines)
