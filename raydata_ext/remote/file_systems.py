"""The file system of a URL, and what tells one content of a file from a later one."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any, TypeAlias

import fsspec

from raydata_ext.redaction import redact_error

StorageOptions: TypeAlias = Mapping[str, Any]
"""Further arguments of a file system of fsspec, such as `key`, `secret` and `endpoint_url` of S3. Where URLs of several
protocols are meant, by protocol: `{"s3": {"endpoint_url": ...}, "https": {"headers": ...}}`. Often secret: they are no
part of a key, a receipt, a report or a `repr`."""

_CHECKSUM_KEYS = ("md5Hash", "crc32c", "checksum", "blob_id", "ETag", "etag")
_TIME_KEYS = ("mtime", "LastModified", "last_modified", "updated", "created")


def find_file_system(url: str, options: StorageOptions | None = None) -> tuple[Any, str]:
    """Return the fsspec file system of a URL, and the path in it.

    Args:
        url: the URL.
        options: arguments of the file system; what is given for the protocols of other URLs does not count.
    """
    named = {part.partition("://")[0] for part in url.split("::")}
    others = set(fsspec.available_protocols()) - named
    own = {name: value for name, value in (options or {}).items() if name not in others}
    try:
        file_system, path = fsspec.core.url_to_fs(url, **own)
    except Exception as error:
        redact_error(error)
        raise
    return file_system, path


def find_version(info: Mapping[str, Any]) -> tuple[str, str]:
    """Return the checksum or strong entity tag that a store gives of a file, else when it says it was written.

    Args:
        info: what `info` or `ls` of the file system says.

    Returns:
        (tag, time): `key:value` of the tag, or `""`; the time in ns since the epoch, or `""`.
    """
    for key in _CHECKSUM_KEYS:
        if info.get(key) and not str(info[key]).startswith("W/"):
            return f"{key}:{info[key]}", ""
    changed = next((info[key] for key in _TIME_KEYS if info.get(key)), None)
    if isinstance(changed, dt.datetime):
        changed = changed.timestamp()
    return "", str(int(changed * 1e9)) if isinstance(changed, int | float) else ""
