"""One pass of a shard through its steps, batch by batch, into the files of the results that are kept."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from raydata_ext.engine.kept_file import KeptFile
from raydata_ext.engine.operators import make_operator
from raydata_ext.engine.quarantine import Quarantine, QuarantineFile, numbers_left
from raydata_ext.engine.trail import Trail
from raydata_ext.engine.uniform_rows import UniformRows, columns_of, see_columns
from raydata_ext.engine.watch import Mark, Marker, StepWatch
from raydata_ext.errors import RaydataError
from raydata_ext.plan import StoredShard
from raydata_ext.store import Receipt
from raydata_ext.table.metadata import with_huggingface_metadata

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa

    from raydata_ext.engine.chunk import Chunk, Origins
    from raydata_ext.engine.step_operator import Operator
    from raydata_ext.engine.uniform_rows import Columns
    from raydata_ext.engine.watch import Watch
    from raydata_ext.engine.worker import Worker
    from raydata_ext.plan import ShardState


@dataclass
class ShardPass:
    """One pass, from the latest result that is kept to the last one that is asked for.

    Attributes:
        state: the shard, with its keys.
        worker: who does it.
        started: when the work on the shard began, on the clock of `time.perf_counter`.
        watch: how to look on; None where no worker has died of the shard.
        columns: of all rows, from an earlier pass that did not know them; None takes those of the first on trust.
    """

    state: ShardState
    worker: Worker
    started: float
    watch: Watch | None
    columns: Columns | None = None
    trail: Trail = field(default_factory=Trail)
    operators: list[Operator] = field(default_factory=list)
    files: list[KeptFile] = field(default_factory=list)
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
        numbers = self._numbers()
        done = self.state.prefix[0] if self.state.prefix else -1
        stop = len(program.chain.steps) if program.stop is None else program.stop
        chunks: Iterable[Chunk] = self.trail.follow(self._source(quarantine), numbers)
        for count, key in zip(program.chain.kept, self.state.keys, strict=True):
            if not done < count <= stop:
                continue
            for number in range(max(done, 0), count):
                chunks = self._operator(number, quarantine, marker).follow(chunks)
            done = count
            set_aside = stack.enter_context(QuarantineFile(store, key, len(self.operators)))
            file = KeptFile(store.writing_path(key), key, self.trail, set_aside)
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
        label = self.state.shard.label if self._keeps_numbers else f"{self.state.shard.label} after step {done}"
        return ((label, batch) for _, batch in StoredShard(self.worker.program.store, receipt).read())

    def _numbers(self) -> Origins | None:
        """The numbers of the rows to start from, where rows before were set aside and it is known which.

        A result of which it is not known is no start for steps that ask for numbers.
        """
        if self.state.prefix is None or not self.state.prefix[1].quarantined:
            return None
        done, receipt = self.state.prefix
        program = self.worker.program
        numbers = numbers_left(program.store, receipt, self.state.shard.label) if self._keeps_numbers else None
        if numbers is None and any(step.needs_positions for step in program.chain.steps[done:]):
            self.state = replace(self.state, prefix=None)
        return numbers

    @property
    def _keeps_numbers(self) -> bool:
        """Whether each row to start from was made of one row of a shard that was counted."""
        done = self.state.prefix[0] if self.state.prefix else 0
        steps = self.worker.program.chain.steps[:done]
        return self.state.shard.num_rows is not None and all(step.keeps_row_count for step in steps)

    def _operator(self, number: int, quarantine: Quarantine | None, marker: Marker | None) -> Operator:
        if marker is not None:
            marker.set(Mark(number))
        operator = make_operator(number, self.worker, self.trail, self.state.position)
        if marker is not None:
            marker.clear()
        if quarantine is not None:
            operator.quarantine = partial(quarantine.add, len(self.operators), operator.label)
        if self.watch is not None and marker is not None:
            operator.watch = StepWatch(self.watch, marker, number, self.trail)
        self.operators.append(operator)
        return operator

    def _publish(self, file: KeptFile) -> Receipt:
        """Make a file a result; the records of rows that were set aside come first."""
        receipt = self._receipt(file)
        require_balance(receipt)
        file.set_aside.publish(self.worker.name)
        return self.worker.program.store.publish(receipt)

    def _receipt(self, file: KeptFile) -> Receipt:
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


def _summary(operator: Operator) -> dict[str, object]:
    """What a step did to a shard, as receipts hold it."""
    return {
        "step": operator.label,
        "rows_in": operator.rows_in,
        "rows_out": operator.rows_out,
        "filtered": dict(operator.dropped),
        "counts": dict(operator.counts),
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
