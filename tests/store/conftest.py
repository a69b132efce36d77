"""Entries of a real store, written the way a worker writes them."""

from __future__ import annotations

import logging
from pathlib import Path

import pyarrow as pa
import pytest

from raydata_ext.store.receipt import Receipt
from raydata_ext.table.ipc_writer import ShardWriter

TABLE = pa.table({"text": ["a", "b", "c"], "n": pa.array([1, 2, None], pa.int32())})


@pytest.fixture
def table():
    return TABLE


@pytest.fixture
def write_entry():
    """A function that writes a table as the entry of a key, and returns the receipt as published."""

    def write(store, key, table=TABLE, **fields):
        path = store.writing_path(key)
        with ShardWriter(path, table.schema) as writer:
            for batch in table.to_batches():
                writer.write(batch)
            summary = writer.finish()
        receipt = Receipt(
            key=key,
            rows=summary.rows,
            num_bytes=summary.num_bytes,
            checksum=summary.checksum,
            schema=summary.schema,
            **fields,
        )
        return store.publish(receipt)

    return write


@pytest.fixture
def warnings(caplog):
    """The warnings of the store so far, as a function."""
    caplog.set_level(logging.INFO, logger="raydata_ext.store")
    return lambda: [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


@pytest.fixture
def key_of():
    """The key number i, spread over the directories as hashes are."""
    return lambda index: f"{index * 2654435761 % 2**32:08x}{index:024x}"


@pytest.fixture
def flip_byte():
    """A function that changes one bit in the data of a shard file, keeping its size."""

    def flip(path):
        with Path(path).open("r+b") as file:
            file.seek(-30, 2)
            byte = file.read(1)[0]
            file.seek(-30, 2)
            file.write(bytes([byte ^ 1]))

    return flip
