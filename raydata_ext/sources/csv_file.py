"""CSV and TSV files: a row a record, types given or told from all values of the file."""

from __future__ import annotations

import codecs
from collections.abc import Mapping  # noqa: TC003 - pydantic reads the annotation
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa
import pyarrow.csv as pc
from pydantic import field_validator, model_validator

from raydata_ext.errors import DamagedInputError
from raydata_ext.sources.csv_records import CsvFault, Dialect, RecordBlock, record_blocks
from raydata_ext.sources.csv_types import FALSE_VALUES, TRUE_VALUES, ColumnType
from raydata_ext.sources.json_good_lines import raw_text
from raydata_ext.sources.reader import BadRow, OnBadRow, Reader, require_columns
from raydata_ext.sources.utf8 import utf8_error

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from raydata_ext.sources.input_file import Piece


class CsvReader(Reader):
    """Reads files of delimited text, quoted as in RFC 4180.

    A column whose type is not given is bool, int64 or double where all of its values in the file are, else string; so a
    file is read twice, unless all types are given. Dates, integers with leading zeros and those beyond int64 stay
    strings. A file is one piece, for whether a line end ends a record depends on all that is before it.

    Attributes:
        delimiter: what stands between fields, one character.
        quote: what encloses fields, one character; None where quotes have no meaning.
        header: whether the first record holds the names of the columns.
        names: names of the columns where there is no header; None is `f0`, `f1` and so on.
        types: Arrow types by column, as in `{"id": "int64", "day": "date32"}`.
        infer: whether types that are not given are told from the values; else they are string.
        null_values: fields that are null where they are not quoted.
        encoding: any text encoding that Python knows.
    """

    format: ClassVar[str] = "csv"
    suffixes: ClassVar[tuple[str, ...]] = (".csv",)

    delimiter: str = ","
    quote: str | None = '"'
    header: bool = True
    names: tuple[str, ...] | None = None
    types: Mapping[str, str] = {}
    infer: bool = True
    null_values: tuple[str, ...] = ("",)
    encoding: str = "utf-8"

    @field_validator("delimiter", "quote")
    @classmethod
    def _one_character(cls, value: str | None) -> str | None:
        if value is not None and (len(value) != 1 or not value.isascii() or value in "\r\n"):
            raise ValueError(f"{value!r} is not one ASCII character")
        return value

    @field_validator("types")
    @classmethod
    def _known(cls, types: Mapping[str, str]) -> Mapping[str, str]:
        for column, name in types.items():
            try:
                pa.type_for_alias(name)
            except ValueError as error:
                raise ValueError(f"the type of {column!r} is {name!r}, which Arrow does not know") from error
        return types

    @field_validator("encoding")
    @classmethod
    def _known_encoding(cls, name: str) -> str:
        try:
            found = codecs.lookup(name).name
        except LookupError as error:
            raise ValueError(f"{name!r} is no text encoding that Python knows") from error
        return "utf-8" if found == "utf-8-sig" else found

    @model_validator(mode="after")
    def _fitting(self) -> CsvReader:
        if self.delimiter == self.quote:
            raise ValueError(f"delimiter and quote are both {self.quote!r}")
        if self.header and self.names is not None:
            raise ValueError("names are those of a file without header; set header=False, or leave them out")
        return self

    def read(self, piece: Piece, on_bad_row: OnBadRow | None = None) -> Iterator[pa.RecordBatch]:
        """One batch a block of about 4 MB; one of no rows where there is none."""
        try:
            names = self._names(piece)
            if not names:
                return
            parser = self._parser(piece, names, tolerant=on_bad_row is not None)
            rows = 0
            for block in self._rows(piece):
                bad: list[BadRecord] | None = None if on_bad_row is None else []
                batch = parser.parse(block, bad)
                for record, fault in bad or ():
                    assert on_bad_row is not None
                    on_bad_row(BadRow(rows + record, None, fault.message, raw_text(fault.record)))
                yield batch
                rows += len(block)
            if not rows:
                yield parser.no_rows()
        except CsvFault as fault:
            raise DamagedInputError(f"{piece.label}: {fault.message}") from fault

    @property
    def _dialect(self) -> Dialect:
        return Dialect(self.delimiter, self.quote, self.encoding)

    def _names(self, piece: Piece) -> list[str]:
        """Names of all columns of the file; none where it has no records."""
        if self.names is not None:
            return list(self.names)
        block = next((block for block in record_blocks(piece.file, self._dialect) if len(block)), None)
        if block is None:
            return []
        fields = _fields(block.part(0, 1), self._dialect, pa.string())
        names = fields if self.header else [f"f{number}" for number in range(len(fields))]
        for name in names:
            if names.count(name) > 1 or not name:
                problem = f"more than one column is named {name!r}" if name else "a column has no name"
                raise block.part(0, 1).fault(f"{problem}; set header=False if the first record is a row")
        return names

    def _rows(self, piece: Piece) -> Iterator[RecordBlock]:
        skip = self.header
        for block in record_blocks(piece.file, self._dialect):
            if len(block) > skip:
                yield block.part(int(skip), len(block))
            skip = skip and not len(block)

    def _parser(self, piece: Piece, names: Sequence[str], *, tolerant: bool) -> _Parser:
        chosen = names if self.columns is None else self.columns
        require_columns(piece, [*chosen, *self.types], list(names))
        types = {name: pa.type_for_alias(self.types[name]) for name in chosen if name in self.types}
        missing = [name for name in chosen if name not in types]
        if missing and self.infer:
            parser = _Parser(names, dict.fromkeys(missing, pa.string()), self)
            types |= self._inferred(piece, parser, tolerant=tolerant)
        return _Parser(names, {name: types.get(name, pa.string()) for name in chosen}, self)

    def _inferred(self, piece: Piece, parser: _Parser, *, tolerant: bool) -> dict[str, pa.DataType]:
        """Types by all values; where bad records are tolerated, by those of the others."""
        columns = {name: ColumnType() for name in parser.types}
        with suppress(CsvFault, DamagedInputError) if tolerant else nullcontext():
            for block in self._rows(piece):
                batch = parser.parse(block, [] if tolerant else None)
                for name, column in columns.items():
                    column.add(batch.column(name))
        return {name: column.type for name, column in columns.items()}


class TsvReader(CsvReader):
    """Reads files of text delimited by tabs; all else is as in CSV files."""

    format: ClassVar[str] = "tsv"
    suffixes: ClassVar[tuple[str, ...]] = (".tsv", ".tab")

    delimiter: str = "\t"


BadRecord = tuple[int, CsvFault]
"""Number of a record in its block, and what is wrong with it."""

_LONE_RETURN = "a carriage return outside of quotes, and no line feed after it, where only line feeds end records"


@dataclass(frozen=True)
class _Parser:
    """Parses blocks with Arrow.

    Attributes:
        names: of all columns of the file.
        types: of the columns to read, in the order wanted.
        reader: the options.
    """

    names: Sequence[str]
    types: Mapping[str, pa.DataType]
    reader: CsvReader

    def parse(self, block: RecordBlock, bad: list[BadRecord] | None, first: int = 0) -> pa.RecordBatch:
        """The rows of a block.

        Args:
            block: the records.
            bad: takes records that cannot be rows; None makes the first of them an error.
            first: number of the first record.

        Raises:
            CsvFault: of a record that cannot be a row.
        """
        try:
            batch = self._read(block.data)
        except pa.ArrowInvalid as error:
            fault = self._fault(block, error) if len(block) == 1 else None
        else:
            if batch.num_rows == len(block):
                return batch
            fault = block.fault(_LONE_RETURN)
        if len(block) > 1:
            middle = len(block) // 2
            halves = (block.part(0, middle), first), (block.part(middle, len(block)), first + middle)
            return pa.concat_batches([self.parse(half, bad, start) for half, start in halves])
        assert fault is not None
        if bad is None:
            raise fault
        bad.append((first, fault))
        return self.no_rows()

    def no_rows(self) -> pa.RecordBatch:
        """A batch without rows."""
        return pa.RecordBatch.from_pylist([], schema=pa.schema(list(self.types.items())))

    def _read(self, data: bytes) -> pa.RecordBatch:
        table = pc.read_csv(
            pa.BufferReader(data),
            pc.ReadOptions(use_threads=False, block_size=len(data) + 1, column_names=list(self.names)),
            _parse_options(self.reader.delimiter, self.reader.quote),
            pc.ConvertOptions(
                column_types=self.types,
                include_columns=list(self.types),
                null_values=self.reader.null_values,
                true_values=TRUE_VALUES,
                false_values=FALSE_VALUES,
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )
        batches = table.combine_chunks().to_batches()
        return batches[0] if batches else self.no_rows()

    def _fault(self, record: RecordBlock, error: Exception) -> CsvFault:
        """What is wrong with a record that Arrow cannot read as a row."""
        try:
            found = len(_fields(record, self.reader._dialect, pa.binary()))  # noqa: SLF001 - the reader's own part
        except CsvFault as fault:
            return fault
        if found != len(self.names):
            return record.fault(f"{found} fields where {len(self.names)} are expected")
        reason = str(error).replace("Row #1: ", "")
        return record.fault(_not_utf8(record) or f"{reason}; set types= to what the column holds")


def _fields(record: RecordBlock, dialect: Dialect, kind: pa.DataType) -> list[Any]:
    """The fields of one record as they are, as strings or bytes."""
    parsing = _parse_options(dialect.delimiter, dialect.quote)
    reading = pc.ReadOptions(use_threads=False, block_size=len(record.data) + 1, autogenerate_column_names=True)
    try:
        names = pc.read_csv(pa.BufferReader(record.data), reading, parsing).column_names
        converting = pc.ConvertOptions(column_types=dict.fromkeys(names, kind))
        table = pc.read_csv(pa.BufferReader(record.data), reading, parsing, converting)
    except pa.ArrowInvalid as error:
        raise record.fault(_not_utf8(record) or str(error)) from error
    if table.num_rows > 1:
        raise record.fault(_LONE_RETURN)
    return [column[0].as_py() for column in table.columns]


def _not_utf8(block: RecordBlock) -> str:
    """What is wrong with records as UTF-8; empty where nothing is."""
    error = utf8_error(block.data)
    return "" if error is None else f"not UTF-8 ({error.reason}); set encoding= to what the file is in"


def _parse_options(delimiter: str, quote: str | None) -> pc.ParseOptions:
    return pc.ParseOptions(
        delimiter=delimiter, quote_char=False if quote is None else quote, newlines_in_values=quote is not None
    )
