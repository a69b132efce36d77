"""Token files of fairseq and Megatron: a `.bin` file of tokens, and an `.idx` file beside it that cuts it into items."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pyarrow as pa
import xxhash
from pydantic import model_validator
from typing_extensions import override

from raydata_ext.errors import NoMatchError, ReadError
from raydata_ext.sources.input_file import InputFile, Piece
from raydata_ext.sources.listing import list_files
from raydata_ext.sources.reader import HASH_BLOCK_BYTES, Reader, runs_of_units
from raydata_ext.sources.token_index import TokenIndex, read_exactly

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

BATCH_ITEMS = 1000
_BATCH_BYTES = 4 << 20
_BIN, _IDX = ".bin", ".idx"


class TokenFileReader(Reader):
    """Reads token files; a file above the shard size is split at items.

    A row is an item: a sentence in fairseq's files, a sequence in Megatron's. The types of tokens are those of the file.

    Attributes:
        column: name of the only column, a list of tokens.
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
        """The `.bin` files, whose content is known to be the same where that of their `.idx` files is, too."""
        indexes = {file.path: file for file in files if file.name.endswith(_IDX)}
        data = [file for file in files if not file.name.endswith(_IDX)]
        return [replace(file, version=_version(file, _index_of(file, indexes))) for file in data]

    @override
    def split(self, file: InputFile, max_bytes: int) -> list[Piece]:
        if file.size <= max_bytes:
            return [Piece(file)]
        index = TokenIndex.read(_index_of(file, {}), file.size)
        sizes = (size * index.dtype.itemsize for part in index.sizes() for size in part.tolist())
        return runs_of_units(file, list(sizes), max_bytes)

    @override
    def hash_piece(self, piece: Piece) -> str:
        """Hash of type, sizes and tokens of the items."""
        index = TokenIndex.read(_index_of(piece.file, {}), piece.file.size)
        digest = xxhash.xxh3_128(index.dtype.str)
        start = end = None
        for first, sizes, offset in _runs(index, piece):
            digest.update(sizes.tobytes())
            start = offset if start is None else start
            end = offset + int(sizes.sum(dtype=np.int64)) * index.dtype.itemsize
            del first
        with piece.file.open() as stream:
            stream.seek(start or 0)
            for at in range(start or 0, end or 0, HASH_BLOCK_BYTES):
                digest.update(read_exactly(piece.file, stream, min(HASH_BLOCK_BYTES, (end or 0) - at)))
        return digest.hexdigest()

    @override
    def read(self, piece: Piece) -> Iterator[pa.RecordBatch]:
        index = TokenIndex.read(_index_of(piece.file, {}), piece.file.size)
        ...
