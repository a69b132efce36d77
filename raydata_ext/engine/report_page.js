"use strict";
// The page around the charts: figures as tiles, tables and sentences. `report` is what report_page.py has put into the page.

const report = JSON.parse(document.getElementById("data").textContent);
const shards = report.shards;
shards.label = decodeLabels(shards.label);
const everyShard = shards.label.map((_, shard) => shard);
const timed = everyShard.filter((shard) => shards.begin[shard] != null && shards.seconds[shard] != null);
const computed = timed.filter((shard) => !shards.cached[shard]);
const commonFolder = findCommonFolder(shards.label);
const byId = (id) => document.getElementById(id);

showFacts();
showTiles();
showOutput();
byId("no-shards").hidden = everyShard.length > 0;
showSteps();
if (everyShard.length) showCharts();
showReasons();
showSlowest();
if (everyShard.length) showShards();
showSamples();

function decodeLabels(pairs) {
  let before = [];
  return pairs.map(([common, rest]) => {
    before = [...before.slice(0, common), ...rest];
    return before.join("");
  });
}

/** The folder that all labels are in, with its slash; "" where there is none. */
function findCommonFolder(labels) {
  if (labels.length < 2) return "";
  let folder = labels[0].slice(0, labels[0].lastIndexOf("/") + 1);
  for (const label of labels) {
    while (!label.startsWith(folder)) folder = folder.slice(0, folder.lastIndexOf("/", folder.length - 2) + 1);
  }
  return folder;
}

function showFacts() {
  const { total, ...phases } = report.seconds;
  const sum = Object.values(phases).reduce((a, b) => a + b, 0);
  const facts = [];
  if (total != null || sum) facts.push(`Took ${format.duration(total ?? sum)}`);
  for (const [phase, seconds] of Object.entries(phases)) facts.push(`${phase} ${format.duration(seconds)}`);
  if (report.executors.length) facts.push(`run by ${report.executors.join(", ")}`);
  document.querySelector(".facts").append(...facts.map((fact) => element("span", {}, fact)));
}

function showTiles() {
  const { source, output, totals } = report;
  const ofRows = (rows) => (totals.rows_in ? `${format.percent(rows / totals.rows_in)} of rows in` : "");
  const begun = computed.reduce((first, shard) => Math.min(first, shards.begin[shard]), Infinity);
  const ended = computed.reduce((last, shard) => Math.max(last, shards.begin[shard] + shards.seconds[shard]), 0);
  const read = computed.reduce((sum, shard) => sum + (shards.bytes_in[shard] ?? 0), 0);
  const tiles = [
    ["Files", format.count(source.files), source.format ?? ""],
    ["Shards", format.count(totals.shards), `${format.count(totals.computed)} computed · ${format.count(totals.cached)} cached`],
    ["Data in", format.bytes(totals.bytes_in ?? source.bytes), ""],
    ["Data out", format.bytes(output.bytes ?? totals.bytes_out), ""],
    ["Speed", computed.length ? format.rate(read / (ended - begun)) : "–", computed.length ? "while computing" : "nothing computed"],
    ["Rows in", format.count(totals.rows_in), ""],
    ["Rows out", format.count(totals.rows_out), ofRows(totals.rows_out)],
    ["Filtered", format.count(totals.filtered), ofRows(totals.filtered)],
    ["Quarantined", format.count(totals.quarantined), totals.quarantined ? ofRows(totals.quarantined) : ""],
    ["Tokens", output.tokens ? format.count(output.tokens) : "–", output.tokens && output.rows ? `${digits(output.tokens / output.rows)} per row` : ""],
  ];
  byId("tiles").append(
    ...tiles.map(([name, value, detail]) =>
      element("div", { class: name === "Quarantined" && totals.quarantined ? "warn" : "" },
        element("dt", {}, name), element("dd", { class: value.length > 13 ? "value long" : "value" }, value), element("dd", { class: "detail" }, detail))),
  );
}

function showOutput() {
  const { path, files, written } = report.output;
  if (!path) return;
  const details = [files == null ? "" : plural(files, "file"), written === false ? "was there already" : written ? "written" : ""];
  byId("output").append(
    element("span", { class: "name" }, "Output"), element("code", {}, path), element("span", { class: "muted" }, details.filter(Boolean).join(" · ")),
  );
  byId("output").hidden = false;
}

function showSteps() {
  if (!report.steps.length) return;
  const all = report.steps.reduce((sum, step) => sum + (step.seconds ?? 0), 0);
  const reasons = (step) => {
    const named = step.filtered.slice(0, 5).map(([reason, rows]) => element("li", {}, `${format.count(rows)} ${reason}`));
    const others = step.filtered.length - named.length;
    return element("ul", { class: "plain" }, ...named, ...(others > 0 ? [element("li", {}, `and ${plural(others, "other reason")}`)] : []));
  };
  const columns = [
    { name: "Step", cell: (step) => element("span", { class: "label" }, step.step ?? "") },
    { name: "Rows in", numeric: true, cell: (step) => format.count(step.rows_in) },
    { name: "Rows out", numeric: true, cell: (step) => format.count(step.rows_out) },
    { name: "Filtered", cell: (step) => (step.filtered.length ? reasons(step) : "–") },
    { name: "Time", numeric: true, cell: (step) => format.duration(step.seconds) },
    { name: "Share of time", cell: (step) => meter(all ? step.seconds / all : 0, format.percent(all ? step.seconds / all : 0)) },
  ];
  byId("steps").querySelector(".scroll").append(table(columns, report.steps));
  byId("steps").hidden = false;
}

function showCharts() {
  byId("charts").hidden = false;
  const end = timed.reduce((last, shard) => Math.max(last, shards.begin[shard] + shards.seconds[shard]), 0);
  if (end > 0) {
    showTimeline(end);
    showThroughput(end);
  } else {
    byId("charts").classList.add("untimed");
    mountSentence(byId("timeline"), "All shards came from the cache, so no worker had anything to do.");
    mountSentence(byId("throughput"), "Nothing was read in this run.");
  }
  const times = computed.map((shard) => shards.seconds[shard]);
  if (times.length) histogramChart(byId("durations"), spread(times, format.duration, "longest"), { values: times, name: format.duration, axisTicks: timeTicks });
  else mountSentence(byId("durations"), "No shard was computed in this run.");
  const sizes = everyShard.filter((shard) => shards.rows_out[shard] > 0).map((shard) => shards.bytes_out[shard] / shards.rows_out[shard]);
  const summary = `Bytes out per row, mean of each shard: ${spread(sizes, format.bytes, "largest").toLowerCase().replace(/\b(k|m|g)?b\b/g, (unit) => unit)}`;
  if (sizes.length) histogramChart(byId("row-sizes"), summary, { values: sizes, name: format.bytes, axisTicks: numberTicks });
  else mountSentence(byId("row-sizes"), "No rows came out.");
}

function showTimeline(end) {
  const lanes = shards.workers.map((name, worker) => ({ name, worker }));
  lanes.sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
  const laneOf = new Map(lanes.map(({ worker }, lane) => [worker, lane]));
  const kind = (shard) => (shards.cached[shard] ? "found" : shards.attempt[shard] > 1 ? "retried" : "computed");
  const bars = timed
    .filter((shard) => laneOf.has(shards.worker[shard]))
    .map((shard) => ({ shard, lane: laneOf.get(shards.worker[shard]), begin: shards.begin[shard], seconds: shards.seconds[shard], kind: kind(shard) }));
  const busy = bars.reduce((sum, bar) => sum + bar.seconds, 0);
  const first = bars.reduce((least, bar) => Math.min(least, bar.begin), end);
  const share = format.percent(Math.min(1, busy / (lanes.length * (end - first) || 1)));
  timelineChart(byId("timeline"), `${plural(bars.length, "shard")} on ${plural(lanes.length, "worker")}, which were busy ${share} of the time.`, {
    bars, end,
    lanes: lanes.map(({ name }) => name),
    kinds: { computed: "computed", retried: "computed after a retry", found: "found in the cache" },
    describe: ({ shard }) =>
      `${shortLabel(shard)} · ${format.duration(shards.seconds[shard])} from ${format.duration(shards.begin[shard])} · ` +
      `${plural(shards.rows_in[shard] ?? 0, "row")} · ${format.rate(speed(shard))} · ${shards.workers[shards.worker[shard]]}`,
  });
}

function showThroughput(end) {
  const spans = computed.map((shard) => ({ begin: shards.begin[shard], seconds: shards.seconds[shard], bytes: shards.bytes_in[shard] ?? 0 }));
  throughputChart(byId("throughput"), "MB of input per second, all workers together; a shard counts evenly over the time it took.", {
    spans, end,
    describe: (from, to, rate) => `${format.rate(rate)} from ${format.duration(from)} to ${format.duration(to)}`,
  });
}

function spread(values, name, extreme) {
  const sorted = Float64Array.from(values).sort();
  const quantile = (share) => name(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]);
  return sorted.length === 1 ? `One shard: ${quantile(0)}.` : `Median ${quantile(0.5)}, 90 % up to ${quantile(0.9)}, ${extreme} ${quantile(1)}.`;
}

function showReasons() {
  const reasons = report.totals.filtered_by;
  if (!reasons.length) return;
  const [shown, rest] = [reasons.slice(0, 20), reasons.slice(20)];
  if (rest.length) shown.push([plural(rest.length, "rarer reason"), rest.reduce((sum, [, rows]) => sum + rows, 0)]);
  const most = Math.max(...shown.map(([, rows]) => rows));
  byId("reasons").querySelector("ol").append(
    ...shown.map(([reason, rows]) =>
      element("li", {}, element("span", { class: "label" }, reason), element("span", { class: "amount" }, format.count(rows)), meter(rows / most, ""))),
  );
  byId("reasons").hidden = false;
  byId("reasons").dataset.drawn = "true";
}

function showSlowest() {
  if (computed.length < 2) return;
  const slowest = [...computed].sort((a, b) => shards.seconds[b] - shards.seconds[a]).slice(0, 10);
  const longest = shards.seconds[slowest[0]];
  const columns = [
    SHARD_COLUMNS.label, SHARD_COLUMNS.rowsIn, SHARD_COLUMNS.bytesIn,
    { name: "MB/s", numeric: true, cell: (shard) => format.rate(speed(shard)).replace(" MB/s", "") },
    SHARD_COLUMNS.worker, SHARD_COLUMNS.seconds,
    { name: "", cell: (shard) => meter(shards.seconds[shard] / (longest || 1), "") },
  ];
  byId("slowest").querySelector(".scroll").append(table(columns, slowest));
  byId("slowest").hidden = false;
}

function showSamples() {
  if (!report.samples.length) return;
  const total = report.totals.quarantined ?? report.samples_total;
  const section = byId("samples");
  section.querySelector(".note").textContent =
    `${format.count(report.samples.length)} of ${plural(total, "row")} that were set aside; all of them are in quarantine/*.jsonl.`;
  section.querySelector(".samples").append(...report.samples.map(sampleCard));
  section.hidden = false;
}
