"""An indices mapping: which rows of a table a data set has, and in which order. No row is moved for it.

It is a column of numbers of eight bytes. A small one is kept in memory; a large one is an Arrow file in the cache, as
Hugging Face's are (one column `indices` of uint64, here in one record batch), which is mapped, and of which only the
path travels.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from raydata_ext.fingerprint import combine, hash_value
from raydata_ext.store import Receipt, Store
from raydata_ext.table import InMemoryTable, ShardWriter, list_table_cache_files

if TYPE_CHECKING:
    from raydata_ext.dataset.indexing import Positions
    from raydata_ext.table import TableBlock

MAX_BYTES_IN_MEMORY = 1 << 20
"""A mapping of up to 131,072 rows is pickled more quickly than a file is opened."""

_SCHEMA = pa.schema([pa.field("indices", pa.uint64(), nullable=False)])


class Indices:
    """Numbers of rows of a table, in the order of a data set.

    Args:
        table: one column of uint64, in memory or in a mapped file.
    """

    def __init__(self, table: TableBlock) -> None:
        self._table = table

    @classmethod
    def of(cls, rows: Positions, store: Store) -> Indices:
        """Keep a mapping, in memory or, where it is large, in a store under the hash of its content.

        Args:
            rows: numbers of rows.
            store: where a file goes.
        """
        table = _table(rows)
        if rows.nbytes <= MAX_BYTES_IN_MEMORY:
            return cls(InMemoryTable(table))
        key = combine("indices", hash_value(rows))
        return cls(store.table(store.get(key) or _publish(table, key, store)))

    def __len__(self) -> int:
        return self._table.num_rows

    @cached_property
    def rows(self) -> Positions:
        """The numbers; of a mapped file they stay on disk until they are looked at."""
        chunks = self._table.table.column(0).chunks
        arrays = [chunk.to_numpy().view(np.int64) for chunk in chunks]
        return arrays[0] if len(arrays) == 1 else np.concatenate([np.empty(0, np.int64), *arrays])

    @property
    def cache_files(self) -> list[str]:
        """The path of the file that they are in, if there is one."""
        return list_table_cache_files(self._table)

    @cached_property
    def digest(self) -> str:
        """Hash of the numbers."""
        return hash_value(self.rows)

    def slice(self, start: int, stop: int) -> Indices:
        """The mapping of rows [start, stop), without copying."""
        return Indices(self._table.slice(start, stop - start))

    def __getstate__(self) -> dict[str, TableBlock]:
        return {"_table": self._table}


def _table(rows: Positions) -> pa.Table:
    return pa.Table.from_arrays([pa.array(rows.view(np.uint64))], schema=_SCHEMA)


def _publish(table: pa.Table, key: str, store: Store) -> Receipt:
    rows = table.num_rows
    with ShardWriter(store.writing_path(key), table.schema, batch_rows=rows, batch_bytes=2 * table.nbytes) as writer:
        writer.write(table.to_batches()[0])
        summary = writer.finish()
    return store.publish(
        Receipt(
            key=key,
            rows=summary.rows,
            num_bytes=summary.num_bytes,
            checksum=summary.checksum,
            schema=summary.schema,
            rows_in=rows,
        )
    )
