"""What a plan asks of a shard that it starts from, whether it is read from files or a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa

    from raydata_ext.sources import BadRow, Piece


class InputShard(Protocol):
    """A picklable recipe for an ordered run of rows; it holds paths, not rows."""

    @property
    def label(self) -> str:
        """The shard as messages name it."""

    @property
    def sources(self) -> Sequence[str]:
        """The files, or parts of files, that the rows come from, as messages and receipts name them."""

    @property
    def pieces(self) -> Sequence[Piece]:
        """The pieces of files that the rows come from; empty where they lie in memory."""

    @property
    def num_bytes(self) -> int:
        """Bytes to read, for progress and for choosing an executor."""

    @property
    def num_rows(self) -> int | None:
        """Rows, where they are known without reading."""

    @property
    def home(self) -> str:
        """The host that is likely to have a copy of what is read; empty where any host is as good."""

    @property
    def digest(self) -> str:
        """Hash of how the content becomes rows: format and options."""

    def identity(self, hash_piece: Callable[[Piece], str | None]) -> str | None:
        """Hash of the content; None where `hash_piece` does not know one that it needs."""

    def hash_piece(self, piece: Piece) -> str:
        """Read a piece and hash its content (32 hex digits)."""

    def read(self, on_bad_row: Callable[[str, BadRow], None] | None = None) -> Iterator[tuple[str, pa.RecordBatch]]:
        """The rows in order, as (label of the piece they come from, record batch).

        Args:
            on_bad_row: is given the label and each row that cannot be read, before the rows that follow it come; None
                makes it an error.
        """
