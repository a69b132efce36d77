"""The report as one HTML page that needs nothing else: no network, no library, legible at 10,000 shards.

The page is a template, a style sheet and scripts that lie beside this module. Python puts them together with the
figures; all that is drawn, formatted or sorted is done by the scripts. Shards go into the page column by column, with
labels that say only how they differ from the one before, which keeps it around a megabyte at 10,000 shards. What
workers did is apart from that: a shard passes as many of them as there are groups of steps.
"""

from __future__ import annotations

import html
import json
import re
from importlib import resources
from string import Template
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

PAGE_NAME = "report.html"
MAX_REASONS = 200
"""Reasons named in the page; the others are summed up."""
MAX_COUNTS = 50
"""Counts of a step in the page."""
MAX_SAMPLES = 100
MAX_VALUE_CHARS = 4_000
"""Length at which a value of a quarantined sample is cut."""

_SHARD_COLUMNS = ("rows_in", "rows_out", "quarantined", "bytes_in", "bytes_out", "seconds", "attempt")
_PASS_COLUMNS = ("begin", "seconds", "attempt")
_DECODING_COLUMNS = ("begin", "seconds", "bytes_in", "bytes_out")
_STOPPED = "Stopped before its end, by {cause}. Finished shards are kept: the same command goes on from there."
_TERMINAL_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def render_report(report: Mapping[str, object]) -> str:
    """Make the page.

    Args:
        report: what `Report.as_dict` gives, and `quarantine_samples` (a list of records) where rows were set aside.
            Whatever is missing is left out of the page or shown as a dash.

    Returns:
        The HTML text, free of lone surrogates.
    """
    status = str(report.get("status") or "unknown")
    started = report.get("started")
    return _Page(_asset("report_page.html")).substitute(
        name=_text(report.get("name") or "unnamed"),
        status=_text(status),
        started=f"<span>Started {_text(_readable_time(str(started)))}</span>" if started else "",
        error=_notice(status, report.get("error")),
        data=_script_json(_page_data(report)),
        style=_asset("report_page.css"),
        charts=_asset("report_charts.js"),
        shards=_asset("report_shards.js"),
        script=_asset("report_page.js"),
    )


def write_report_page(report: Mapping[str, object], directory: Path) -> Path:
    """Write `report.html` and return its path.

    Args:
        report: see `render_report`.
        directory: where it goes; it is made where it is missing.
    """
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / PAGE_NAME
    path.write_bytes(render_report(report).encode())
    return path


class _Page(Template):
    """A template whose marks mean nothing in HTML, CSS or JavaScript."""

    delimiter = "@@"


def _asset(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _text(value: object) -> str:
    """Text as HTML, without the colours that a terminal would show."""
    plain = _TERMINAL_COLOURS.sub("", str(value))
    return html.escape(plain.encode("utf-8", "backslashreplace").decode())


def _notice(status: str, error: object) -> str:
    """What ended a run that is not complete."""
    if not error:
        return ""
    if status != "cancelled":
        return f'<pre class="error" tabindex="0" role="alert">{_text(error)}</pre>\n'
    cause = "Ctrl-C" if error == "KeyboardInterrupt" else f"a signal ({error})"
    return f'<p class="stopped" role="alert">{_text(_STOPPED.format(cause=cause))}</p>\n'


def _readable_time(iso: str) -> str:
    return iso.replace("T", " ").replace("+00:00", " UTC")


def _script_json(value: object) -> str:
    """JSON that may stand in a `<script>`: pure ASCII, and with no `<` there is nothing that could end the element."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def _page_data(report: Mapping[str, Any]) -> dict[str, Any]:
    totals = dict(report.get("totals") or {})
    totals["filtered_by"] = _largest(totals.get("filtered_by") or {})
    samples = report.get("quarantine_samples") or []
    return {
        "seconds": report.get("seconds") or {},
        "executors": report.get("executors") or [],
        "source": report.get("source") or {},
        "output": report.get("output") or {},
        "totals": totals,
        "steps": [_step(step) for step in report.get("steps") or []],
        "shards": _shard_columns(report.get("shards") or []),
        "samples": [_sample(sample) for sample in samples[:MAX_SAMPLES]],
        "samples_total": len(samples),
    }


def _step(step: Mapping[str, Any]) -> dict[str, Any]:
    counts = [*(step.get("counts") or {}).items()]
    if len(counts) > MAX_COUNTS:
        counts = [*counts[:MAX_COUNTS], (f"{len(counts) - MAX_COUNTS:,} more counts are in report.json", None)]
    return {**step, "filtered": _largest(step.get("filtered") or {}), "counts": counts}


def _shard_columns(shards: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    passes = [(number, done) for number, shard in enumerate(shards) for done in shard.get("passes") or ()]
    decoding = [(number, shard["decoding"]) for number, shard in enumerate(shards) if shard.get("decoding")]
    workers = {done.get("worker"): _node(done) for _, done in (*passes, *decoding)}
    numbers = {worker: number for number, worker in enumerate(workers)}
    nodes = list(dict.fromkeys(node for node in workers.values() if node))
    return {
        **{name: [shard.get(name) for shard in shards] for name in _SHARD_COLUMNS},
        "label": list(_front_coded(str(shard.get("label") or "") for shard in shards)),
        "cached": [int(bool(shard.get("cached"))) for shard in shards],
        "complete": [int(bool(shard.get("complete", True))) for shard in shards],
        "filtered": [sum((shard.get("filtered") or {}).values()) for shard in shards],
        "passes": {
            **_work_columns(passes, numbers, _PASS_COLUMNS),
            "cached": [int(bool(done.get("cached"))) for _, done in passes],
        },
        "decoding": _work_columns(decoding, numbers, _DECODING_COLUMNS),
        "workers": list(workers),
        "nodes": nodes,
        "node_of": [None if node is None else nodes.index(node) for node in workers.values()],
        "memory": max((done.get("memory_high_water") or 0 for _, done in (*passes, *decoding)), default=0),
    }


def _work_columns(
    work: Sequence[tuple[int, Mapping[str, Any]]], workers: Mapping[Any, int], names: Sequence[str]
) -> dict[str, list[Any]]:
    """What workers did, with the numbers of shard and worker."""
    return {
        "shard": [number for number, _ in work],
        "worker": [workers[done.get("worker")] for _, done in work],
        **{name: [done.get(name) for _, done in work] for name in names},
    }


def _node(done: Mapping[str, Any]) -> tuple[str, str, str] | None:
    """Host, address and Ray's id of the machine that did something."""
    node = done.get("node")
    return (node["host"], node["ip"], node["id"]) if node else None


def _front_coded(labels: Iterable[str]) -> Iterable[tuple[int, str]]:
    """Each label as (characters in common with the one before, the rest of it)."""
    before = ""
    for label in labels:
        pairs = enumerate(zip(before, label, strict=False))
        common = next((place for place, (old, new) in pairs if old != new), min(len(before), len(label)))
        yield common, label[common:]
        before = label


def _largest(filtered: Mapping[str, int]) -> list[tuple[str, int]]:
    """Reasons and rows, the most frequent first."""
    ranked = sorted(filtered.items(), key=lambda item: (-item[1], item[0]))
    named = [(reason or "no reason given", rows) for reason, rows in ranked[:MAX_REASONS]]
    others = ranked[MAX_REASONS:]
    return [*named, (f"{len(others):,} other reasons", sum(rows for _, rows in others))] if others else named


def _sample(record: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The fields of a quarantined row as text, but for those that say nothing; values need not be JSON."""
    said = [(str(name), value) for name, value in record.items() if value is not None and value != ""]
    return [(name, _cut(_TERMINAL_COLOURS.sub("", _as_text(value)))) for name, value in said]


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2, default=str)


def _cut(text: str) -> str:
    left_out = len(text) - MAX_VALUE_CHARS
    return text if left_out <= 0 else f"{text[:MAX_VALUE_CHARS]}\n… and {left_out:,} more characters"
