"""What the shards and the index of an MDS dataset say of how it is written: columns, compression, hashes.

Source: MosaicML Streaming, `streaming/base/format/{base,mds}/writer.py`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import xxhash

from raydata_ext.dataset.mds_encoding import MdsColumn

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_BYTES = (1 << 32) - 1
"""Offsets in a shard are u32."""

MDS_VERSION = 2


@dataclass(frozen=True)
class MdsFormat:
    """How shards are written.

    Attributes:
        columns: in the order of their names.
        compression: `"zstd"`, or with a level as in `"zstd:7"`; None is none.
        hashes: names of the hashes of each file, in order.
        size_limit: bytes of a shard before compression.

    Raises:
        ValueError: there is no such compression or hash, or the limit is out of range.
    """

    columns: tuple[MdsColumn, ...]
    compression: str | None
    hashes: tuple[str, ...]
    size_limit: int

    def __post_init__(self) -> None:
        if self.compression is not None and not re.fullmatch(r"zstd(:([1-9]|1\d|2[0-2]))?", self.compression):
            raise ValueError(f'compression is {self.compression!r}; it must be None, "zstd", or "zstd:1" to "zstd:22"')
        for name in self.hashes:
            _new_hash(name)
        if not 0 < self.size_limit <= MAX_BYTES:
            raise ValueError(f"size_limit is {self.size_limit} bytes; it must be from 1 to {MAX_BYTES}")

    @property
    def config(self) -> dict[str, Any]:
        """What index and shards say of the format."""
        return {
            "version": MDS_VERSION,
            "format": "mds",
            "compression": self.compression,
            "hashes": list(self.hashes),
            "size_limit": self.size_limit,
            "column_names": [column.name for column in self.columns],
            "column_encodings": [column.encoding for column in self.columns],
            "column_sizes": [column.size for column in self.columns],
        }

    @property
    def config_json(self) -> bytes:
        """The same as it stands in shards."""
        return json.dumps(self.config, sort_keys=True).encode()

    def describe(self, name: str, parts: Sequence[Any]) -> dict[str, Any]:
        """What the index says of a file that is these bytes, one after the other."""
        hashes = {algorithm: _new_hash(algorithm) for algorithm in self.hashes}
        for part in parts:
            for one in hashes.values():
                one.update(part)
        digests = {algorithm: one.hexdigest() for algorithm, one in hashes.items()}
        return {"basename": name, "bytes": sum(memoryview(part).nbytes for part in parts), "hashes": digests}

    def compressed(self, parts: Sequence[Any]) -> bytes:
        """These bytes, compressed together."""
        level = int((self.compression or "").partition(":")[2] or 3)
        data: bytes = pa.Codec("zstd", compression_level=level).compress(b"".join(parts), asbytes=True)
        return data


def mds_columns(schema: pa.Schema, columns: Mapping[str, str] | Sequence[str] | None) -> tuple[MdsColumn, ...]:
    """The columns that were asked for, in the order of their names.

    Args:
        schema: of the rows.
        columns: names, or names and encodings; None is all.

    Raises:
        ValueError: there is no such column.
        SchemaError: a type has no encoding, or not the one that was asked for.
    """
    wanted = (
        dict(columns) if isinstance(columns, Mapping) else dict.fromkeys(schema.names if columns is None else columns)
    )
    missing = [name for name in wanted if name not in schema.names]
    if missing:
        raise ValueError(f"there is no column {missing[0]!r}; the columns are {schema.names}")
    return tuple(MdsColumn.of(schema.field(name), wanted[name]) for name in sorted(wanted))


def _new_hash(name: str) -> Any:
    if name in xxhash.algorithms_available:
        return getattr(xxhash, name)()
    if name in hashlib.algorithms_available and not name.startswith("shake_"):
        return hashlib.new(name, usedforsecurity=False)
    raise ValueError(f"hashes has {name!r}, which is none; choose of sha1, sha256, md5, xxh64, xxh3_64, ...")
