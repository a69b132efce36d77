"""WebDataset tar files: neighbours that share a name up to the first dot are one sample, each a column of it.

Source: https://github.com/webdataset/webdataset
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa
from typing_extensions import override

from raydata_ext.errors import DamagedInputError
from raydata_ext.sources.json_block import JsonBlockParser
from raydata_ext.sources.json_faults import JsonFault
from raydata_ext.sources.reader import BadRow, OnBadRow, Reader
from raydata_ext.sources.row_batches import BATCH_BYTES, BATCH_ROWS
from raydata_ext.sources.tar_members import TarMember, tar_members

if TYPE_CHECKING:
    from collections.abc import Iterator

    from raydata_ext.sources.input_file import Piece

KEY_COLUMN = "__key__"

_NAME = re.compile(r"((?:.*/|)[^./][^./]*)\.([^/]+)", re.DOTALL)
_TEXT = frozenset({"txt", "text", "transcript"})
_INTEGER = frozenset({"cls", "cls2", "index", "inx", "id", "count"})
_JSON = frozenset({"json", "jsn"})


class WebDatasetReader(Reader):
    """Reads tar files of samples, in one pass.

    A row has the column `__key__` (string), the name up to the first dot, and one for what follows the dot in each of
    the sample's files, in lower case; a file that a sample lacks is null.

    Attributes:
        decode: whether `txt`, `text` and `transcript` become strings, `cls`, `cls2`, `index`, `inx`, `id` and `count`
            int64, `json` and `jsn` what they hold, with the types of JSON lines. All else is binary.
    """

    format: ClassVar[str] = "webdataset"
    suffixes: ClassVar[tuple[str, ...]] = (".tar", ".tgz")

    decode: bool = True

    @override
    def read(self, piece: Piece, on_bad_row: OnBadRow | None = None) -> Iterator[pa.RecordBatch]:
        samples: list[_Sample] = []
        num_bytes, empty = 0, True
        for number, sample in enumerate(self._samples(piece)):
            sample.number = number
            samples.append(sample)
            num_bytes += sample.num_bytes
            if len(samples) >= BATCH_ROWS or num_bytes >= BATCH_BYTES:
                yield self._batch(samples, on_bad_row)
                samples, num_bytes, empty = [], 0, False
        if samples or empty:
            yield self._batch(samples, on_bad_row)

    def _samples(self, piece: Piece) -> Iterator[_Sample]:
        sample: _Sample | None = None
        for member in tar_members(piece.file):
            match = _NAME.fullmatch(member.name)
            key, column = (match[1], match[2].lower()) if match else (member.name, "")
            if sample is None or sample.key != key:
                if sample is not None:
                    yield sample
                sample = _Sample(key, member.byte_offset)
            if not match:
                sample.add_fault(member, "a name needs a dot, and something on either side of it")
            elif column in sample.members:
                sample.add_fault(member, f"the sample {key!r} has a file of this name already")
            elif self.columns is None or column in self.columns:
                self._add(sample, member, column)
        if sample is not None:
            yield sample

    def _add(self, sample: _Sample, member: TarMember, column: str) -> None:
        data = member.read()
        kind = self._kind(column)
        sample.num_bytes += len(data)
        sample.members[column] = member
        try:
            sample.values[column] = _decoded(kind, data)
        except ValueError as error:
            wanted = {_TEXT: "UTF-8", _INTEGER: "an integer", _JSON: "JSON"}[kind or _TEXT]
            sample.add_fault(member, f"not {wanted} ({error}); set decode=False for bytes as they are")

    def _kind(self, column: str) -> frozenset[str] | None:
        """Which of the sets of extensions tells how a column is decoded; None is not at all."""
        extension = column.rpartition(".")[2]
        return next((kind for kind in (_TEXT, _INTEGER, _JSON) if extension in kind), None) if self.decode else None

    def _batch(self, samples: list[_Sample], on_bad_row: OnBadRow | None) -> pa.RecordBatch:
        """The samples without those that are at fault, be it beside the others."""
        good = samples
        while True:
            for sample in good:
                if sample.fault and on_bad_row is None:
                    raise DamagedInputError(sample.fault, sample.byte_offset)
                if sample.fault and on_bad_row is not None:
                    on_bad_row(BadRow(sample.number, sample.byte_offset, sample.fault, sample.key))
            good = [sample for sample in good if not sample.fault]
            found = (KEY_COLUMN, *dict.fromkeys(name for sample in good for name in sample.values))
            columns = {name: self._column(name, good) for name in self.columns or found}
            if not any(sample.fault for sample in good):
                return pa.RecordBatch.from_pydict(columns)

    def _column(self, name: str, samples: list[_Sample]) -> pa.Array:
        if name == KEY_COLUMN:
            return pa.array([sample.key for sample in samples], pa.string())
        if not any(name in sample.values for sample in samples):
            return pa.nulls(len(samples))
        kind = self._kind(name)
        if kind is _JSON:
            return _parsed(name, samples)
        types = {_TEXT: pa.string(), _INTEGER: pa.int64(), None: pa.binary()}
        return pa.array([sample.values.get(name) for sample in samples], types[kind])


@dataclass(slots=True)
class _Sample:
    """What belongs to one key.

    Attributes:
        key: name up to the first dot.
        byte_offset: where its first file begins in the tar file.
        values: what is in its files, by column; JSON is a line with the one key `""`, for Arrow to parse.
        members: its files, by column.
        num_bytes: size of all its files that were read.
        number: counted from 0.
        fault: why it can be no row; empty where it can.
    """

    key: str
    byte_offset: int
    values: dict[str, Any] = field(default_factory=dict)
    members: dict[str, TarMember] = field(default_factory=dict)
    num_bytes: int = 0
    number: int = 0
    fault: str = ""

    def add_fault(self, member: TarMember, reason: str) -> None:
        """Note what is wrong; the first fault counts."""
        self.fault = self.fault or f"{member.place}: {reason}"


def _decoded(kind: frozenset[str] | None, data: bytes) -> Any:
    if kind is _INTEGER:
        return int(data)
    if kind is _JSON:
        return json.dumps({"": json.loads(data)}).encode()
    return data.decode() if kind is _TEXT else data


def _parsed(name: str, samples: list[_Sample]) -> pa.Array:
    """A JSON column; a sample whose value does not go with those before it gets a fault."""
    block = b"\n".join(sample.values.get(name, b'{"": null}') for sample in samples)
    try:
        return JsonBlockParser().parse(block).column(0)
    except JsonFault as fault:
        sample = samples[block.count(b"\n", 0, fault.start)]
        sample.add_fault(sample.members[name], fault.reason)
        return pa.nulls(len(samples))
