"""Decompressing the next part of a big compressed file, for whoever computes its shard.

A file is decompressed by a chain of these tasks, one a part, all by the worker that holds the stream open. Each ends
with its part in the store and with what is needed to go on; a worker that has to go on in another's place decompresses
what comes before once more. So a part is known, and its shard can be computed, as soon as it is complete.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from raydata_ext.engine.file_task import RepeatableTask
from raydata_ext.errors import DamagedInputError
from raydata_ext.fingerprint import combine
from raydata_ext.plan import FilePart, ShardState, parts_key, read_parts
from raydata_ext.sources import CompressedFile, Sighting
from raydata_ext.sources.compression import EXPANSION
from raydata_ext.sources.decoded_lines import LINES_SCHEMA, batch_of_lines
from raydata_ext.sources.line_blocks import new_lines_hash
from raydata_ext.sources.part_decoder import PartDecoder
from raydata_ext.store import Receipt
from raydata_ext.table.ipc_writer import ShardWriter

if TYPE_CHECKING:
    from raydata_ext.engine.worker import Worker
    from raydata_ext.sources import InputFile
    from raydata_ext.store import Store
    from raydata_ext.table.ipc_writer import FileSummary


@dataclass(frozen=True)
class Decoded:
    """What a worker reports of a file.

    Attributes:
        content: hash of the file.
        status: what comes after this part: `"more"`, or the `"end"` of the file, or nothing because the file is
            `"damaged"`, and the part stands for all that is left of it. Or `"known"`: nothing was decompressed, for the
            store knows the parts.
        parts: the part that was decompressed, or all that are known.
        sightings: contents that were hashed on the way.
        worker: who holds the stream open, as `host:pid`.
        started: when the work began (seconds since the epoch).
        seconds: time it took.
    """

    content: str
    status: Literal["more", "end", "damaged", "known"]
    parts: tuple[FilePart, ...]
    sightings: tuple[Sighting, ...]
    worker: str
    started: float = 0.0
    seconds: float = 0.0


@dataclass(frozen=True, eq=False)
class DecodeTask(RepeatableTask[Decoded]):
    """One part of a file; what is missing after a death is the stream.

    Attributes:
        state: of the file as a whole.
        content: hash of the file; None where it has to be read for it first.
        start: where the part begins, in decompressed bytes.
        later: where further parts begin that are wanted; None is all of them.
        holder: the worker that holds the stream open there.
    """

    state: ShardState
    content: str | None
    start: int = 0
    later: tuple[int, ...] | None = None
    holder: str | None = None

    @property
    def file(self) -> CompressedFile:
        """The file."""
        assert isinstance(self.state.shard, CompressedFile)
        return self.state.shard

    @property
    def label(self) -> str:
        """The part as messages name it."""
        return self.file.part(self.start, None, 0).label

    @property
    def num_bytes(self) -> int:
        """Bytes of the file."""
        return self.file.num_bytes

    @property
    def home(self) -> str:
        """That of the file."""
        return self.file.home

    @property
    def expected_parts(self) -> int:
        """How many parts are to come, as far as that can be told."""
        if self.later is not None:
            return 1 + len(self.later)
        return 1 + max(0, self.file.num_bytes * EXPANSION - self.start) // self.file.part_bytes

    def next(self, decoded: Decoded) -> list[DecodeTask]:
        """What is to be decompressed after this part, if there is something."""
        begun = replace(self, content=decoded.content, holder=decoded.worker)
        if self.later:
            return [replace(begun, start=self.later[0], later=self.later[1:])]
        end = decoded.parts[0].end
        if self.later is not None or decoded.status != "more" or end is None:
            return []
        return [replace(begun, start=end)]

    def run(self, worker: Worker) -> Decoded:
        """Decompress the part into the store, unless its result is there already.

        Raises:
            ReadError: the file cannot be read, or is no longer what it was. Damage within is an error of the part that
                it is in, raised where the rows of that part are read.
        """
        began, started = time.time(), time.perf_counter()
        decoded = self._decoded(worker)
        return replace(decoded, started=began, seconds=time.perf_counter() - started)

    def _decoded(self, worker: Worker) -> Decoded:
        """What `run` returns, without the time it took."""
        content = self.content
        sightings: tuple[Sighting, ...] = ()
        if content is None:
            before = time.time_ns()
            content = self.file.hash_piece(self.file.pieces[0])
            sightings = (Sighting(self.file.pieces[0], content, before),)
            known = worker.program.store.get(parts_key(self.file, content))
            if known is not None:
                parts = read_parts(worker.program.store, known)
                return Decoded(content, "known", parts, sightings, worker.name)
        decoder = _decoder(worker, self.file.file, self.file.part_bytes, self.start)
        left = self.num_bytes - decoder.file_position
        try:
            part, is_last = self._part(worker, decoder), decoder.is_at_end()
        except DamagedInputError:
            worker.close_decoder()
            if self.later is not None:  # there was no damage when it was decompressed before
                raise
            rest = FilePart(self.start, None, combine("damaged", content, self.start), left)
            return Decoded(content, "damaged", (rest,), sightings, worker.name)
        if is_last:
            worker.close_decoder()
            self.file.file.open().close()  # raises where the file was changed while it was read
            part = replace(part, num_bytes=left)
        return Decoded(content, "end" if is_last else "more", (part,), sightings, worker.name)

    def _part(self, worker: Worker, decoder: PartDecoder) -> FilePart:
        """Decompress the next part, and publish its lines where they are needed."""
        program, store = worker.program, worker.program.store
        taken_in = decoder.file_position
        digest = new_lines_hash(self.start)
        path = store.writing_path(combine("lines in the making", self.label))
        with ShardWriter(path, LINES_SCHEMA, batch_rows=1) as writer:
            for _, block in decoder.blocks():
                digest.update(block)
                writer.write(batch_of_lines(block))
            part = FilePart(self.start, decoder.position, digest.hexdigest(), decoder.file_position - taken_in)
            state = self.state.of_part(program.chain, part)
            state = state.looked_up(program.chain, store, quarantine=program.errors.quarantines)
            if state.result is None and state.prefix is None:
                _publish_lines(store, state, path, writer.finish())
            else:
                writer.discard()
        return part


def lines_key(state: ShardState) -> str:
    """Where the decompressed lines of a part are kept until its shard is computed."""
    assert state.identity is not None
    return combine("lines", state.identity)


def _publish_lines(store: Store, state: ShardState, path: str, summary: FileSummary) -> None:
    """Hand the decompressed lines of a part over, which were written before their key was known."""
    key = lines_key(state)
    Path(path).replace(store.writing_path(key))
    inputs = ({"path": state.shard.label},)
    store.publish(Receipt(key, summary.rows, summary.num_bytes, summary.checksum, LINES_SCHEMA, inputs=inputs))


def _decoder(worker: Worker, file: InputFile, part_bytes: int, start: int) -> PartDecoder:
    """The stream that the worker holds open, or a new one, at the begin of the part."""
    held = worker.decoder
    if held is None or (held.file, held.part_bytes) != (file, part_bytes) or held.position > start:
        worker.close_decoder()
        held = worker.decoder = PartDecoder(file, part_bytes)
    held.skip_to(start)
    return held
