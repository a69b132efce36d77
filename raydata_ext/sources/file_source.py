"""Files to shards: the unit of identity, work, cache and placement."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from raydata_ext.errors import DamagedInputError
from raydata_ext.fingerprint import combine
from raydata_ext.redaction import redacted
from raydata_ext.sources.compression import EXPANSION, has_compressed_name, is_compressed
from raydata_ext.sources.formats import infer_format, make_reader
from raydata_ext.sources.grouping import group_files
from raydata_ext.sources.input_file import CompressedRange, InputFile, Piece
from raydata_ext.sources.listing import Paths, list_files
from raydata_ext.sources.reader import BadRow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa

    from raydata_ext.remote import StorageOptions
    from raydata_ext.sources.reader import Reader


@dataclass(frozen=True, slots=True)
class FileShard:
    """One or more pieces of files that are read, transformed and stored together.

    Attributes:
        reader: the format that the pieces are read with.
        pieces: in order of rows.
    """

    reader: Reader
    pieces: tuple[Piece, ...]

    @property
    def label(self) -> str:
        """The shard as messages name it."""
        return label_of(self.sources)

    @property
    def sources(self) -> tuple[str, ...]:
        """Its files, or parts of files, as messages name them."""
        return tuple(piece.label for piece in self.pieces)

    @property
    def num_bytes(self) -> int:
        """Bytes on disk."""
        return sum(piece.num_bytes for piece in self.pieces)

    @property
    def num_rows(self) -> None:
        """Not known before the files are read."""
        return None

    @property
    def home(self) -> str:
        """None: any host reads a file alike."""
        return ""

    @property
    def digest(self) -> str:
        """How bytes become rows: the reader's part of a key."""
        return self.reader.digest

    def identity(self, hash_piece: Callable[[Piece], str | None]) -> str | None:
        """What the rows of the shard are made of: the contents of its pieces, and names where rows hold them.

        Args:
            hash_piece: gives a piece's content hash, or None where it is not known.
        """
        parts: list[str] = []
        for piece in self.pieces:
            content = hash_piece(piece)
            if content is None:
                return None
            parts += [content, piece.file.name] if self.reader.rows_hold_names else [content]
        return combine("files", *parts)

    def hash_piece(self, piece: Piece) -> str:
        """Read a piece and hash its content (32 hex digits)."""
        return self.reader.hash_piece(piece)

    def read(self, on_bad_row: Callable[[str, BadRow], None] | None = None) -> Iterator[tuple[str, pa.RecordBatch]]:
        """The rows in order, as (label of the piece they come from, record batch).

        Args:
            on_bad_row: is given the label and each row that cannot be read, before the rows that follow it come; None
                makes it an error.

        Raises:
            ReadError: a file cannot be read, or a row and there is no `on_bad_row`.
        """
        for piece in self.pieces:
            label = piece.label
            batches = self.reader.read(piece) if on_bad_row is None else self._readable(piece, on_bad_row)
            for batch in batches:
                yield label, batch

    def _readable(self, piece: Piece, on_bad_row: Callable[[str, BadRow], None]) -> Iterator[pa.RecordBatch]:
        """The rows of a piece that can be read. Where nothing can be read any more, the rest counts as one bad row."""
        rows = 0

        def report(row: BadRow) -> None:
            nonlocal rows
            rows += 1
            on_bad_row(piece.label, row)

        try:
            for batch in self.reader.read(piece, report):
                rows += batch.num_rows
                yield batch
        except DamagedInputError as error:
            report(BadRow(rows, error.byte_offset, f"nothing is read from here on: {error}"))


def label_of(sources: Sequence[str]) -> str:
    """One name for a few files: that of the only one, or those of the first and the last; empty for none."""
    if len(sources) < 2:  # noqa: PLR2004 - one name needs no words around it
        return "".join(sources)
    return f"{sources[0]} .. {sources[-1]} ({len(sources)} files)"


@dataclass(frozen=True, slots=True)
class CompressedFile(FileShard):
    """A big compressed file of lines. What it is cut into shows when it is decompressed; then its parts are shards.

    Attributes:
        part_bytes: decompressed bytes of a part.
    """

    part_bytes: int

    @property
    def file(self) -> InputFile:
        """The file."""
        return self.pieces[0].file

    def part(self, start: int, end: int | None, num_bytes: int) -> FileShard:
        """Some of the lines as a shard.

        Args:
            start: offset in the decompressed bytes, where a line begins.
            end: the same of the first line that is no longer in it; None is all lines from `start` on.
            num_bytes: how many bytes of the file it takes, about.
        """
        return FileShard(self.reader, (CompressedRange(self.file, start, end, num_bytes),))


@dataclass(frozen=True, slots=True)
class FileSource:
    """A corpus: its files, cut into shards, and how they are read."""

    reader: Reader
    shards: tuple[FileShard, ...]
    num_files: int
    num_bytes: int


def scan_files(
    paths: Paths,
    *,
    format: str | None = None,  # noqa: A002 - the name that users of data frames know
    columns: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    max_shard_bytes: int = 256 << 20,
    storage_options: StorageOptions | None = None,
    **reader_options: object,
) -> FileSource:
    """List files and cut them into shards, without reading more than footers of files that are to be split.

    Files above `max_shard_bytes` are split where the format allows it, those with compressed lines when they are
    decompressed; smaller ones of the same path or pattern are grouped (see `grouping`). A compressed file counts as
    four times its size.

    Args:
        paths: paths, directories or patterns, see `list_files`.
        format: one of `FORMATS`; None is what the suffixes stand for.
        columns: the columns to read; None is all.
        exclude: shell patterns of paths to leave out.
        max_shard_bytes: the largest input of a shard, in bytes on disk or, of compressed files, decompressed.
        storage_options: further arguments of the file systems of URLs.
        reader_options: attributes of the format's reader.

    Raises:
        NoMatchError: a pattern matches nothing.
        ValueError: format or options are not valid.
    """
    if "data_files" in reader_options:
        raise TypeError(
            f"the paths come first, and the format is format={redacted(repr(paths))}; there is no data_files="
        )
    if max_shard_bytes < 1:
        raise ValueError(f"max_shard_bytes is {max_shard_bytes}; it must be at least 1")
    files: Sequence[InputFile] = list_files(paths, exclude=exclude, storage_options=storage_options)
    reader = make_reader(format or infer_format(files), {"columns": columns, **reader_options}).fitted_to(files)
    files = reader.files_of_rows(files)
    shards = tuple(_cut_and_grouped(reader, files, max_shard_bytes))
    return FileSource(reader, shards, len(files), sum(file.size for file in files))


def _cut_and_grouped(reader: Reader, files: Sequence[InputFile], max_bytes: int) -> Iterator[FileShard]:
    # Groups do not reach from the files of one path into those of the next: names are distinct only within one.
    for _, together in groupby(files, key=lambda file: file.path.removesuffix(file.name)):
        run = list(together)
        for first, last in group_files([file.name for file in run], [_size(file) for file in run], max_bytes):
            if last - first > 1:
                yield FileShard(reader, tuple(Piece(file) for file in run[first:last]))
            elif reader.rows_are_lines and _is_big_and_compressed(run[first], max_bytes):
                yield CompressedFile(reader, (Piece(run[first]),), max_bytes)
            else:
                yield from (FileShard(reader, (piece,)) for piece in reader.split(run[first], max_bytes))


def _size(file: InputFile) -> int:
    """About how much there is to parse."""
    return file.size * EXPANSION if has_compressed_name(file) else file.size


def _is_big_and_compressed(file: InputFile, max_bytes: int) -> bool:
    """Told by the name where that says so; only files above the limit are opened."""
    return _size(file) > max_bytes and (has_compressed_name(file) or is_compressed(file))
