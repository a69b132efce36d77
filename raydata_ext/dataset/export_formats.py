"""The formats that data sets are exported in, beside Arrow: Parquet, JSON lines, CSV."""

from __future__ import annotations

import datetime as dt
import decimal
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from raydata_ext.errors import SchemaError
from raydata_ext.formatting import array_to_list

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

COMPRESSIONS: Mapping[str, str] = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}
"""Name of a compression by the suffix that stands for it."""

_JSON_ROWS = 1000
_JSON_BYTES = 16 << 20
_LINE = orjson.OPT_APPEND_NEWLINE


@dataclass(frozen=True)
class ParquetFormat:
    """Parquet, with statistics, in row groups of about equal size.

    Attributes:
        row_group_bytes: size of a row group in memory, above which the next one begins.
        options: those of `pyarrow.parquet.ParquetWriter`.
    """

    row_group_bytes: int
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Here, and not when a worker writes, it says what is wrong with them.
        pq.ParquetWriter(pa.BufferOutputStream(), pa.schema([]), **self.options).close()

    def write(self, path: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> None:
        """Write a file; see `FileFormat.write`.

        Raises:
            SchemaError: there are rows without columns, which the file would not count.
        """
        with pq.ParquetWriter(
            path, schema, **{"compression": "zstd", "write_statistics": True, **self.options}
        ) as writer:
            for group in self._groups(_with_columns(batches)):
                table = pa.Table.from_batches(group, schema)
                writer.write_table(table, row_group_size=max(1, table.num_rows))

    def _groups(self, batches: Iterable[pa.RecordBatch]) -> Iterator[list[pa.RecordBatch]]:
        group: list[pa.RecordBatch] = []
        room = float(self.row_group_bytes)
        for batch in batches:
            row_bytes = max(1, batch.nbytes / batch.num_rows)
            start = 0
            while start < batch.num_rows:
                rows = max(1, min(batch.num_rows - start, int(room / row_bytes)))
                group.append(batch.slice(start, rows))
                start += rows
                room -= rows * row_bytes
                if room < row_bytes:
                    yield group
                    group, room = [], float(self.row_group_bytes)
        if group:
            yield group


@dataclass(frozen=True)
class JsonLinesFormat:
    """A JSON object a line.

    Dates and times are ISO 8601, durations seconds, decimals text; NaN and infinities, which JSON lacks, are null.

    Attributes:
        compression: see `COMPRESSIONS`; None is none.
    """

    compression: str | None

    def write(self, path: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> None:
        """Write a file; see `FileFormat.write`.

        Raises:
            TypeError: values of a column have no form in JSON, such as bytes.
        """
        names = schema.names
        with pa.output_stream(str(path), compression=self.compression) as sink:
            for batch in batches:
                size = max(1, min(_JSON_ROWS, _JSON_BYTES * batch.num_rows // max(1, batch.nbytes)))
                for start in range(0, batch.num_rows, size):
                    piece = batch.slice(start, size)
                    columns = [array_to_list(column) for column in piece.columns]
                    rows = zip(*columns, strict=True) if columns else ((),) * piece.num_rows
                    lines = [orjson.dumps(dict(zip(names, row, strict=True)), _plain, _LINE) for row in rows]
                    sink.write(b"".join(lines))


@dataclass(frozen=True)
class CsvFormat:
    """CSV with a header line. Columns of lists or structs have no form in it.

    Attributes:
        compression: see `COMPRESSIONS`; None is none.
        options: those of `pyarrow.csv.WriteOptions`.
    """

    compression: str | None
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        pyarrow.csv.WriteOptions(**self.options)  # here, and not when a worker writes, it says what is wrong with them

    def write(self, path: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> None:
        """Write a file; see `FileFormat.write`.

        Raises:
            pyarrow.ArrowInvalid: a column has no form in CSV.
            SchemaError: there are rows without columns.
        """
        options = pyarrow.csv.WriteOptions(**self.options)
        with (
            pa.output_stream(str(path), compression=self.compression) as sink,
            pyarrow.csv.CSVWriter(sink, schema, write_options=options) as writer,
        ):
            for batch in _with_columns(batches):
                writer.write_batch(batch)


def _with_columns(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        if not batch.num_columns:
            raise SchemaError("rows without columns have no form in this format; write JSON lines, or add a column")
        yield batch


def _plain(value: object) -> object:
    """What orjson does not know, as what it does."""
    if isinstance(value, decimal.Decimal):
        return str(value)
    if isinstance(value, dt.timedelta):
        return value.total_seconds()
    if isinstance(value, dt.datetime):  # that of pandas, which times in nanoseconds become
        return value.isoformat()
    raise TypeError  # orjson says of what
