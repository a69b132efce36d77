"""Token files of fairseq and Megatron: a `.bin` file of tokens, and an `.idx` file that says where items end."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pyarrow as pa
import xxhash
from pydantic import model_validator
from typing_extensions import override

from raydata_ext.errors import NoMatchError
from raydata_ext.sources.input_file import InputFile, Piece
from raydata_ext.sources.listing import list_files
from raydata_ext.sources.reader import OnBadRow, Reader, runs_of_units
from raydata_ext.sources.row_batches import BATCH_BYTES, BATCH_ROWS
from raydata_ext.sources.token_index import TokenIndex, read_exactly

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

_BIN, _IDX = ".bin", ".idx"


class TokenFileReader(Reader):
    """Reads token files; a file above the shard size is split at items.

    A row is an item: a sentence in fairseq's files, a sequence in Megatron's. The type of tokens is that of the file.

    Attributes:
        column: name of the only column, lists of tokens.
    """

    format: ClassVar[str] = "tokens"
    suffixes: ClassVar[tuple[str, ...]] = (_BIN, _IDX)

    column: str = "input_ids"

    @model_validator(mode="after")
    def _fitting(self) -> TokenFileReader:
        if self.columns not in (None, (self.column,)):
            raise ValueError(f"token files have the column {self.column!r} alone; check columns=")
        return self

    @override
    def files_of_rows(self, files: Sequence[InputFile]) -> Sequence[InputFile]:
        """The `.bin` files; their versions tell that their `.idx` files are the same, too."""
        indexes = {file.path: file for file in files if file.path.endswith(_IDX)}
        data = [file for file in files if not file.path.endswith(_IDX)]
        if not data:
            raise NoMatchError(f"{files[0].path} is an index; give the {_BIN} files, or their directory")
        return [
            replace(file, version=_version(file, indexes.get(_index_path(file)) or _index_file(file))) for file in data
        ]

    @override
    def split(self, file: InputFile, max_bytes: int) -> list[Piece]:
        if file.size <= max_bytes:
            return [Piece(file)]
        index = TokenIndex.read(_index_file(file), file.size)
        sizes = np.concatenate([*index.sizes()]).astype(np.int64) * index.dtype.itemsize
        return runs_of_units(file, sizes.tolist(), max_bytes)

    @override
    def hash_piece(self, piece: Piece) -> str:
        index = TokenIndex.read(_index_file(piece.file), piece.file.size)
        digest = xxhash.xxh3_128(index.dtype.str.encode())
        for sizes, tokens in _runs(piece, index):
            digest.update(sizes.tobytes())
            digest.update(tokens)
        return digest.hexdigest()

    @override
    def read(
        self,
        piece: Piece,
        on_bad_row: OnBadRow | None = None,  # none is: tokens are numbers
    ) -> Iterator[pa.RecordBatch]:
        index = TokenIndex.read(_index_file(piece.file), piece.file.size)
        empty = True
        for sizes, tokens in _runs(piece, index):
            yield self._batch(index, sizes, tokens)
            empty = False
        if empty:
            yield self._batch(index, np.empty(0, np.int32), b"")

    def _batch(self, index: TokenIndex, sizes: NDArray[np.int32], tokens: bytes) -> pa.RecordBatch:
        offsets = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        values = pa.array(np.frombuffer(tokens, index.dtype))
        make = pa.ListArray if offsets[-1] <= np.iinfo(np.int32).max else pa.LargeListArray
        return pa.RecordBatch.from_arrays([make.from_arrays(offsets, values)], [self.column])


def _runs(piece: Piece, index: TokenIndex) -> Iterator[tuple[NDArray[np.int32], bytes]]:
    """Sizes and tokens of some items at a time."""
    end = index.items if piece.end is None else piece.end
    with piece.file.open() as stream:
        for offset, sizes in index.runs(piece.start, end, BATCH_ROWS, BATCH_BYTES):
            stream.seek(offset)
            yield sizes, read_exactly(piece.file, stream, int(sizes.sum(dtype=np.int64)) * index.dtype.itemsize)


def _index_path(file: InputFile) -> str:
    if not file.path.endswith(_BIN):
        raise NoMatchError(f"{file.path}: the name of a file of tokens ends with {_BIN}")
    return file.path.removesuffix(_BIN) + _IDX


def _index_file(file: InputFile) -> InputFile:
    path = _index_path(file)
    try:
        [index] = list_files(path)
    except NoMatchError as error:
        raise NoMatchError(
            f"{file.path}: there is no index {path} beside it, without which it cannot be read"
        ) from error
    return index


def _version(data: InputFile, index: InputFile) -> str:
    return f"{data.version}:{index.version}" if data.version and index.version else ""
