"""Computing one shard: read it, let its rows pass all steps batch by batch, write one file, leave a receipt."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field

import pyarrow as pa

from raydata_ext.engine.chunk import Chunk, rebatched
from raydata_ext.engine.operators import make_operator
from raydata_ext.engine.step_operator import ANY_SIZE, Operator
from raydata_ext.engine.trail import Trail
from raydata_ext.engine.worker import Worker
from raydata_ext.plan import ShardState, TableShard
from raydata_ext.sources import Piece, Sighting
from raydata_ext.store import Receipt
from raydata_ext.table.evolving_writer import EvolvingShardWriter
from raydata_ext.table.ipc_writer import FileSummary
from raydata_ext.table.metadata import with_huggingface_metadata


@dataclass(frozen=True)
class ShardOutcome:
    """What a worker reports of a shard.

    Attributes:
        receipt: of the last result.
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
    """One missing shard of a resolved plan."""

    state: ShardState

    @property
    def label(self) -> str:
        return self.state.shard.label

    @property
    def num_bytes(self) -> int:
        return self.state.shard.num_bytes

    def run(self, worker: Worker) -> ShardOutcome:
        """Compute the shard, unless its content turns out to be known under another name."""
        began, started = time.time(), time.perf_counter()
        sightings: list[Sighting] = []
        state = self._identified(worker, sightings)
        receipt = state.result
        if receipt is None:
            receipt = _Run(state, worker, started).write()
        seconds = time.perf_counter() - started
        assert state.identity is not None
        return ShardOutcome(receipt, state.identity, state.result is not None, tuple(sightings), began, seconds, worker.name)

    def _identified(self, worker: Worker, sightings: list[Sighting]) -> ShardState:
        """The state with keys, and with what the store holds for them now.

        The store is asked again also where the keys were known: an earlier attempt may have died after it had finished, and
        another job may have made the same result meanwhile.
        """
        state = self.state
        chain, store = worker.program.chain, worker.program.store

        def look(piece: Piece) -> str:
            before = time.time_ns()
            sighting = Sighting(piece, state.shard.hash_piece(piece), before)
            sightings.append(sighting)
            return sighting.content

        if state.identity is None:
            identity = state.shard.identity(look)
            assert identity is not None
            state = state.identified(chain, identity)
        return state.looked_up(chain, store)


@dataclass
class StepCount:
    """Rows and time of one step of one shard.

    Attributes:
        operator: the step at work.
        rows_in: rows given to it.
        rows_out: rows that came out.
        seconds: time in the step itself, not in those before it.
    """

    operator: Operator
    rows_in: int = 0
    rows_out: int = 0
    seconds: float = 0.0

    def follow(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        """Do the step on each chunk."""
        for chunk in chunks:
            started = time.perf_counter()
            result = self.operator(chunk)
            self.seconds += time.perf_counter() - started
            self.rows_in += chunk.num_rows
            self.rows_out += result.num_rows
            yield result

    def summary(self) -> dict[str, object]:
        """The count as receipts hold it."""
        filtered = dict(self.operator.dropped)
        seconds = round(self.seconds, 6)
        return {
            "step": self.operator.label,
            "rows_in": self.rows_in,
            "rows_out": self.rows_out,
            "filtered": filtered,
            "seconds": seconds,
        }


@dataclass
class _Run:
    """One pass of a shard through its steps, from the latest result that is kept to the last."""

    state: ShardState
    worker: Worker
    started: float
    trail: Trail = field(default_factory=Trail)
    counts: list[StepCount] = field(default_factory=list)

    def write(self) -> Receipt:
        """Run all steps; keep a result wherever the chain says so."""
        chain, store = self.worker.program.chain, self.worker.program.store
        assert self.state.keys is not None
        prefix, done = self.state.prefix, self.state.prefix[0] if self.state.prefix else 0
        shard = self.state.shard if prefix is None else TableShard.of_receipt(store, prefix[1])
        chunks: Iterable[Chunk] = self.trail.follow(shard.read())
        with ExitStack() as stack:
            files: list[_KeptFile] = []
            for count, key in zip(chain.kept, self.state.keys, strict=True):
                if prefix is not None and count <= prefix[0]:
                    continue
                chunks = self._through(chunks, range(done, count))
                done = count
                files.append(_KeptFile(store.writing_path(key), key, len(self.counts)))
                stack.push(files[-1])
                chunks = files[-1].follow(chunks)
            for _ in chunks:
                pass  # the files take what passes
            receipts = [store.publish(self._receipt(file)) for file in files]
        return receipts[-1]

    def _through(self, chunks: Iterable[Chunk], numbers: range) -> Iterable[Chunk]:
        for number in numbers:
            step = self.worker.program.chain.steps[number]
            operator = make_operator(step, number, self.worker.callable, self.trail, self.state.position)
            if operator.batch_rows != ANY_SIZE:
                chunks = rebatched(chunks, operator.batch_rows, drop_last=operator.drop_last)
            count = StepCount(operator)
            self.counts.append(count)
            chunks = count.follow(chunks)
        return chunks

    def _receipt(self, file: _KeptFile) -> Receipt:
        """What came of the shard up to a kept result, the part that was kept before included."""
        before = self.state.prefix[1] if self.state.prefix else None
        counts = self.counts[: file.num_steps]
        filtered = Counter(before.filtered if before else {})
        for count in counts:
            filtered.update(count.operator.dropped)
        summary = file.finish()
        return Receipt(
            key=file.key,
            rows=summary.rows,
            num_bytes=summary.num_bytes,
            checksum=summary.checksum,
            schema=summary.schema,
            rows_in=before.rows_in if before else self.trail.rows_read,
            filtered=dict(filtered),
            inputs=tuple({"path": piece.label} for piece in self.state.shard.pieces),
            steps=(*(before.steps if before else ()), *(count.summary() for count in counts)),
            seconds=round(time.perf_counter() - self.started, 6),
            worker=self.worker.name,
        )


class _KeptFile:
    """The file of one kept result, written from the chunks that pass.

    Attributes:
        key: of the result.
        num_steps: how many steps of this pass come before it.
    """

    def __init__(self, path: str, key: str, num_steps: int) -> None:
        self.key = key
        self.num_steps = num_steps
        self._writer = EvolvingShardWriter(
            path, metadata=lambda schema: with_huggingface_metadata(schema, fingerprint=key)
        )
        self._empty = pa.schema([])

    def follow(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        for chunk in chunks:
            if chunk.num_rows:
                self._writer.write(chunk.batch)
            else:
                self._empty = chunk.batch.schema
            yield chunk

    def finish(self) -> FileSummary:
        return self._writer.finish(schema_if_empty=self._empty)

    def __enter__(self) -> _KeptFile:
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        if kind is not None:
            self._writer.discard()
