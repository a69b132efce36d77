"""Remove from a store what is old, what is too much, and what crashed writers left behind.

When an entry was last used is written in the time stamp of its receipt: a lookup that finds it renews the stamp (see
`local_entries`). An object store keeps no such stamp; there an entry counts from when it was written.
"""

from __future__ import annotations

import re
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from raydata_ext.errors import StoreError
from raydata_ext.store.orphans import is_orphan
from raydata_ext.store.receipt import Receipt

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator

    from raydata_ext.store.entry_files import EntryFiles, FileStatus
    from raydata_ext.store.store import Store

RECENT_SECONDS = 3600.0
"""What was used or written within this time is never removed."""

_SHARD_FILE = re.compile(r"(?P<key>[0-9a-f]{32})(-[0-9a-f]{32})?\.arrow")
_RECEIPT = re.compile(r"(?P<key>[0-9a-f]{32})\.json")
_KEY = re.compile(r"[0-9a-f]{32}")
_KEY_IN_TEXT = re.compile(r"(?<![0-9a-zA-Z])[0-9a-f]{32}(?![0-9a-zA-Z])")


@dataclass(frozen=True)
class Garbage:
    """One thing to remove: an entry, or a stray file.

    Args:
        names: Its files relative to the root of the store, in the order in which they go: a receipt before its file.
        num_bytes: Their sizes together.
        last_used: Unix time in seconds.
        reason: Why it goes.
    """

    names: tuple[str, ...]
    num_bytes: int
    last_used: float
    reason: str


@dataclass(frozen=True)
class GarbageReport:
    """What was removed, or would be.

    Args:
        removed: What went, or would go.
        dry_run: Whether everything is still there.
        entries_left: Number of entries that stay.
        bytes_left: Size of all files that stay.
        bytes_over_limit: By how much they still exceed `max_size`, since the rest is in use, recent or kept.
    """

    removed: tuple[Garbage, ...]
    dry_run: bool
    entries_left: int
    bytes_left: int
    bytes_over_limit: int

    @property
    def bytes_freed(self) -> int:
        """Size of what went, or would go."""
        return sum(one.num_bytes for one in self.removed)


def collect_garbage(
    store: Store,
    *,
    max_size: int | None = None,
    older_than: float | None = None,
    keep: Iterable[str | os.PathLike[str]] = (),
    dry_run: bool = True,
    now: float | None = None,
) -> GarbageReport:
    """Remove entries that are too old or too much, temporary files of dead processes, and files without a receipt.

    An entry stays in any case if it was used or written within the last hour, if a process of this machine has it
    mapped, or if it is in `keep`. Mappings on other machines can't be seen: name runs that use a shared cache for
    longer than an hour in `keep`.

    Args:
        store: Where to collect.
        max_size: Bytes that may stay; the least recently used entries go first. None for no limit.
        older_than: Seconds since the last use after which an entry goes. None for no limit.
        keep: Keys, and directories of runs or datasets, of which all keys that their JSON files name are kept.
        dry_run: Only say what would be removed.
        now: Unix time in seconds; the present by default.

    Raises:
        ValueError: If a limit is negative.
        StoreError: If a directory to keep holds no JSON file, so that its keys can't be known.
    """
    for name, limit in (("max_size", max_size), ("older_than", older_than)):
        if limit is not None and limit < 0:
            raise ValueError(f"{name} must not be negative, got {limit}")
    moment = time.time() if now is None else now
    contents = _read_contents(store.files, moment)
    kept_keys = _keys_to_keep(keep)
    mapped = store.files.files_in_use()
    removed: list[Garbage] = []
    entries_left, bytes_left = len(contents.entries), contents.num_bytes
    for stray in contents.strays:
        if mapped.isdisjoint(stray.names) and (dry_run or _remove(store.files, stray)):
            removed.append(stray)
            bytes_left -= stray.num_bytes
    for entry in sorted(contents.entries, key=lambda entry: entry.last_used):
        reason = _reason(entry, bytes_left, max_size, older_than, moment)
        if reason is None or not _is_free(entry, kept_keys, mapped, moment):
            continue
        garbage = Garbage(entry.names, entry.num_bytes, entry.last_used, reason)
        if dry_run or _remove(store.files, garbage):
            removed.append(garbage)
            entries_left -= 1
            bytes_left -= garbage.num_bytes
    over_limit = max(0, bytes_left - max_size) if max_size is not None else 0
    return GarbageReport(tuple(removed), dry_run, entries_left, bytes_left, over_limit)


@dataclass(frozen=True)
class _Entry:
    key: str
    names: tuple[str, ...]
    num_bytes: int
    last_used: float


@dataclass
class _Contents:
    entries: list[_Entry] = field(default_factory=list)
    strays: list[Garbage] = field(default_factory=list)
    num_bytes: int = 0


def _read_contents(files: EntryFiles, now: float) -> _Contents:
    """Sort all files of a store into entries and strays; files of other names are not counted and left alone."""
    contents = _Contents()
    for directory in files.directories():
        receipts: dict[str, FileStatus] = {}
        shard_files: dict[str, list[FileStatus]] = defaultdict(list)
        for status in files.list_files(directory):
            name = status.name.rpartition("/")[2]
            if match := _RECEIPT.fullmatch(name):
                receipts[match["key"]] = status
            elif match := _SHARD_FILE.fullmatch(name):
                shard_files[match["key"]].append(status)
            elif is_orphan(name, status.modified, now):
                contents.strays.append(_stray(status, "left behind by a process that ended"))
            else:
                continue
            contents.num_bytes += status.num_bytes
        unnamed = _add_entries(contents, files, directory, receipts, shard_files)
        old = (status for status in unnamed if now - status.modified > RECENT_SECONDS)
        contents.strays.extend(_stray(status, "no receipt names it") for status in old)
    return contents


def _add_entries(
    contents: _Contents,
    files: EntryFiles,
    directory: str,
    receipts: dict[str, FileStatus],
    shard_files: dict[str, list[FileStatus]],
) -> Iterator[FileStatus]:
    """Add the entries of a directory, and return the shard files that belong to none of them."""
    doubtful = [key for key in receipts if len(shard_files[key]) > 1]
    named = {}
    for key, content in files.find_receipts(directory, doubtful, mark_used=False).texts.items():
        try:
            named[key] = f"{directory}/{Receipt.from_json(content).file_name}"
        except StoreError:
            named[key] = ""
    for key, receipt in receipts.items():
        its_files = [status for status in shard_files[key] if named.get(key, status.name) == status.name]
        parts = (receipt, *its_files)
        contents.entries.append(
            _Entry(
                key,
                tuple(status.name for status in parts),
                sum(status.num_bytes for status in parts),
                max(status.modified for status in parts),
            )
        )
        shard_files[key] = [status for status in shard_files[key] if status not in its_files]
    return (status for statuses in shard_files.values() for status in statuses)


def _stray(status: FileStatus, reason: str) -> Garbage:
    return Garbage((status.name,), status.num_bytes, status.modified, reason)


def _is_free(entry: _Entry, kept_keys: set[str], mapped: set[str], now: float) -> bool:
    recent = now - entry.last_used <= RECENT_SECONDS
    return not recent and entry.key not in kept_keys and mapped.isdisjoint(entry.names)


def _reason(entry: _Entry, bytes_left: int, max_size: int | None, older_than: float | None, now: float) -> str | None:
    if older_than is not None and now - entry.last_used > older_than:
        return f"not used for {now - entry.last_used:.0f} s"
    if max_size is not None and bytes_left > max_size:
        return f"least recently used, and the store holds more than {max_size} bytes"
    return None


def _remove(files: EntryFiles, garbage: Garbage) -> bool:
    """Remove something unless it was used since the store was listed."""
    status = files.status(garbage.names[0])
    if status is not None and status.modified > garbage.last_used:
        return False
    for name in garbage.names:
        files.delete(name)
    return True


def _keys_to_keep(keep: Iterable[str | os.PathLike[str]]) -> set[str]:
    keys: set[str] = set()
    for one in keep:
        if isinstance(one, str) and _KEY.fullmatch(one):
            keys.add(one)
        else:
            keys |= _keys_named_in(Path(one))
    return keys


def _keys_named_in(directory: Path) -> set[str]:
    texts = [path.read_text(errors="replace") for path in directory.glob("*.json*") if path.is_file()]
    if not texts:
        raise StoreError(
            f"{directory}: no JSON file is there that could name keys to keep; give a run directory, a dataset "
            "directory, or keys"
        )
    return {key for text in texts for key in _KEY_IN_TEXT.findall(text)}
