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

from raydata_ext.errors import ReadError
from raydata_ext.sources.json_block import JsonBlockParser
from raydata_ext.sources.json_faults import JsonFault
from raydata_ext.sources.reader import Reader
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
    def read(self, piece: Piece) -> Iterator[pa.RecordBatch]:
        samples: list[_Sample] = []
        size, empty = 0, True
        for sample in self._samples(piece):
            samples.append(sample)
            size += sample.num_bytes
            if len(samples) >= BATCH_ROWS or size >= BATCH_BYTES:
                yield self._batch(samples)
                samples, size, empty = [], 0, False
        if samples or empty:
            yield self._batch(samples)

    def _samples(self, piece: Piece) -> Iterator[_Sample]:
        sample: _Sample | None = None
        for member in tar_members(piece.file):
            match = _NAME.fullmatch(member.name)
            if match is None:
                raise ReadError(f"{member.place}: a name needs a dot and something on either side of it")
            key, column = match[1], match[2].lower()
            if sample is None or sample.key != key:
                if sample is not None:
                    yield sample
                sample = _Sample(key, member.place)
            if column in sample.values:
                raise ReadError(f"{member.place}: the sample {key!r} has a file of this name already")
            if self.columns is None or column in self.columns:
                data = member.read()
                sample.num_bytes += len(data)
                sample.values[column] = self._decoded(member, column, data)
        if sample is not None:
            yield sample

    def _kind(self, column: str) -> frozenset[str] | None:
        extension = column.rpartition(".")[2]
        return next((kind for kind in (_TEXT, _INTEGER, _JSON) if extension in kind), None) if self.decode else None

    def _decoded(self, member: TarMember, column: str, data: bytes) -> Any:
        kind = self._kind(column)
        try:
            if kind is _INTEGER:
                return int(data)
            if kind is _JSON:
                return json.dumps({"": json.loads(data)}).encode()
            return data.decode() if kind is _TEXT else data
        except ValueError as error:
            wanted = {_TEXT: "UTF-8", _INTEGER: "an integer", _JSON: "JSON"}[kind or _TEXT]
            raise ReadError(f"{member.place}: not {wanted} ({error}); set decode=False for bytes as they are") from error

    def _batch(self, samples: list[_Sample]) -> pa.RecordBatch:
        names = self.columns or (KEY_COLUMN, *dict.fromkeys(name for sample in samples for name in sample.values))
        return pa.RecordBatch.from_arrays([self._column(name, samples) for name in names], list(names))

    def _column(self, name: str, samples: list[_Sample]) -> pa.Array:
        if name == KEY_COLUMN:
            return pa.array([sample.key for sample in samples], pa.string())
        values, kind = [sample.values.get(name) for sample in samples], self._kind(name)
        if kind is _JSON and samples:
            return _parsed(name, samples, values)
        types = {_TEXT: pa.string(), _INTEGER: pa.int64(), None: pa.binary()}
        has_values = any(value is not None for value in values)
        return pa.array(values, types[kind]) if has_values and kind is not _JSON else pa.nulls(len(values))


@dataclass(slots=True)
class _Sample:
    """What belongs to one key; JSON as a line with one key, for Arrow to parse."""

    key: str
    place: str
    values: dict[str, Any] = field(default_factory=dict)
    num_bytes: int = 0


def _parsed(name: str, samples: list[_Sample], lines: list[bytes | None]) -> pa.Array:
    block = b"\n".join(line or b'{"": null}' for line in lines)
    try:
        return JsonBlockParser().parse(block).column(0)
    except JsonFault as fault:
        sample = samples[block.count(b"\n", 0, fault.start)]
        raise ReadError(f"{sample.place}: {name!r} of the sample {sample.key!r}: {fault.reason}") from fault
