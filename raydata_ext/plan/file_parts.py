"""What a big compressed file is cut into, remembered in the store, so that it is not decompressed to find out again."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from raydata_ext.fingerprint import combine
from raydata_ext.sources import CompressedFile
from raydata_ext.store import Receipt
from raydata_ext.table.ipc_writer import ShardWriter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from raydata_ext.plan.input_shard import InputShard
    from raydata_ext.plan.workspace import Workspace
    from raydata_ext.store import Store

_REVISION = 1
"""Raised when files are cut in another way."""

_SCHEMA = pa.schema(
    [("start", pa.int64()), ("end", pa.int64()), ("content", pa.string()), ("num_bytes", pa.int64())],
)


@dataclass(frozen=True, slots=True)
class FilePart:
    """A run of lines of a compressed file.

    Attributes:
        start: offset of the first line in the decompressed bytes.
        end: offset of what follows the last line; None is all from `start` on, in a file that is damaged there.
        content: hash of the lines (32 hex digits).
        num_bytes: how many bytes of the file it takes, about.
    """

    start: int
    end: int | None
    content: str
    num_bytes: int


def find_parts(shards: Sequence[InputShard], workspace: Workspace) -> list[tuple[FilePart, ...] | None]:
    """The parts of each shard; None for what is no big compressed file, and for one that was not decompressed yet."""
    keys: dict[int, str] = {}
    for number, shard in enumerate(shards):
        content = workspace.index.content(shard.pieces[0]) if isinstance(shard, CompressedFile) else None
        if isinstance(shard, CompressedFile) and content is not None:
            keys[number] = parts_key(shard, content)
    receipts = workspace.store.find(keys.values())
    found = {number: receipts[key] for number, key in keys.items() if key in receipts}
    return [read_parts(workspace.store, found[number]) if number in found else None for number in range(len(shards))]


def parts_key(shard: CompressedFile, content: str) -> str:
    """Where the parts of a file are remembered.

    Args:
        shard: the file.
        content: hash of its bytes.
    """
    return combine("parts", _REVISION, content, shard.part_bytes)


def read_parts(store: Store, receipt: Receipt) -> tuple[FilePart, ...]:
    """The parts that a receipt under `parts_key` stands for."""
    return tuple(FilePart(**row) for row in store.table(receipt).to_pylist())


def remember_parts(store: Store, key: str, parts: Sequence[FilePart]) -> None:
    """Keep all parts of a file under its `parts_key`."""
    table = pa.Table.from_pylist([asdict(part) for part in parts], _SCHEMA)
    with ShardWriter(store.writing_path(key), _SCHEMA) as writer:
        for batch in table.to_batches():
            writer.write(batch)
        summary = writer.finish()
    store.publish(Receipt(key, summary.rows, summary.num_bytes, summary.checksum, _SCHEMA))
