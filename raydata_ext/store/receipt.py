"""The receipt of a cache entry: what a shard file holds, what it was made of, and how its content can be checked.

A result exists when its receipt does. The receipt is small JSON beside the shard file, written after it, and holds
nothing that ties the entry to a place: a cache directory that is copied elsewhere stays valid.
"""

from __future__ import annotations

import base64
import binascii
import functools
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import orjson
import pyarrow as pa

from raydata_ext.errors import StoreError

RECEIPT_VERSION = 1

_HEX_32 = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True)
class Receipt:
    """What is known of one computed shard.

    Args:
        key: 32 lower-case hex digits; the identity of what the shard was made of.
        rows: Rows in the shard file.
        num_bytes: Size of the shard file in bytes.
        checksum: xxh3-128 of the shard file, 32 lower-case hex digits.
        schema: Schema of the shard file, with its metadata.
        rows_in: Rows read from the inputs.
        filtered: Rows that steps dropped, by reason; `""` stands for no reason given.
        quarantined: Rows set aside because a step failed on them.
        inputs: One JSON-able mapping an input (path, range, content identity).
        steps: One JSON-able mapping a step (rows in, rows out, seconds).
        seconds: Wall-clock time that the shard took.
        attempt: 1 where the first try succeeded.
        worker: `host:pid` of the process that made it.
        created: Unix time in seconds.
        file: Name of the shard file, set on publication: `<key>.arrow`, or `<key>-<checksum>.arrow` where the plain
            name was taken by other bytes. `""` stands for the plain name.

    Raises:
        ValueError: If a key, checksum, count or file name is not of this form.
    """

    key: str
    rows: int
    num_bytes: int
    checksum: str
    schema: pa.Schema
    rows_in: int = 0
    filtered: Mapping[str, int] = field(default_factory=dict)
    quarantined: int = 0
    inputs: tuple[Mapping[str, Any], ...] = ()
    steps: tuple[Mapping[str, Any], ...] = ()
    seconds: float = 0.0
    attempt: int = 1
    worker: str = ""
    created: float = field(default_factory=time.time)
    file: str = ""

    def __post_init__(self) -> None:
        check_key(self.key)
        if not isinstance(self.checksum, str) or not _HEX_32.fullmatch(self.checksum):
            raise ValueError(f"checksum of a receipt must be 32 lower-case hex digits, got {self.checksum!r}")
        for name in ("rows", "num_bytes", "rows_in", "quarantined"):
            value = getattr(self, name)
            if not isinstance(value, int) or value < 0:
                raise ValueError(f"{name} of a receipt must be a whole number that is not negative, got {value!r}")
        if self.file not in ("", plain_file_name(self.key), content_file_name(self.key, self.checksum)):
            raise ValueError(f"file of a receipt must be named after its key, got {self.file!r}")

    @property
    def file_name(self) -> str:
        """Name of the shard file within the directory of the entry."""
        return self.file or plain_file_name(self.key)

    @property
    def host(self) -> str:
        """Name of the host that made it; empty where that is not known."""
        return self.worker.rpartition(":")[0]

    @property
    def content_key(self) -> str:
        """What stands for the rows: the key, and the checksum where rows were set aside, for that may go otherwise."""
        return f"{self.key}-{self.checksum}" if self.quarantined else self.key

    def to_json(self) -> bytes:
        """Write as JSON text.

        Returns:
            UTF-8 JSON; the schema is in it as base64 of its Arrow IPC message.

        Raises:
            TypeError: If `inputs` or `steps` hold a value that JSON does not know.
        """
        content: dict[str, Any] = {name: getattr(self, name) for name in _FIELDS}
        content["schema"] = schema_to_text(self.schema)
        content["file"] = self.file_name
        return orjson.dumps({"version": RECEIPT_VERSION, **content}, default=_plain, option=orjson.OPT_INDENT_2)

    @classmethod
    def from_json(cls, text: bytes | str) -> Receipt:
        """Read what `to_json` wrote.

        Args:
            text: UTF-8 JSON.

        Raises:
            StoreError: If the text is damaged, or of a version that this one does not know.
        """
        try:
            content = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise StoreError(f"the receipt is not JSON ({error})") from error
        if not isinstance(content, dict) or content.pop("version", None) != RECEIPT_VERSION:
            raise StoreError(f"the receipt is not of version {RECEIPT_VERSION}")
        try:
            content["schema"] = schema_from_text(content["schema"])
            content["inputs"] = tuple(content["inputs"])
            content["steps"] = tuple(content["steps"])
            return cls(**{name: content[name] for name in _FIELDS if name in content})  # others are of later versions
        except (KeyError, TypeError, ValueError) as error:
            raise StoreError(f"the receipt is damaged ({error!r})") from error


_FIELDS = tuple(one.name for one in fields(Receipt))


def check_key(key: str) -> str:
    """Return the key if it is one.

    Args:
        key: 32 lower-case hex digits. Nothing else becomes part of a path.

    Raises:
        ValueError: If it is anything else.
    """
    if not isinstance(key, str) or not _HEX_32.fullmatch(key):
        raise ValueError(f"a key must be 32 lower-case hex digits, got {key!r}")
    return key


def entry_directory(key: str) -> str:
    """Return the name of the directory that holds the entry: the first two hex digits of its key."""
    return check_key(key)[:2]


def receipt_file_name(key: str) -> str:
    """Return the name of the entry's receipt."""
    return f"{key}.json"


def plain_file_name(key: str) -> str:
    """Return the name that the shard file of an entry has as a rule."""
    return f"{key}.arrow"


def content_file_name(key: str, checksum: str) -> str:
    """Return the name of the shard file that can hold these bytes and no others."""
    return f"{key}-{checksum}.arrow"


def schema_to_text(schema: pa.Schema) -> str:
    """Return a schema as base64 of its Arrow IPC message."""
    return base64.b64encode(schema.serialize()).decode("ascii")


@functools.lru_cache(maxsize=4096)
def schema_from_text(text: str) -> pa.Schema:
    """Return the schema of such a text; ten thousand receipts with one schema share one object.

    Args:
        text: What `schema_to_text` gave.

    Raises:
        ValueError: If the text is no schema.
    """
    try:
        return pa.ipc.read_schema(pa.py_buffer(base64.b64decode(text, validate=True)))
    except (binascii.Error, pa.ArrowException, OSError) as error:
        raise ValueError(f"not a serialised Arrow schema ({error})") from error


def _plain(value: object) -> object:
    """Return read-only mappings as the dict that JSON takes."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a receipt holds JSON values only, got {type(value).__name__}")
