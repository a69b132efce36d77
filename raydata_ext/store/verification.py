"""Check every entry of a store to the last byte."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from raydata_ext.errors import CorruptFileError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from raydata_ext.store.store import Store


@dataclass(frozen=True)
class BadEntry:
    """An entry that is not a result.

    Args:
        key: Its key.
        problem: What is wrong with it, in words.
    """

    key: str
    problem: str


@dataclass(frozen=True)
class VerificationReport:
    """What a verification found.

    Args:
        checked: Number of entries looked at.
        num_bytes: Bytes read.
        bad: Entries that are damaged; `Store.discard` removes them.
    """

    checked: int
    num_bytes: int
    bad: tuple[BadEntry, ...]


def verify(store: Store, keys: Iterable[str] | None = None) -> VerificationReport:
    """Read the shard files of entries and compare them with their receipts.

    Args:
        store: Where the entries are.
        keys: Which entries; all by default. A key without an entry counts as a bad one.

    Raises:
        ValueError: If a key is not 32 lower-case hex digits.
        StoreError: If a remote store can't be reached.
    """
    wanted = list(dict.fromkeys(store.keys() if keys is None else keys))
    found = store.find(wanted)
    bad = []
    num_bytes = 0
    for key in wanted:
        receipt = found.get(key)
        if receipt is None:
            bad.append(BadEntry(key, "its receipt or its file is missing, or one of them is damaged"))
            continue
        num_bytes += receipt.num_bytes
        try:
            store.verify(receipt)
        except CorruptFileError as error:
            bad.append(BadEntry(key, str(error)))
    return VerificationReport(len(wanted), num_bytes, tuple(bad))
