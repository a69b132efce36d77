"use strict";
// The sections of the page, from top to bottom.

const section = (id) => document.getElementById(id);

showFacts();
showTiles();
showOutput();
section("no-shards").hidden = everyShard.length > 0;
showSteps();
showCharts();
showReasons();
showSlowest();
showShards();
showSamples();

function showFacts() {
  const { total, ...phases } = report.seconds;
  const seconds = total ?? sum(Object.values(phases));
  const facts = seconds ? [`Took ${format.duration(seconds)}`] : [];
  for (const [phase, time] of Object.entries(phases)) facts.push(`${phase} ${format.duration(time)}`);
  if (report.executors.length) facts.push(`Executor ${report.executors.join(", ")}`);
  document.querySelector(".facts").append(...facts.map((fact) => element("span", {}, fact)));
}

function showTiles() {
  const { source, output, totals } = report;
  // Sums over no shard at all say nothing of what a run that failed has done.
  const results = (count) => (everyShard.length ? format.count(count) : "–");
  const ofRows = (rows) =>
    totals.rows_in && rows != null ? `${format.percent(rows / totals.rows_in)} of rows in` : "";
  const read = sum(computed.map((shard) => shards.bytes_in[shard] ?? 0));
  const rate = computed.length ? read / (lastEnd(computed) - firstBegin(computed)) : undefined;
  const perRow = output.tokens && output.rows ? `${digits(output.tokens / output.rows)} per row` : "";
  const made = everyShard.length
    ? `${format.count(totals.computed)} computed, ${format.count(totals.cached)} cached`
    : "";
  // A big compressed file is one shard of the source, and as many as it has parts once it is read.
  const planned = Math.max(source.shards ?? 0, totals.shards ?? 0);
  const finished = totals.complete ?? totals.shards ?? 0;
  const tiles = [
    ["Rows in", results(totals.rows_in), ""],
    ["Rows out", results(totals.rows_out), ofRows(totals.rows_out)],
    ["Filtered", results(totals.filtered), ofRows(totals.filtered)],
    ["Quarantined", results(totals.quarantined), ofRows(totals.quarantined), totals.quarantined ? "warn" : ""],
    ["Tokens", output.tokens ? format.count(output.tokens) : "–", perRow],
    ["Files", format.count(source.files), source.format ?? ""],
    ["Shards", `${finished < planned ? `${format.count(finished)} of ` : ""}${format.count(planned)}`, made],
    ["Data in", format.bytes(source.bytes ?? totals.bytes_in), ""],
    ["Data out", everyShard.length ? format.bytes(output.bytes ?? totals.bytes_out) : "–", ""],
    ["Speed", format.rate(rate), computed.length ? "while computing" : everyShard.length ? "nothing was computed" : ""],
  ];
  section("tiles").append(
    ...tiles.map(([name, value, detail, kind = ""]) =>
      element(
        "div",
        { class: kind },
        element("dt", {}, name),
        element("dd", { class: value.length > 12 ? "value long" : "value" }, value),
        element("dd", {}, detail),
      ),
    ),
  );
}

function showOutput() {
  const { path, files, written } = report.output;
  if (!path) return;
  const details = [];
  if (files != null) details.push(plural(files, "file"));
  if (written != null) details.push(written ? "written by this run" : "was there already, unchanged");
  section("output").append(
    element("span", {}, "Output"),
    element("code", {}, path),
    element("span", {}, details.join(", ")),
  );
  section("output").hidden = false;
}

function showSteps() {
  if (!report.steps.length) return;
  const decompressing = { step: "decompressing", seconds: sum(decoded.map(({ seconds }) => seconds)), filtered: [], counts: [] };
  const steps = decoded.length ? [decompressing, ...report.steps] : report.steps;
  const all = sum(steps.map((step) => step.seconds ?? 0));
  const share = (step) => (all ? (step.seconds ?? 0) / all : 0);
  const reasons = ({ filtered }) => {
    const lines = filtered.slice(0, 5).map(([reason, rows]) => [format.count(rows), reason]);
    if (filtered.length > 5)
      lines.push([
        format.count(sum(filtered.slice(5).map(([, rows]) => rows))),
        plural(filtered.length - 5, "other reason"),
      ]);
    return list(lines);
  };
  const counts = (step) => list(step.counts.map(([name, number]) => [format.count(number), name]));
  const list = (lines) =>
    element("ul", {}, ...lines.map(([number, name]) => element("li", {}, element("b", {}, number), ` ${name}`)));
  const columns = [
    { name: "Step", cell: (step) => element("span", { class: "label" }, step.step ?? "") },
    { name: "Rows in", numeric: true, cell: (step) => format.count(step.rows_in) },
    { name: "Rows out", numeric: true, cell: (step) => format.count(step.rows_out) },
    { name: "Time", numeric: true, cell: (step) => format.duration(step.seconds) },
    { name: "Share", numeric: true, cell: (step) => format.percent(share(step)) },
    { name: "", cell: (step) => meter(share(step)) },
    { name: "Filtered", cell: (step) => (step.filtered.length ? reasons(step) : "–") },
  ];
  if (steps.some((step) => step.counts.length))
    columns.push({ name: "Counted", cell: (step) => (step.counts.length ? counts(step) : "–") });
  reveal("steps").querySelector(".scroll").append(table(columns, steps));
}

function showCharts() {
  if (!everyShard.length) return;
  reveal("charts");
  const end = decoded.reduce((last, part) => Math.max(last, part.begin + part.seconds), lastEnd(timed));
  if (end > 0 && shards.workers.length) showTimeline(end);
  else
    mountSentence(
      section("timeline"),
      "Every shard came from the cache. Nothing was computed, so there are no times to show.",
    );
  const times = computed.map((shard) => shards.seconds[shard]).filter((seconds) => seconds > 0);
  section("charts").classList.toggle("untimed", !times.length);
  if (times.length) {
    showThroughput(end);
    const summary = `Time of each computed shard: ${spread(times, format.duration, "longest")}`;
    histogramChart(section("durations"), summary, { values: times, name: format.duration, axisTicks: timeTicks });
  }
  const sizes = everyShard
    .map((shard) => shards.bytes_out[shard] / shards.rows_out[shard])
    .filter((size) => size > 0 && isFinite(size));
  if (sizes.length) {
    const summary = `Bytes out per row, averaged over each shard: ${spread(sizes, format.bytes, "largest")}`;
    histogramChart(section("row-sizes"), summary, { values: sizes, name: format.bytes, axisTicks: numberTicks });
  } else mountSentence(section("row-sizes"), "No rows came out.");
}

function showTimeline(end) {
  const lanes = shards.workers.map((name, worker) => ({ name, worker }));
  lanes.sort((a, b) => byName.compare(a.name, b.name));
  const laneOf = new Map(lanes.map(({ worker }, lane) => [worker, lane]));
  const kindOf = (shard) => (shards.cached[shard] ? "found" : shards.attempt[shard] > 1 ? "retried" : "computed");
  const timedBars = timed.map((shard) => ({
    shard,
    worker: shards.worker[shard],
    begin: shards.begin[shard],
    seconds: shards.seconds[shard],
    kind: kindOf(shard),
  }));
  const bars = [...timedBars, ...decoded.map((part) => ({ ...part, kind: "decoded" }))]
    .filter((bar) => laneOf.has(bar.worker))
    .map((bar) => ({ ...bar, lane: laneOf.get(bar.worker) }));
  const begin = bars.reduce((first, bar) => Math.min(first, bar.begin), Infinity);
  const busy = sum(bars.map((bar) => bar.seconds)) / (lanes.length * (end - begin) || 1);
  const nodes = shards.nodes.length ? ` of ${plural(shards.nodes.length, "node")}` : "";
  const who = `${plural(timed.length, "shard")} on ${plural(lanes.length, "worker")}${nodes}`;
  const summary = `${who}, busy ${format.percent(Math.min(1, busy))} of the time from the first shard to the last`;
  timelineChart(section("timeline"), summary, {
    bars,
    end,
    lanes: lanes.map(({ name }) => name),
    kinds: {
      computed: "computed",
      retried: "computed after a retry",
      found: "found in the cache",
      decoded: "decompressed for others to compute",
    },
    describe: ({ shard, worker, begin, seconds, kind, bytesIn, bytesOut }) => {
      const time = `${format.duration(seconds)} from ${format.duration(begin)} on`;
      const work = {
        found: () => "found in the cache",
        decoded: () => `decompressed ${format.bytes(bytesIn)} to ${format.bytes(bytesOut)}`,
      }[kind] ?? (() => `${plural(shards.rows_in[shard] ?? 0, "row")} · ${format.rate(speed(shard))}`);
      return [shortLabel(shard), time, work(), shards.workers[worker]].join(" · ");
    },
  });
}

function showThroughput(end) {
  const spans = computed.map((shard) => ({
    begin: shards.begin[shard],
    seconds: shards.seconds[shard],
    bytes: shards.bytes_in[shard] ?? 0,
  }));
  throughputChart(
    section("throughput"),
    "Input read by all workers together; each shard is spread evenly over its time",
    {
      spans,
      end,
      describe: (from, to, rate) => `${format.rate(rate)} from ${format.duration(from)} to ${format.duration(to)}`,
    },
  );
}

function showReasons() {
  const reasons = report.totals.filtered_by;
  if (!reasons.length) return;
  const [shown, rest] = [reasons.slice(0, 20), reasons.slice(20)];
  if (rest.length) shown.push([plural(rest.length, "rarer reason"), sum(rest.map(([, rows]) => rows))]);
  const [most, all] = [Math.max(...shown.map(([, rows]) => rows)), sum(shown.map(([, rows]) => rows))];
  const bars = shown.map(([reason, rows]) =>
    element(
      "li",
      {},
      element("span", { class: "label" }, reason),
      element("span", { class: "amount" }, format.count(rows), element("small", {}, format.percent(rows / all))),
      meter(rows / most),
    ),
  );
  reveal("reasons")
    .querySelector("ol")
    .append(...bars);
  section("reasons").dataset.drawn = "true";
}

function showSlowest() {
  if (computed.length < 2) return;
  const slowest = [...computed].sort((a, b) => shards.seconds[b] - shards.seconds[a]).slice(0, 10);
  const longest = shards.seconds[slowest[0]] || 1;
  const { label, rowsIn, bytesIn, worker, seconds } = SHARD_COLUMNS;
  const rate = { name: "MB/s", numeric: true, cell: (shard) => format.rate(speed(shard)).replace(" MB/s", "") };
  const bar = { name: "", cell: (shard) => meter(shards.seconds[shard] / longest) };
  reveal("slowest")
    .querySelector(".scroll")
    .append(table([label, seconds, bar, rate, rowsIn, bytesIn, worker], slowest));
}

function showShards() {
  if (!everyShard.length) return;
  if (commonFolder)
    section("shards")
      .querySelector(".note")
      .append("All are in ", element("code", {}, commonFolder));
  mountShardTable(reveal("shards"));
}

function showSamples() {
  if (!report.samples.length) return;
  const total = Math.max(report.totals.quarantined ?? 0, report.samples_total);
  const [shown, all] = [report.samples.length, plural(total, "row")];
  reveal("samples").querySelector(".note").textContent =
    shown < total
      ? `${format.count(shown)} of ${all} that were set aside. All of them are in quarantine/*.jsonl.`
      : `${all} set aside.`;
  section("samples")
    .querySelector(".samples")
    .append(...report.samples.map(sampleCard));
}

/** One quarantined row: where it is from, and below that every other field of its record. */
function sampleCard(fields) {
  const heading = ["source", "row", "step"];
  const place = fields.filter(([name, text]) => heading.includes(name) && text.length < 300);
  const others = fields.filter((field) => !place.includes(field));
  return element(
    "article",
    {},
    element(
      "h3",
      { class: "label" },
      place.map(([name, text]) => element("span", {}, name === "source" ? text : `${name} ${text}`)),
    ),
    element(
      "dl",
      {},
      others.flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, element("pre", {}, text))]),
    ),
  );
}

function reveal(id) {
  section(id).hidden = false;
  return section(id);
}

/** A bar whose length is a share; the figure stands beside it, so it is nothing to read aloud. */
function meter(share) {
  return element(
    "span",
    { class: "meter", "aria-hidden": "true" },
    element("i", { style: `width:${(share * 100).toFixed(2)}%` }),
  );
}

function spread(values, name, extreme) {
  const sorted = Float64Array.from(values).sort();
  const quantile = (share) => name(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]);
  if (sorted.length === 1) return quantile(0);
  return `median ${quantile(0.5)}, 90 % up to ${quantile(0.9)}, ${extreme} ${quantile(1)}`;
}

function firstBegin(some) {
  return some.reduce((first, shard) => Math.min(first, shards.begin[shard]), Infinity);
}

function lastEnd(some) {
  return some.reduce((last, shard) => Math.max(last, shards.begin[shard] + shards.seconds[shard]), 0);
}

function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}
