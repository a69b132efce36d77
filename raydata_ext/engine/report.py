"""What a run did, in figures that add up: rows in + rows added = rows out + filtered + quarantined, shard by shard.

They add up for each step as well, and a step is given what the one before it handed on. Reading counts as a step where
rows were set aside in it.

Only a batched map adds rows, by returning more than it was given, or takes them away, which counts as adding a negative
number. Every other step hands on, filters or sets aside each row that it is given. Where a file is damaged from some
position on, all that would have come there is one row, quarantined.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson

from raydata_ext.engine.quarantine import READING
from raydata_ext.errors import StoreError
from raydata_ext.plan import quarantine_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from raydata_ext.engine.decode_task import Decoded
    from raydata_ext.engine.shard_result import ShardResult
    from raydata_ext.engine.shard_task import ShardOutcome
    from raydata_ext.engine.worker import Completed

REPORT_VERSION = 2

_NO_ROWS = {"rows_in": 0, "rows_added": 0, "rows_out": 0, "quarantined": 0}


@dataclass
class Report:
    """The report of one run, filled while it goes on and written whether it succeeds or not.

    Attributes:
        name: of the job.
        started: when it began (seconds since the epoch).
        status: `"running"`, `"complete"`, `"failed"`, or `"cancelled"` by Ctrl-C or a signal.
        error: what ended it, where it is not complete.
        source: figures of the input: files, bytes, shards.
        output: figures of the output: path, files, rows, bytes, tokens, whether it was written.
        executors: what did the work, in the order of first use.
        seconds: time by phase.
        results: of the last part of the plan; of the part that failed, those that were there by then.
        earlier: results of the parts before it, where the plan runs in parts; each has the same shards.
        quarantine_samples: records of some of the rows that were set aside.
    """

    name: str
    started: float
    status: str = "running"
    error: str | None = None
    source: dict[str, Any] = field(default_factory=dict)
    output: dict[str, Any] = field(default_factory=dict)
    executors: Sequence[str] = ()
    seconds: dict[str, float] = field(default_factory=dict)
    results: Sequence[ShardResult] = ()
    earlier: Sequence[Sequence[ShardResult]] = ()
    quarantine_samples: Sequence[Mapping[str, Any]] = ()

    def totals(self) -> dict[str, Any]:
        """Sums over all shards."""
        return _totals(self.shards())

    def steps(self) -> list[dict[str, Any]]:
        """Rows, seconds and counts of each step over all shards. Older results may have come without counts."""
        steps: dict[str, dict[str, Any]] = {}
        for count in (count for part in self._parts() for result in part for count in result.receipt.steps):
            total = steps.setdefault(count["step"], _step(count["step"]))
            for name in (*_NO_ROWS, "seconds"):
                total[name] += count.get(name, 0)
            for name in ("filtered", "counts"):
                for what, number in count.get(name, {}).items():
                    total[name][what] = total[name].get(what, 0) + number
        return [*self._reading(steps.values()), *steps.values()]

    def shards(self) -> list[dict[str, Any]]:
        """What became of each shard."""
        chains: dict[int, list[ShardResult]] = {}
        for result in (result for part in self._parts() for result in part):
            chains.setdefault(result.number, []).append(result)
        return [_shard(number, chain, self.started) for number, chain in sorted(chains.items())]

    def as_dict(self) -> dict[str, Any]:
        """All of it, in JSON values."""
        shards = self.shards()
        return {
            "version": REPORT_VERSION,
            "name": self.name,
            "status": self.status,
            "error": self.error,
            "started": _iso(self.started),
            "seconds": {name: round(value, 3) for name, value in self.seconds.items()},
            "executors": list(self.executors),
            "source": self.source,
            "output": self.output,
            "totals": _totals(shards),
            "steps": self.steps(),
            "shards": shards,
            "quarantine_samples": list(self.quarantine_samples),
        }

    def write_json(self, directory: Path) -> dict[str, Any]:
        """Write `report.json` and return what is in it."""
        directory.mkdir(parents=True, exist_ok=True)
        report = self.as_dict()
        (directory / "report.json").write_bytes(orjson.dumps(report, option=orjson.OPT_INDENT_2))
        return report

    def _parts(self) -> list[Sequence[ShardResult]]:
        return [*self.earlier, self.results]

    def _reading(self, steps: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """What came before the first step, where rows were set aside there; how long it took is not known."""
        receipts = [result.receipt for part in self._parts() for result in part]
        set_aside = sum(receipt.quarantined for receipt in receipts) - sum(step["quarantined"] for step in steps)
        if not set_aside:
            return []
        rows = sum(result.receipt.rows_in for result in self._parts()[0])
        return [{**_step(READING), "rows_in": rows, "rows_out": rows - set_aside, "quarantined": set_aside}]


def read_report(directory: Path) -> dict[str, Any]:
    """Read the `report.json` of a run.

    Raises:
        StoreError: there is none, or it is damaged or of another version.
    """
    path = directory / "report.json"
    try:
        report = orjson.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise StoreError(f"{path}: no such report; name the directory that a run put it into") from error
    except orjson.JSONDecodeError as error:
        raise StoreError(f"{path}: not JSON ({error}); run the job again") from error
    if not isinstance(report, dict) or report.get("version") != REPORT_VERSION:
        raise StoreError(f"{path}: not a report of version {REPORT_VERSION}; run the job again")
    return report


def _step(label: str) -> dict[str, Any]:
    """A step that nothing is known of yet."""
    return {"step": label, **_NO_ROWS, "filtered": {}, "counts": {}, "seconds": 0.0}


def _totals(shards: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Sums over shards, as `Report.shards` gives them."""
    filtered: Counter[str] = Counter()
    for shard in shards:
        filtered.update(shard["filtered"])
    complete = sum(shard["complete"] for shard in shards)
    cached = sum(shard["complete"] and shard["cached"] for shard in shards)
    sums = ("rows_in", "rows_added", "rows_out", "quarantined", "bytes_in", "bytes_out")
    return {
        "shards": len(shards),
        "complete": complete,
        "computed": complete - cached,
        "cached": cached,
        **{name: sum(shard[name] for shard in shards) for name in sums},
        "filtered": sum(filtered.values()),
        "filtered_by": dict(filtered),
    }


def _shard(number: int, chain: Sequence[ShardResult], run_started: float) -> dict[str, Any]:
    """The figures of one shard.

    Args:
        number: of the shard.
        chain: its result in each part of the plan.
        run_started: when the run began.
    """
    first, last = chain[0], chain[-1]
    receipts = [result.receipt for result in chain]
    done = [done for result in chain for done in result.work]
    filtered: Counter[str] = Counter()
    for receipt in receipts:
        filtered.update(receipt.filtered)
    return {
        "index": number,
        "label": last.shard.label,
        "key": receipts[-1].key,
        "quarantine_keys": [quarantine_key(receipt.key) for receipt in receipts if receipt.quarantined],
        "complete": last.is_complete,
        "cached": all(result.cached for result in chain),
        "rows_in": receipts[0].rows_in,
        "rows_added": sum(step.get("rows_added", 0) for receipt in receipts for step in receipt.steps),
        "rows_out": receipts[-1].rows,
        "filtered": dict(filtered),
        "quarantined": sum(receipt.quarantined for receipt in receipts),
        "bytes_in": first.shard.num_bytes,
        "bytes_out": receipts[-1].num_bytes,
        "seconds": round(sum(one.value.seconds for one in done), 4) if done else None,
        "attempt": max((one.attempt for one in done), default=1),
        "passes": [{**_work(one, run_started), "cached": one.value.cached} for one in done],
        "decoding": None if first.decoded is None else _decoding(first.decoded, run_started),
    }


def _decoding(done: Completed[Decoded], run_started: float) -> dict[str, Any]:
    """How a shard that is a part of a big compressed file was decompressed."""
    (part,) = done.value.parts
    return {
        **_work(done, run_started),
        "bytes_in": part.num_bytes,
        "bytes_out": 0 if part.end is None else part.end - part.start,
    }


def _work(done: Completed[ShardOutcome] | Completed[Decoded], run_started: float) -> dict[str, Any]:
    """When, for how long, and where a worker was at something."""
    return {
        "begin": round(done.value.started - run_started, 4),
        "seconds": round(done.value.seconds, 4),
        "worker": done.value.worker,
        "node": {"host": done.node.host, "ip": done.node.ip, "id": done.node.id},
        "memory_high_water": done.memory_high_water,
        "attempt": done.attempt,
    }


def _iso(seconds: float) -> str:
    return dt.datetime.fromtimestamp(seconds, dt.timezone.utc).isoformat(timespec="seconds")
