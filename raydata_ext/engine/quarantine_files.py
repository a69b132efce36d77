"""The records of all rows that a run set aside, as JSON lines in its report directory, for people and scripts."""

from __future__ import annotations

import itertools
import shutil
from typing import TYPE_CHECKING, Any

import orjson

from raydata_ext.engine.quarantine import records_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from raydata_ext.engine.shard_result import ShardResult
    from raydata_ext.store import Store

DIRECTORY_NAME = "quarantine"
MOST_SAMPLES = 100
RECORDS_OF_A_FILE = 10_000


def write_quarantine_files(
    parts: Iterable[Sequence[ShardResult]],
    store: Store,
    directory: Path,
    unpublished: Iterable[Mapping[str, Any]] = (),
) -> list[dict[str, Any]]:
    """Write `quarantine/part-00000.jsonl` and so on, in place of those of an earlier run.

    Args:
        parts: all results of the run, computed or cached.
        store: holds their records.
        directory: the report directory; nothing is made in it where no row was set aside.
        unpublished: records of a shard that has no result, since the run ended at it.

    Returns:
        The first 100 records.
    """
    target = directory / DIRECTORY_NAME
    shutil.rmtree(target, ignore_errors=True)
    published = records_of(store, [result.receipt for part in parts for result in part])
    records = itertools.chain(published, map(dict, unpublished))
    samples: list[dict[str, Any]] = []
    number = 0
    while group := list(itertools.islice(records, RECORDS_OF_A_FILE)):
        target.mkdir(parents=True, exist_ok=True)
        lines = b"".join(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE) for record in group)
        (target / f"part-{number:05d}.jsonl").write_bytes(lines)
        samples += group[: MOST_SAMPLES - len(samples)]
        number += 1
    return samples
