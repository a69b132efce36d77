"""A result as a shard: what the next part of a plan starts from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from raydata_ext.fingerprint import combine, hash_value
from raydata_ext.sources import label_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from raydata_ext.sources import BadRow, Piece
    from raydata_ext.store import Receipt, Store


@dataclass(frozen=True, eq=False)
class StoredShard:
    """All rows of a result. It travels as store and receipt, so that each node reads its own copy of a remote one.

    Attributes:
        store: where the result is.
        receipt: of the result.
    """

    store: Store
    receipt: Receipt

    @property
    def label(self) -> str:
        """What the rows were made of."""
        return label_of(self.sources) or f"result {self.receipt.key}"

    @property
    def sources(self) -> tuple[str, ...]:
        """The inputs that the rows were made of."""
        return tuple(str(source["path"]) for source in self.receipt.inputs)

    @property
    def home(self) -> str:
        """The host that made the result, which has its own copy of it, or has it in memory still."""
        return self.receipt.host

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """None: the receipt tells the content."""
        return ()

    @property
    def num_bytes(self) -> int:
        """Bytes of the file."""
        return self.receipt.num_bytes

    @property
    def num_rows(self) -> int:
        """Rows."""
        return self.receipt.rows

    @property
    def digest(self) -> str:
        """Rows of results are taken as they are."""
        return combine("table")

    def identity(self, hash_piece: Callable[[Piece], str | None]) -> str:  # noqa: ARG002 - the receipt tells it
        """That of a table that is mapped from the file (see `TableShard`)."""
        return combine("tables", self.receipt.checksum, hash_value([]))

    def hash_piece(self, piece: Piece) -> str:
        """Never asked, since there are no pieces."""
        raise AssertionError(piece)

    def read(
        self,
        on_bad_row: Callable[[str, BadRow], None] | None = None,  # noqa: ARG002 - rows of a table can all be read
    ) -> Iterator[tuple[str, pa.RecordBatch]]:
        """The record batches of the file; one without rows where it has none."""
        table = self.store.table(self.receipt)
        if not table.num_rows:
            yield self.label, pa.RecordBatch.from_pylist([], self.receipt.schema)
        for batch in table.iter_batches():
            yield self.label, batch
