"""Computing one shard: read it, let its rows pass all steps batch by batch, write one file, leave a receipt."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from raydata_ext.engine.operators import make_operator
from raydata_ext.engine.quarantine import Quarantine, QuarantineFile
from raydata_ext.engine.trail import Trail
from raydata_ext.engine.uniform_rows import ColumnsGrewError, UniformRows, columns_of, see_columns
from raydata_ext.engine.watch import Marker, StepWatch, Watch
from raydata_ext.errors import PlanError, QuarantineError, RaydataError, SchemaError, StepError
from raydata_ext.plan import ShardState, StoredShard
from raydata_ext.sources import Piece, Sighting
from raydata_ext.store import Receipt
from raydata_ext.table.evolving_writer import EvolvingShardWriter
from raydata_ext.table.metadata import with_huggingface_metadata

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from typing_extensions import Self

    from raydata_ext.engine.chunk import Chunk
    from raydata_ext.engine.step_operator import Operator
    from raydata_ext.engine.uniform_rows import Columns
    from raydata_ext.engine.worker import Program, Worker
    from raydata_ext.table.ipc_writer import FileSummary


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
        if self.state.prefix is not None:
            return self.state.prefix[1].worker.rpartition(":")[0]
        return self.state.shard.home if isinstance(self.state.shard, StoredShard) else ""

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
        run = _Run(state, worker, started, self.watch)
        try:
            return run.write()
        except (ColumnsGrewError, StepError, PlanError, SchemaError, QuarantineError):
            columns = run.columns_beyond()
            if columns is None:
                raise
        return _Run(state, worker, started, self.watch, columns).write()

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


@dataclass
class _Run:
    """One pass of a shard through its steps, from the latest result that is kept to the last."""

    state: ShardState
    worker: Worker
    started: float
    watch: Watch | None
    columns: Columns | None = None
    trail: Trail = field(default_factory=Trail)
    operators: list[Operator] = field(default_factory=list)
    files: list[_KeptFile] = field(default_factory=list)
    uniform: UniformRows | None = None

    def columns_beyond(self) -> Columns | None:
        """The columns of all rows, after a pass that failed; None where these are the ones that steps saw."""
        if self.uniform is None or self.columns is not None:
            return None
        columns = columns_of(
            self.state.shard.read((lambda *_: None) if self.worker.program.errors.quarantines else None)
        )
        return None if columns == self.uniform.columns else columns

    def write(self) -> Receipt:
        """Run the steps as far as the program says; keep a result wherever the chain says so."""
        errors = self.worker.program.errors
        quarantine = Quarantine(self.trail, errors) if errors.quarantines else None
        self.worker.trail = self.trail
        with ExitStack() as stack:
            marker = None if self.watch is None else stack.enter_context(Marker(self.watch.path))
            for _ in self._rows(stack, quarantine, marker):
                pass  # the files take what passes
            receipts = [self._publish(file) for file in self.files]
        return receipts[-1]

    def _rows(self, stack: ExitStack, quarantine: Quarantine | None, marker: Marker | None) -> Iterable[Chunk]:
        """The rows of the shard, through the steps and into the files of the results that are kept."""
        program, store = self.worker.program, self.worker.program.store
        assert self.state.keys is not None
        done = self.state.prefix[0] if self.state.prefix else -1
        stop = len(program.chain.steps) if program.stop is None else program.stop
        chunks: Iterable[Chunk] = self.trail.follow(self._source(quarantine))
        for count, key in zip(program.chain.kept, self.state.keys, strict=True):
            if not done < count <= stop:
                continue
            for number in range(max(done, 0), count):
                chunks = self._operator(number, quarantine, marker).follow(chunks)
            done = count
            set_aside = stack.enter_context(QuarantineFile(store, key, len(self.operators)))
            file = _KeptFile(store.writing_path(key), key, self.trail, set_aside)
            stack.push(file)
            self.files.append(file)
            chunks = file.follow(chunks)
        if quarantine is not None:
            quarantine.files += [file.set_aside for file in self.files]
            if self.state.prefix:
                quarantine.add_kept(store, self.state.prefix[1])
        return chunks

    def _source(self, quarantine: Quarantine | None) -> Iterator[tuple[str, pa.RecordBatch]]:
        """The rows to start from, with what messages call the place they are from."""
        if self.state.prefix is None:
            rows = self.state.shard.read(None if quarantine is None else quarantine.add_unread)
            if not see_columns(self.worker.program.chain.steps):
                return rows
            self.uniform = UniformRows(rows, self.columns)
            return iter(self.uniform)
        done, receipt = self.state.prefix
        label = f"{self.state.shard.label} after step {done}"
        return ((label, batch) for _, batch in StoredShard(self.worker.program.store, receipt).read())

    def _operator(self, number: int, quarantine: Quarantine | None, marker: Marker | None) -> Operator:
        operator = make_operator(number, self.worker, self.trail, self.state.position)
        if quarantine is not None:
            operator.quarantine = partial(quarantine.add, len(self.operators), operator.label)
        if self.watch is not None and marker is not None:
            operator.watch = StepWatch(self.watch, marker, number, self.trail)
        self.operators.append(operator)
        return operator

    def _publish(self, file: _KeptFile) -> Receipt:
        """Make a file a result; the records of rows that were set aside come first."""
        receipt = self._receipt(file)
        require_balance(receipt)
        file.set_aside.publish(self.worker.name)
        return self.worker.program.store.publish(receipt)

    def _receipt(self, file: _KeptFile) -> Receipt:
        """What came of the shard up to a kept result, the part that was kept before included."""
        before = self.state.prefix[1] if self.state.prefix else None
        operators = self.operators[: file.set_aside.num_steps]
        filtered = Counter(before.filtered if before else {})
        for operator in operators:
            filtered.update(operator.dropped)
        summary = file.finish()
        return Receipt(
            key=file.key,
            rows=summary.rows,
            num_bytes=summary.num_bytes,
            checksum=summary.checksum,
            schema=with_huggingface_metadata(summary.schema),  # without the key: thousands of receipts share one schema
            rows_in=before.rows_in if before else self.trail.rows_read,
            filtered=dict(filtered),
            quarantined=file.set_aside.count,
            inputs=tuple({"path": source} for source in self.state.shard.sources),
            steps=(*(before.steps if before else ()), *map(_summary, operators)),
            seconds=round(time.perf_counter() - self.started, 6),
            worker=self.worker.name,
        )


class _KeptFile:
    """The file of one kept result, written from the chunks that pass.

    Args:
        path: where it goes.
        key: of the result.
        trail: where the rows come from.
        set_aside: records of the rows that are missing in it.
    """

    def __init__(self, path: str, key: str, trail: Trail, set_aside: QuarantineFile) -> None:
        self.key = key
        self.set_aside = set_aside
        self._trail = trail
        self._writer = EvolvingShardWriter(
            path, metadata=lambda schema: with_huggingface_metadata(schema, fingerprint=key)
        )
        self._empty = pa.schema([])

    def follow(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        for chunk in chunks:
            if chunk.num_rows:
                self._write(chunk)
            else:
                self._empty = chunk.batch.schema
            yield chunk

    def finish(self) -> FileSummary:
        return self._writer.finish(schema_if_empty=self._empty)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        if kind is not None:
            self._writer.discard()

    def _write(self, chunk: Chunk) -> None:
        try:
            self._writer.write(chunk.batch)
        except SchemaError as error:
            raise SchemaError(
                f"{self._trail.place(chunk.origins)}: what became of these rows does not go with the rows before:"
                f" {error}"
            ) from error


def _summary(operator: Operator) -> dict[str, object]:
    """What a step did to a shard, as receipts hold it."""
    return {
        "step": operator.label,
        "rows_in": operator.rows_in,
        "rows_out": operator.rows_out,
        "filtered": dict(operator.dropped),
        "quarantined": operator.set_aside,
        "rows_added": operator.rows_added,
        "seconds": round(operator.seconds, 6),
    }


def require_balance(receipt: Receipt) -> None:
    """Check that every row is accounted for, before a result is published.

    Raises:
        RaydataError: a row was lost, or came up twice; what follows would be built on that.
    """
    came = receipt.rows_in + sum(step.get("rows_added", 0) for step in receipt.steps)
    went = receipt.rows + sum(receipt.filtered.values()) + receipt.quarantined
    if came != went:
        raise RaydataError(
            f"{receipt.inputs}: {came} rows came and {went} went ({receipt.rows} out, {dict(receipt.filtered)} filtered"
            f", {receipt.quarantined} quarantined); this is a defect of the engine: report it with {receipt.steps}"
        )
