"""The manifest of a dataset directory: its shards with rows, bytes and checksums, its schema, and its origin."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import orjson

from raydata_ext.errors import StoreError
from raydata_ext.store.receipt import schema_from_text, schema_to_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

MANIFEST_FILE = "manifest.json"
MANIFEST_VERSION = 1


@dataclass(frozen=True)
class ShardFile:
    """One shard file of a dataset directory.

    Args:
        name: Path relative to the directory.
        num_bytes: Size in bytes.
        rows: Number of rows, or None where only the file itself tells.
        checksum: xxh3-128 of the file, 32 hex digits, or None where it was not recorded.
    """

    name: str
    num_bytes: int
    rows: int | None = None
    checksum: str | None = None


@dataclass(frozen=True)
class Manifest:
    """What a dataset directory holds.

    Args:
        shards: The shard files in the order of their rows, each with rows and checksum.
        schema: Arrow schema of the dataset.
        fingerprint: Fingerprint of the dataset.
        lineage: What it was made from, in JSON values: sources, steps, keys of the shards.
        split: Name of the split, if it has one.
    """

    shards: tuple[ShardFile, ...]
    schema: pa.Schema
    fingerprint: str
    lineage: Mapping[str, Any] = field(default_factory=dict)
    split: str | None = None

    @property
    def rows(self) -> int:
        """Rows of all shards."""
        return sum(shard.rows or 0 for shard in self.shards)

    @property
    def num_bytes(self) -> int:
        """Bytes of all shard files."""
        return sum(shard.num_bytes for shard in self.shards)

    def to_json(self) -> bytes:
        """Return UTF-8 JSON; the schema is in it as base64 of its Arrow IPC message, and again as text to read.

        Raises:
            TypeError: If the lineage holds what JSON does not know.
        """
        content = {
            "version": MANIFEST_VERSION,
            "fingerprint": self.fingerprint,
            "split": self.split,
            "rows": self.rows,
            "num_bytes": self.num_bytes,
            "columns": [{"name": one.name, "type": str(one.type)} for one in self.schema],
            "schema": schema_to_text(self.schema),
            "shards": [asdict(shard) for shard in self.shards],
            "lineage": dict(self.lineage),
        }
        return orjson.dumps(content, option=orjson.OPT_INDENT_2)

    @classmethod
    def from_json(cls, text: bytes | str) -> Manifest:
        """Read what `to_json` wrote.

        Raises:
            StoreError: If the text is damaged, of another version, or names files outside of the directory.
        """
        try:
            content = orjson.loads(text)
            if content["version"] != MANIFEST_VERSION:
                raise StoreError(f"version {content['version']!r} of {MANIFEST_FILE} is not known to this version")
            return cls(
                shards=tuple(_shard(one) for one in content["shards"]),
                schema=schema_from_text(content["schema"]),
                fingerprint=content["fingerprint"],
                lineage=content["lineage"],
                split=content["split"],
            )
        except (KeyError, TypeError, ValueError) as error:  # orjson's error is a ValueError
            raise StoreError(f"{MANIFEST_FILE} is damaged ({error!r})") from error


def check_member_name(name: object) -> str:
    """Return the name of a file of a directory, if it stays inside of that directory.

    Args:
        name: What stood in a file that may come from anywhere.

    Raises:
        StoreError: If it is no name, or leads out of the directory.
    """
    if not isinstance(name, str) or not name or "\\" in name or "\0" in name:
        raise StoreError(f"{name!r} is not the name of a file")
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts:
        raise StoreError(f"{name!r} leads out of the directory; a dataset directory may only name its own files")
    return name


def _shard(content: Mapping[str, Any]) -> ShardFile:
    shard = ShardFile(**content)
    check_member_name(shard.name)
    for value in (shard.num_bytes, shard.rows):
        if not isinstance(value, int) or value < 0:
            raise ValueError(f"{shard.name}: {value!r} is no count")
    return shard
