"""What a run did, in figures that add up: rows in = rows out + filtered + quarantined, for every shard."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson

from raydata_ext.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from raydata_ext.engine.run_plan import ShardResult

REPORT_VERSION = 1


@dataclass
class Report:
    """The report of one run, filled while it goes on and written whether it succeeds or not.

    Attributes:
        name: of the job.
        started: when it began (seconds since the epoch).
        status: `"running"`, `"complete"` or `"failed"`.
        error: what ended it, where it failed.
        source: figures of the input: files, bytes, shards.
        output: figures of the output: path, files, rows, bytes, tokens, whether it was written.
        executors: what did the work, in the order of first use.
        seconds: time by phase.
        results: of the last part of the plan.
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

    def totals(self) -> dict[str, Any]:
        """Sums over all shards."""
        receipts = [result.receipt for result in self.results]
        filtered: Counter[str] = Counter()
        for receipt in receipts:
            filtered.update(receipt.filtered)
        cached = sum(result.cached for result in self.results)
        return {
            "shards": len(receipts),
            "computed": len(receipts) - cached,
            "cached": cached,
            "rows_in": sum(receipt.rows_in for receipt in receipts),
            "rows_out": sum(receipt.rows for receipt in receipts),
            "filtered": sum(filtered.values()),
            "filtered_by": dict(filtered),
            "quarantined": sum(receipt.quarantined for receipt in receipts),
            "bytes_in": sum(result.shard.num_bytes for result in self.results),
            "bytes_out": sum(receipt.num_bytes for receipt in receipts),
        }

    def steps(self) -> list[dict[str, Any]]:
        """Rows and seconds of each step over all shards."""
        steps: dict[str, dict[str, Any]] = {}
        for result in self.results:
            for count in result.receipt.steps:
                total = steps.setdefault(
                    count["step"], {"step": count["step"], "rows_in": 0, "rows_out": 0, "filtered": {}, "seconds": 0.0}
                )
                for name in ("rows_in", "rows_out", "seconds"):
                    total[name] += count[name]
                total["filtered"] = dict(Counter(total["filtered"]) + Counter(count["filtered"]))
        return list(steps.values())

    def as_dict(self) -> dict[str, Any]:
        """All of it, in JSON values."""
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
            "totals": self.totals(),
            "steps": self.steps(),
            "shards": [_shard(number, result, self.started) for number, result in enumerate(self.results)],
        }

    def write_json(self, directory: Path) -> Path:
        """Write `report.json` and return its path."""
        directory.mkdir(parents=True, exist_ok=True)
        path = directory / "report.json"
        path.write_bytes(orjson.dumps(self.as_dict(), option=orjson.OPT_INDENT_2))
        return path


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


def _shard(number: int, result: ShardResult, run_started: float) -> Mapping[str, Any]:
    receipt, done = result.receipt, result.done
    return {
        "index": number,
        "label": result.shard.label,
        "key": receipt.key,
        "cached": result.cached,
        "rows_in": receipt.rows_in,
        "rows_out": receipt.rows,
        "filtered": dict(receipt.filtered),
        "quarantined": receipt.quarantined,
        "bytes_in": result.shard.num_bytes,
        "bytes_out": receipt.num_bytes,
        "begin": None if done is None else round(done.value.started - run_started, 4),
        "seconds": None if done is None else round(done.value.seconds, 4),
        "worker": None if done is None else done.value.worker,
        "memory_high_water": None if done is None else done.memory_high_water,
        "attempt": 1 if done is None else done.attempt,
    }


def _iso(seconds: float) -> str:
    return dt.datetime.fromtimestamp(seconds, dt.timezone.utc).isoformat(timespec="seconds")
