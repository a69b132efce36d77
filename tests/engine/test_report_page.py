from __future__ import annotations

import itertools
import json
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.engine.report import Report
from raydata_ext.engine.report_page import (
    MAX_COUNTS,
    MAX_REASONS,
    MAX_SAMPLES,
    MAX_VALUE_CHARS,
    render_report,
    write_report_page,
)

CHARTS = ("timeline", "throughput", "durations", "row-sizes")
INJECTION = "</script><script>document.documentElement.lang = 1</script><img src=x onerror=alert(1)> 数据 😀"


def make_pass(number: int, **changes: Any) -> dict[str, Any]:
    """What a worker did of a shard."""
    return {
        "begin": number // 4 * 2.5,
        "seconds": 1.5 + number % 11 / 11,
        "cached": False,
        "worker": f"node-{number % 2}:{100 + number % 4}",
        "attempt": 1 + (number % 50 == 49),
        "memory_high_water": 10**8 + number,
        **changes,
    }


def make_report(count: int, *, cached: bool = False, folder: str = "/data/corpus/", **changes: Any) -> dict[str, Any]:
    """The report of a run of `count` shards, a tenth of whose rows were filtered, on four workers."""
    shards = [
        {
            "index": number,
            "label": f"{folder}part-{number // 8:05d}.jsonl[{number % 8 * 2**28}:{(number % 8 + 1) * 2**28}]",
            "key": f"{number:032x}",
            "cached": cached,
            "rows_in": 1000 + number % 7,
            "rows_out": 900 + number % 7,
            "filtered": {"too short": 90, "": 9},
            "quarantined": 1,
            "bytes_in": 2**28 - number % 1001,
            "bytes_out": 900_000 + 1000 * (number % 97),
            "seconds": None if cached else 1.5 + number % 11 / 11,
            "attempt": 1 + (number % 50 == 49),
            "passes": [] if cached else [make_pass(number)],
        }
        for number in range(count)
    ]
    filtered: Counter[str] = Counter()
    for shard in shards:
        filtered.update(shard["filtered"])
    totals = {name: sum(shard[name] for shard in shards) for name in ("rows_in", "rows_out", "bytes_in", "bytes_out")}
    totals |= {"shards": count, "computed": 0 if cached else count, "cached": count if cached else 0}
    totals |= {"filtered": sum(filtered.values()), "filtered_by": dict(filtered), "quarantined": count}
    step = {"step": "step 1 `long_enough`", "rows_in": totals["rows_in"], "rows_out": totals["rows_out"]}
    return {
        **Report("quickstart", 1_764_468_012.0, status="complete").as_dict(),
        "seconds": {"planning": 0.2, "computing": 60.0, "writing": 3.0, "total": 63.25},
        "executors": ["ray"],
        "source": {"paths": ["corpus/*"], "format": "jsonl", "files": 3, "bytes": totals["bytes_in"], "shards": count},
        "output": {"path": "out/q", "files": 1, "rows": count, "bytes": 10**9, "tokens": 123_456_789, "written": True},
        "totals": totals,
        "steps": [{**step, "filtered": dict(filtered), "seconds": 12.5}] if count else [],
        "shards": shards,
        **changes,
    }


def data_in(page: str) -> Any:
    """The figures that the page's scripts find in it."""
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def labels_in(page: str) -> list[str]:
    labels: list[str] = []
    for common, rest in data_in(page)["shards"]["label"]:
        labels.append((labels[-1][:common] if labels else "") + rest)
    return labels


def test_the_page_is_one_file_that_loads_nothing_from_elsewhere() -> None:
    page = render_report(make_report(3))
    assert set(re.findall(r"https?://[^\"]*", page)) == {"http://www.w3.org/2000/svg"}
    assert re.findall(r'(?:src|href)="([^"]*)"', page) == ["data:,"]
    assert "@import" not in page
    assert "url(" not in page
    assert "default-src 'none'" in page


def test_the_header_says_what_ran_when_and_how_it_ended() -> None:
    page = render_report(make_report(3))
    assert "<title>quickstart: complete</title>" in page
    assert "<h1>quickstart</h1>" in page
    assert "Started 2025-11-30 02:00:12 UTC" in page
    assert 'class="error"' not in page


def test_a_failed_run_shows_its_whole_error_without_scripts() -> None:
    error = "StepError: map 1: a.jsonl: row 7\n  File \"x.py\"\n\x1b[31mKeyError\x1b[0m: 'text'\n" + "frame\n" * 500
    page = render_report(make_report(0, status="failed", error=error))
    shown = re.search(r'<pre class="error"[^>]*>(.*?)</pre>', page, re.DOTALL)
    assert shown is not None
    assert shown[1].startswith("StepError: map 1: a.jsonl: row 7\n  File &quot;x.py&quot;\nKeyError: &#x27;text")
    assert shown[1].count("frame") == 500


def test_markup_in_names_errors_and_values_stays_text() -> None:
    report = make_report(2, name=INJECTION, error=INJECTION, status="failed", quarantine_samples=[{"value": INJECTION}])
    report["shards"][0]["label"] = report["steps"][0]["step"] = report["output"]["path"] = INJECTION
    page = render_report(report)
    assert page.count("<script") == render_report({}).count("<script")
    assert "<img" not in page
    assert labels_in(page)[0] == INJECTION
    assert data_in(page)["samples"] == [[["value", INJECTION]]]


@given(st.lists(st.text(st.characters(exclude_categories=()))))
@settings(max_examples=60, deadline=None)
def test_every_label_is_in_the_page_whatever_characters_it_has(labels: list[str]) -> None:
    page = render_report({"name": "".join(labels[:1]), "shards": [{"label": label} for label in labels]})
    page.encode()
    assert labels_in(page) == [json.loads(json.dumps(label)) for label in labels]


def test_ten_thousand_shards_with_long_names_make_a_page_below_three_megabytes() -> None:
    page = render_report(make_report(10_000, folder="/mnt/filesystem/" + "deep/" * 40))
    assert len(page.encode()) < 3_000_000
    assert len(labels_in(page)) == 10_000


@pytest.mark.parametrize("report", [{}, Report("early", 0.0).as_dict(), {"shards": [{}], "steps": [{}], "totals": {}}])
def test_whatever_is_missing_is_left_out(report: dict[str, Any]) -> None:
    page = render_report(report)
    assert len(data_in(page)["shards"]["label"]) == len(report.get("shards", []))


def test_reasons_are_ranked_and_the_rarest_of_very_many_summed_up() -> None:
    report = make_report(1)
    report["totals"]["filtered_by"] = {f"reason {number}": number + 1 for number in range(MAX_REASONS + 2)} | {"": 5000}
    reasons = data_in(render_report(report))["totals"]["filtered_by"]
    assert reasons[:2] == [["no reason given", 5000], [f"reason {MAX_REASONS + 1}", MAX_REASONS + 2]]
    assert reasons[MAX_REASONS:] == [["3 other reasons", 1 + 2 + 3]]


def test_counts_of_steps_keep_their_order_and_very_many_are_left_to_the_report() -> None:
    counts = {"tokens": 3, "a": 9, "unknown words": 0}
    steps = [{"step": "few", "counts": counts}, {"step": "many", "counts": {f"{n}": n for n in range(100)}}]
    few, many = (step["counts"] for step in data_in(render_report(make_report(1, steps=steps)))["steps"])
    assert few == [["tokens", 3], ["a", 9], ["unknown words", 0]]
    assert many == [*([f"{n}", n] for n in range(MAX_COUNTS)), ["50 more counts are in report.json", None]]


def test_a_run_that_was_stopped_says_how_to_go_on() -> None:
    page = render_report(make_report(3, status="cancelled", error="KeyboardInterrupt"))
    assert "Stopped before its end, by Ctrl-C. Finished shards are kept: the same command goes on from there." in page
    assert 'class="error"' not in page
    page = render_report(make_report(3, status="cancelled", error="raydata_ext.cli.Terminated"))
    assert "by a signal (raydata_ext.cli.Terminated). Finished shards" in page


def test_fields_of_quarantined_rows_that_say_nothing_are_left_out() -> None:
    samples = [{"row": 0, "byte_offset": None, "traceback": "", "found": False}]
    assert data_in(render_report(make_report(1, quarantine_samples=samples)))["samples"] == [
        [["row", "0"], ["found", "false"]]
    ]


def test_quarantined_values_are_shown_as_text_and_cut_where_they_are_long() -> None:
    value = {"x": float("nan"), "at": Path("p")}
    sample = {"source": "a.jsonl", "row": 7, "error": "ValueError: \x1b[31mno\x1b[0m", "value": value}
    samples = [sample, {"value": "y" * (MAX_VALUE_CHARS + 1234)}, *[{"row": number} for number in range(MAX_SAMPLES)]]
    data = data_in(render_report(make_report(1, quarantine_samples=samples)))
    assert data["samples"][0] == [
        ["source", "a.jsonl"],
        ["row", "7"],
        ["error", "ValueError: no"],
        ["value", '{\n  "x": NaN,\n  "at": "p"\n}'],
    ]
    assert data["samples"][1] == [["value", "y" * MAX_VALUE_CHARS + "\n… and 1,234 more characters"]]
    assert len(data["samples"]) == MAX_SAMPLES
    assert data["samples_total"] == MAX_SAMPLES + 2


def test_the_page_is_written_into_a_directory_that_is_made_for_it(tmp_path: Path) -> None:
    report = make_report(3, name="Übung")
    path = write_report_page(report, tmp_path / "new" / "run")
    assert path == tmp_path / "new" / "run" / "report.html"
    assert path.read_text(encoding="utf-8") == render_report(report)


Browse = Callable[..., str]


@pytest.fixture
def browse(tmp_path: Path) -> Browse:
    """Open a report in Chromium and give the page as it is after its scripts and `then`, which must not have failed."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no chromium on PATH")

    def open_page(report: dict[str, Any], width: int = 1280, then: str = "") -> str:
        path = tmp_path / "report.html"
        path.write_text(render_report(report).replace("</body>", f"<script>{then}</script></body>"), encoding="utf-8")
        quiet = ["--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage", *quiet]
        shown = [f"--user-data-dir={tmp_path / 'profile'}", f"--window-size={width},900", "--enable-logging=stderr"]
        command = [chromium, *flags, *shown, "--dump-dom", path.as_uri()]
        result = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=120, check=True)
        assert [line for line in result.stderr.splitlines() if "CONSOLE" in line] == []
        assert result.stdout.startswith('<!DOCTYPE html>\n<html lang="en"><head>'), result.stdout[:200]
        return result.stdout

    return open_page


def drawn(page: str) -> dict[str, str]:
    """What became of each figure of the page: "true" where a chart was drawn."""
    figures = re.findall(r'<figure id="([^"]*)"([^>]*)>', page)
    return {name: state[1] for name, rest in figures if (state := re.search(r'data-drawn="(\w+)"', rest))}


@pytest.mark.parametrize("width", [500, 1280])
def test_a_browser_draws_all_charts_and_tables(browse: Browse, width: int) -> None:
    page = browse(make_report(20), width)
    assert drawn(page) == dict.fromkeys(CHARTS, "true")
    assert page.count('<svg width="') == len(CHARTS)
    texts = ["123,456,789", "Took 1 min 3 s", "20 computed, 0 cached", "too short", "no reason given", "of 20</output>"]
    assert [text for text in texts if text not in page] == []
    assert '<section id="samples" hidden="">' in page


def test_a_browser_shows_what_each_step_filtered_set_aside_and_counted(browse: Browse) -> None:
    report = make_report(3)
    reasons = {f"reason {number}": 100 - number for number in range(7)}
    report["steps"][0] |= {"rows_in": 1000, "filtered": reasons, "quarantined": 3}
    report["steps"][0]["counts"] = {"tokens in source": 12_345, "unknown words <b>": 0}
    page = browse(report)
    lines = re.findall(r"<li><b>([\d,]+)</b> (.*?)<small>(.*?)</small></li>", page)
    assert lines == [
        *[(f"{100 - number}", f"filtered: reason {number}", " 10 %" if number < 1 else f" {10 - number / 10:.1f} %")
          for number in range(5)],
        ("189", "filtered: 2 other reasons", " 19 %"),
        ("3", "quarantined", " 0.3 %"),
        ("12,345", "tokens in source", ""),
        ("0", "unknown words &lt;b&gt;", ""),
    ]  # fmt: skip


def tiles_in(page: str) -> dict[str, tuple[str, str]]:
    """Value and detail of each figure of the summary."""
    tiles = re.findall(r'<dt>(.*?)</dt><dd class="value[^"]*">(.*?)</dd><dd>(.*?)</dd>', page)
    return {name: (value, detail) for name, value, detail in tiles}


def test_a_browser_shows_shares_of_rows_only_where_none_were_added(browse: Browse) -> None:
    report = make_report(2)
    tiles = tiles_in(browse(report))
    assert tiles["Rows out"] == ("1,801", "90 % of rows in")
    assert tiles["Filtered"] == ("198", "9.9 % of rows in")
    assert "Rows added" not in tiles
    report["totals"] |= {"rows_added": 498_000, "rows_out": 499_801}
    tiles = tiles_in(browse(report))
    assert tiles["Rows added"] == ("498,000", "by steps that make several of one")
    assert tiles["Rows out"] == ("499,801", "250 for each row in")
    assert tiles["Filtered"] == ("198", "")


def test_a_browser_shows_amounts_in_fitting_units(browse: Browse) -> None:
    report = make_report(3)
    for shard in report["shards"]:
        shard["bytes_in"] = 300
    page = browse(report)
    assert re.fullmatch(r"[\d.]+ B/s", tiles_in(page)["Speed"][0])
    assert "0 MB/s" not in page
    assert tiles_in(page)["Data in"] == ("805 MB", "3 files, jsonl")


def test_a_browser_shows_a_run_from_the_cache_with_a_sentence_in_place_of_times(browse: Browse) -> None:
    page = browse(make_report(20, cached=True))
    assert drawn(page) == {"timeline": "none", "row-sizes": "true"}
    assert "Every shard came from the cache." in page
    assert "0 computed, 20 cached" in page
    assert 'class="charts untimed"' in page


def test_a_browser_shows_ten_thousand_shards_a_page_at_a_time(browse: Browse) -> None:
    page = browse(make_report(10_000))
    assert drawn(page) == dict.fromkeys(CHARTS, "true")
    assert "10,000 shards on 4 workers" in page
    assert "25 of 10,000</output>" in page
    assert page.count("<") < 5000


def bars_in(page: str, kind: str) -> list[tuple[float, float, float]]:
    """Left, top and width of each bar of a kind in the timeline."""
    path = re.search(rf'd="([^"]*)" class="bar {kind}"', page[: page.index('id="throughput"')])
    numbers = re.findall(r"M([\d.]+) ([\d.]+)h([\d.]+)", path[1] if path else "")
    return [(float(left), float(top), float(width)) for left, top, width in numbers]


def test_a_browser_shows_each_pass_of_a_shard_at_its_time_and_on_its_worker(browse: Browse) -> None:
    report = make_report(1)
    first = make_pass(0, begin=0.0, seconds=10.0, worker="a:1")
    report["shards"][0]["passes"] = [first, make_pass(0, begin=90.0, seconds=10.0, worker="b:2", attempt=2)]
    report["shards"][0]["seconds"] = 20.0
    page = browse(report)
    ((begin, lane, width),) = bars_in(page, "computed")
    ((later, other_lane, other_width),) = bars_in(page, "retried")
    assert lane < other_lane
    assert later - begin == pytest.approx(9 * width, rel=0.03)
    assert width == pytest.approx(other_width, abs=0.2)
    assert "1 shard on 2 workers, 0.2 of them busy on average from the first shard to the last" in page
    assert tiles_in(page)["Speed"][0] == "2.68 MB/s"
    assert re.findall(r'<span class="worker" title="([^"]*)"', page[page.index('id="shards"') :]) == ["a:1", "b:2"]


def test_a_browser_puts_bars_together_that_are_too_short_to_see(browse: Browse) -> None:
    report = make_report(5000)
    for number, shard in enumerate(report["shards"]):
        found = number % 10 == 5
        done = make_pass(number, begin=number / 100, seconds=0.001 if found else 0.009, worker="w:1", attempt=1)
        shard["passes"] = [done | {"cached": found}]
    page = browse(report)
    bars = bars_in(page, "computed")
    assert 500 < len(bars) < 1280
    assert all(width <= 1.05 for _, _, width in bars)
    assert bars_in(page, "found") == []


def test_a_browser_shows_worker_names_without_the_domain_that_all_share(browse: Browse) -> None:
    report = make_report(2)
    for number, shard in enumerate(report["shards"]):
        shard["passes"][0]["worker"] = f"gpu-{number}.cluster.example.org:{number}"
    page = browse(report)
    assert ">gpu-1:1</text>" in page
    assert 'title="gpu-1.cluster.example.org:1"' in page
    for number, shard in enumerate(report["shards"]):
        shard["passes"][0]["worker"] = f"10.0.0.{number}:{number}"
    assert ">10.0.0.1:1</text>" in browse(report)


def texts_of_axis(page: str, figure: str) -> list[tuple[float, str]]:
    """Place and text of each tick below a chart."""
    chart = page[page.index(f'id="{figure}"') :]
    ticks = re.findall(r'<text x="([\d.]+)"[^>]*text-anchor="middle">(.*?)</text>', chart[: chart.index("</figure>")])
    return [(float(place), text) for place, text in ticks]


@pytest.mark.parametrize(("width", "longest"), [(500, 0.5), (1280, 400.0)])
def test_texts_of_an_axis_do_not_touch(browse: Browse, width: int, longest: float) -> None:
    report = make_report(40)
    for number, shard in enumerate(report["shards"]):
        shard["seconds"] = longest / 1000 ** (number / 39)
        shard["passes"] = [make_pass(number, seconds=shard["seconds"])]
    page = browse(report, width)
    for figure in CHARTS:
        ticks = texts_of_axis(page, figure)
        assert len(ticks) > 1
        for (place, text), (following, next_text) in itertools.pairwise(ticks):
            assert following - place > 6 * (len(text) + len(next_text)) / 2


def test_a_browser_runs_nothing_that_comes_from_names_errors_or_rows(browse: Browse) -> None:
    row = json.dumps({INJECTION: INJECTION, "n": 7})
    samples = [{"source": INJECTION, "row": 7, "step": INJECTION, "message": INJECTION, "row_json": row, "value": row}]
    report = make_report(20, name=INJECTION, status="failed", error=INJECTION, quarantine_samples=samples)
    for shard in report["shards"]:
        shard["label"] = shard["passes"][0]["worker"] = INJECTION
    report["totals"]["filtered_by"] = {INJECTION: 1}
    page = browse(report)
    assert drawn(page) == dict.fromkeys(CHARTS, "true")
    assert "<img" not in page
    assert "1 of 20 rows that were set aside" in page


SEARCH = """
const find = (query, state) => {
  document.querySelector("form").elements.query.value = query;
  document.querySelector("form").elements.state.value = state;
  document.querySelector("form").dispatchEvent(new Event("input", {bubbles: true}));
};
const heading = (name) => [...document.querySelectorAll("#shards th button")].find((it) => it.textContent === name);
"""


def table_of(page: str) -> list[str]:
    """The labels in the table of all shards, without the folder that they share."""
    table = page[page.index('<section id="shards"') :]
    return re.findall(r'<span class="label" title="/data/corpus/([^"]*)"', table[: table.index("</table>")])


def test_the_shard_table_is_searched_by_name_worker_and_state(browse: Browse) -> None:
    report = make_report(200)
    assert table_of(browse(report, then=SEARCH + 'find("PART-00012", "all")'))[:2] == [
        "part-00012.jsonl[0:268435456]",
        "part-00012.jsonl[268435456:536870912]",
    ]
    retried = browse(report, then=SEARCH + 'find("node-1:101", "retried")')
    assert table_of(retried) == ["part-00006.jsonl[268435456:536870912]", "part-00018.jsonl[1342177280:1610612736]"]
    assert "No shard matches</output>" in browse(report, then=SEARCH + 'find("nowhere", "all")')


def test_the_shard_table_is_sorted_by_a_click_and_turned_a_page_at_a_time(browse: Browse) -> None:
    report = make_report(200)
    report["shards"][123]["rows_in"] = 5000
    sorted_page = browse(report, then=SEARCH + 'heading("Rows in").click()')
    assert table_of(sorted_page)[0] == "part-00015.jsonl[805306368:1073741824]"
    assert '<th scope="col" class="number" aria-sort="descending"><button type="button">Rows in' in sorted_page
    second = browse(report, then="document.querySelectorAll('.pages button')[1].click()")
    assert table_of(second)[0] == "part-00003.jsonl[268435456:536870912]"
    assert "50 of 200</output>" in second


def test_the_line_below_a_chart_says_what_is_under_the_pointer(browse: Browse) -> None:
    point = """
    for (const picture of document.querySelectorAll("figure svg")) {
      const box = picture.getBoundingClientRect();
      const [clientX, clientY] = [box.left + box.width * 0.5, box.top + 12];
      picture.dispatchEvent(new PointerEvent("pointermove", {clientX, clientY}));
    }"""
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", browse(make_report(20), then=point))
    assert captions[0] == "part-00001.jsonl[0:268435456] · 2.23 s from 5 s on · 1,001 rows · 121 MB/s · node-0:100"
    assert re.fullmatch(r"[\d.,]+ [MG]B/s from [\d.]+ s to [\d.]+ s", captions[1])
    assert re.fullmatch(r"[\d.]+ s to [\d.]+ s: \d+ shards?", captions[2])
    assert re.fullmatch(r"[\d.]+ kB to [\d.]+ kB: \d+ shards?|\d+ B to [\d.]+ k?B: \d+ shards?", captions[3])


@pytest.mark.parametrize("report", [{}, {"shards": [{}, {}], "steps": [{}], "quarantine_samples": [{}]}])
def test_a_browser_shows_a_report_with_next_to_nothing_in_it(browse: Browse, report: dict[str, Any]) -> None:
    page = browse(report)
    assert ('id="no-shards" class="empty" hidden=""' in page) == bool(report)


def on_nodes(report: dict[str, Any]) -> dict[str, Any]:
    """The report of a run on two nodes, whose first three shards were decompressed by another worker."""
    nodes = [{"host": f"node-{number}", "ip": f"10.0.0.{number + 1}", "id": f"{number}f" * 28} for number in range(2)]
    for number, shard in enumerate(report["shards"]):
        done = {"begin": number * 1.5, "seconds": 1.25, "bytes_in": 2 * 10**7, "bytes_out": 6 * 10**7}
        shard["decoding"] = {**done, "worker": "node-0:7", "node": nodes[0]} if number < 3 else None
        shard["passes"][0]["node"] = nodes[number % 2]
    return report


def test_a_browser_shows_who_decompressed_a_file_and_on_which_node_shards_were_made(browse: Browse) -> None:
    hover = """
    const picture = document.querySelector("#timeline svg");
    const box = picture.getBoundingClientRect();
    const [clientX, clientY] = [box.left + 155, box.top + 12];
    picture.dispatchEvent(new PointerEvent("pointermove", {clientX, clientY}));"""
    page = browse(on_nodes(make_report(20)), then=hover)
    assert drawn(page) == dict.fromkeys(CHARTS, "true")
    caption = re.search(r"<figcaption>(.*?)</figcaption>", page)
    assert caption is not None
    assert caption[1] == "part-00000.jsonl[0:268435456] · 1.25 s from 0 s on · decompressed 20 MB to 60 MB · node-0:7"
    assert "decompressed for others to compute" in page
    assert '<span class="label">decompressing</span>' in page
    assert 'title="node 1f1f' in page
    assert "10.0.0.2 · 1f1f1f1f" in page
    assert "20 shards on 5 workers of 2 nodes" in browse(on_nodes(make_report(20)))
    assert table_of(browse(on_nodes(make_report(20)), then=SEARCH + 'find("10.0.0.2", "all")'))[0].startswith(
        "part-00000.jsonl[268435456:"
    )


def test_a_browser_shows_how_far_a_run_came_that_failed(browse: Browse) -> None:
    report = make_report(20, status="failed", error="StepError: no", output={})
    report["shards"][7]["complete"] = False
    report["totals"] |= {"complete": 19, "computed": 19}
    report["source"]["shards"] = 50
    page = browse(report, then=SEARCH + 'find("", "unfinished")')
    assert drawn(page) == dict.fromkeys(CHARTS, "true")
    assert ">19 of 50</dd>" in page
    assert table_of(page) == ["part-00000.jsonl[1879048192:2147483648]"]


def test_a_browser_shows_a_quarantined_row_with_its_columns_and_its_traceback_folded(browse: Browse) -> None:
    samples = [
        {
            "source": "/data/corpus/part-00000.jsonl",
            "row": 12_345,
            "byte_offset": None,
            "step": "step 2 `Tokenize`",
            "exception": "ValueError",
            "message": "too odd",
            "traceback": "Traceback ...",
            "row_json": '{"text": "a\\nb", "ids": [1, 2], "__proto__": 1}',
        },
        {"source": "cut", "row_json": '{"text": "aaa'},
    ]
    page = browse(make_report(9, quarantine_samples=samples))
    first, second = re.findall(r"<article>.*?</article>", page, re.DOTALL)
    assert "<span>part-00000.jsonl</span><span>row 12,345</span><span>step 2 `Tokenize`</span></h3>" in first
    assert ">ValueError: too odd</p>" in first
    assert re.findall(r"<dt>(.*?)</dt><dd><pre>(.*?)</pre>", first, re.DOTALL) == [
        ("text", "a\nb"),
        ("ids", "[1,2]"),
        ("__proto__", "1"),
    ]
    assert "<details><summary>Traceback</summary><pre>Traceback ...</pre></details>" in first
    assert '<dt>row</dt><dd><pre>{"text": "aaa</pre>' in second


def test_a_browser_shows_dashes_for_a_run_that_was_stopped_while_it_was_planned(browse: Browse) -> None:
    tiles = tiles_in(browse(Report("early", 0.0, status="cancelled", error="KeyboardInterrupt").as_dict()))
    assert {value for value, _ in tiles.values()} == {"\N{EN DASH}"}
