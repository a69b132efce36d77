"""Decompressed lines on their way from the worker that decompresses to the one that parses: one Arrow file a part.

It has one column, a row of which is a block of whole lines, so that it is a shard file like any other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from raydata_ext.table.ipc_reader import iter_ipc_batches

if TYPE_CHECKING:
    from collections.abc import Iterator

LINES_SCHEMA = pa.schema([pa.field("lines", pa.large_binary(), nullable=False)])


def batch_of_lines(block: bytes) -> pa.RecordBatch:
    """A block as a batch of one row; the bytes are not copied."""
    buffers = [None, pa.py_buffer(np.array([0, len(block)], np.int64)), pa.py_buffer(block)]
    lines = pa.Array.from_buffers(pa.large_binary(), 1, buffers)
    return pa.RecordBatch.from_arrays([lines], schema=LINES_SCHEMA)


def read_decoded_lines(path: str, start: int) -> Iterator[tuple[int, bytes]]:
    """Read the blocks that a file was written from.

    Args:
        path: the file.
        start: offset of its first byte in the decompressed file.

    Yields:
        (byte offset in the decompressed file, block).

    Raises:
        FileNotFoundError: there is no such file.
        CorruptFileError: it is damaged.
    """
    for batch in iter_ipc_batches(path):
        for lines in batch.column(0):
            block: bytes = lines.as_py()
            yield start, block
            start += len(block)
