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
  const [rows, work] = [rowTiles(), workTiles()];
  const columns = `--columns:${Math.max(rows.length, work.length)}`;
  section("tiles").append(
    ...[rows, work].map((tiles) => element("dl", { class: "tiles", style: columns }, tiles.map(tile))),
  );
}

/** Rows in + rows added = rows out + filtered + quarantined. */
function rowTiles() {
  const { rows_in, rows_added = 0, rows_out, filtered, quarantined } = report.totals;
  // Sums over no shard at all say nothing of what a run that failed has done.
  const results = (count) => (everyShard.length ? format.count(count) : "–");
  // Where steps make several rows of one, or one of several, a share of the rows that came in says nothing.
  const share = (rows) =>
    rows_in && rows != null && !rows_added ? `${format.percent(rows / rows_in)} of rows in` : "";
  const perRow = rows_in && rows_added ? `${digits(rows_out / rows_in)} for each row in` : "";
  const adding = rows_added > 0 ? "by steps that make several of one" : "by steps that make one of several";
  return [
    ["Rows in", results(rows_in), ""],
    ...(rows_added ? [["Rows added", results(rows_added), adding]] : []),
    ["Rows out", results(rows_out), share(rows_out) || perRow],
    ["Filtered", results(filtered), share(filtered)],
    ["Quarantined", results(quarantined), share(quarantined), quarantined ? "warn" : ""],
  ];
}

function workTiles() {
  const { source, output, totals } = report;
  const read = sum(computed.map((shard) => shards.bytes_in[shard] ?? 0));
  const rate = read ? read / (lastEnd(computing) - firstBegin(computing)) : undefined;
  const idle = computed.length ? "no bytes were read" : everyShard.length ? "nothing was computed" : "";
  const retried = computed.filter((shard) => shards.attempt[shard] > 1).length;
  const made = [`${format.count(totals.computed)} computed`, `${format.count(totals.cached)} cached`];
  if (retried) made.push(`${format.count(retried)} retried`);
  // A big compressed file is one shard of the source, and as many as it has parts once it is read.
  const planned = Math.max(source.shards ?? 0, totals.shards ?? 0);
  const finished = totals.complete ?? totals.shards ?? 0;
  const all = `${finished < planned ? `${format.count(finished)} of ` : ""}${format.count(planned)}`;
  const isKnown = source.shards != null || everyShard.length > 0;
  const files = source.files == null ? "" : [plural(source.files, "file"), source.format].filter(Boolean).join(", ");
  const perRow = `${digits(output.tokens / output.rows)} per row`;
  const bytesOut = everyShard.length ? format.bytes(output.bytes ?? totals.bytes_out) : "–";
  return [
    ["Shards", isKnown ? all : "–", everyShard.length ? made.join(", ") : ""],
    ["Data in", isKnown ? format.bytes(source.bytes ?? totals.bytes_in) : "–", files],
    ["Data out", bytesOut, output.files == null ? "" : plural(output.files, "file")],
    ["Speed", format.rate(rate), read ? "while computing" : idle],
    ...(output.tokens ? [["Tokens", format.count(output.tokens), perRow]] : []),
  ];
}

function tile([name, value, detail, kind = ""]) {
  return element(
    "div",
    { class: kind },
    element("dt", {}, name),
    element("dd", { class: value.length > 15 ? "value long" : "value" }, value),
    element("dd", {}, detail),
  );
}

function showOutput() {
  const { path, written } = report.output;
  if (!path) return;
  section("output").append(
    element("span", {}, "Output"),
    element("code", {}, path),
    element("span", {}, written == null ? "" : written ? "written by this run" : "was there already, unchanged"),
  );
  section("output").hidden = false;
}

function showSteps() {
  if (!report.steps.length) return;
  const decompressing = { step: "decompressing", seconds: sum(decoded.map(({ seconds }) => seconds)) };
  const steps = decoded.length ? [decompressing, ...report.steps] : report.steps;
  const all = sum(steps.map((step) => step.seconds ?? 0));
  const share = (step) => (all ? (step.seconds ?? 0) / all : 0);
  const timed = (step) => step.seconds > 0;
  const columns = [
    { name: "Step", cell: (step) => [element("span", { class: "label" }, step.step ?? ""), whatOf(step)] },
    { name: "Rows in", numeric: true, cell: (step) => format.count(step.rows_in) },
    { name: "Rows out", numeric: true, cell: (step) => format.count(step.rows_out) },
    { name: "Time", numeric: true, cell: (step) => (timed(step) ? format.duration(step.seconds) : "–") },
    { name: "Share", numeric: true, cell: (step) => (timed(step) ? format.percent(share(step)) : "–") },
    { name: "", cell: (step) => (timed(step) ? meter(share(step)) : "") },
  ];
  reveal("steps").querySelector(".scroll").append(table(columns, steps));
}

/** What a step filtered, set aside and counted, a line each. */
function whatOf({ rows_in, filtered = [], quarantined, counts = [] }) {
  const line = (number, name, detail = "") =>
    element("li", {}, element("b", {}, format.count(number)), ` ${name}`, element("small", {}, detail));
  const rows = (number, name) => line(number, name, rows_in ? ` ${format.percent(number / rows_in)}` : "");
  const rest = filtered.slice(5);
  const lines = filtered.slice(0, 5).map(([reason, number]) => rows(number, `filtered: ${reason}`));
  if (rest.length)
    lines.push(rows(sum(rest.map(([, number]) => number)), `filtered: ${plural(rest.length, "other reason")}`));
  if (quarantined) lines.push(rows(quarantined, "quarantined"));
  lines.push(...counts.map(([name, number]) => line(number, name)));
  return element("ul", {}, ...lines);
}

function showCharts() {
  if (!everyShard.length) return;
  reveal("charts");
  const end = lastEnd([...passes, ...decoded]);
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
  const lanes = shards.workers.map((_, worker) => ({ name: workerName(worker), worker }));
  lanes.sort((a, b) => byName.compare(a.name, b.name));
  const laneOf = new Map(lanes.map(({ worker }, lane) => [worker, lane]));
  const kindOf = ({ cached, attempt }) => (cached ? "found" : attempt > 1 ? "retried" : "computed");
  const bars = [
    ...passes.map((pass) => ({ ...pass, kind: kindOf(pass) })),
    ...decoded.map((part) => ({ ...part, kind: "decoded" })),
  ].map((bar) => ({ ...bar, lane: laneOf.get(bar.worker) }));
  // Workers that died and those that took their place were never there at once: a share of them all would say little.
  const busy = sum(bars.map((bar) => bar.seconds)) / (end - firstBegin(bars) || 1);
  const alone = `busy ${format.percent(Math.min(1, busy))} of the time`;
  const howMany = lanes.length > 1 ? `${digits(busy)} of them busy on average` : alone;
  const nodes = shards.nodes.length ? ` of ${plural(shards.nodes.length, "node")}` : "";
  const inHand = new Set(passes.map((pass) => pass.shard)).size;
  const who = `${plural(inHand, "shard")} on ${plural(lanes.length, "worker")}${nodes}`;
  const memory = shards.memory ? `; at most ${format.bytes(shards.memory)} of memory in a worker` : "";
  timelineChart(section("timeline"), `${who}, ${howMany} from the first shard to the last${memory}`, {
    bars,
    end,
    lanes: lanes.map(({ name }) => name),
    kinds: {
      computed: "computed",
      retried: "computed after a retry",
      found: "found in the cache",
      decoded: "decompressed for others to compute",
    },
    describe: ({ shard, worker, begin, seconds, kind, bytes_in: bytesIn, bytes_out: bytesOut }) => {
      const time = `${format.duration(seconds)} from ${format.duration(begin)} on`;
      const work = {
        found: () => "found in the cache",
        decoded: () => `decompressed ${format.bytes(bytesIn)} to ${format.bytes(bytesOut)}`,
      }[kind] ?? (() => `${plural(shards.rows_in[shard] ?? 0, "row")} · ${format.rate(speed(shard))}`);
      return [shortLabel(shard), time, work(), workerName(worker)].join(" · ");
    },
  });
}

function showThroughput(end) {
  const spans = computing.map(({ shard, begin, seconds }) => ({
    begin,
    seconds,
    bytes: ((shards.bytes_in[shard] ?? 0) * seconds) / (shards.seconds[shard] || 1),
  }));
  if (!sum(spans.map(({ bytes }) => bytes))) {
    mountSentence(section("throughput"), "No bytes were read.");
    return;
  }
  throughputChart(
    section("throughput"),
    "Input of all workers together; that of each shard is spread evenly over the time it took",
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
  const rate = { name: "Speed", numeric: true, cell: (shard) => format.rate(speed(shard)) };
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

/** One quarantined row: where it is from, what failed on it, and what it was. */
function sampleCard(fields) {
  const { source, row, step, exception, message, traceback, row_json: json, ...others } = Object.fromEntries(fields);
  const place = [
    source && (commonFolder ? source.replaceAll(commonFolder, "") : source),
    row && `row ${Number.isFinite(+row) ? format.count(+row) : row}`,
    step,
  ].filter(Boolean);
  const error = [exception, message].filter(Boolean).join(": ");
  const values = [...Object.entries(others), ...columnsOf(json)];
  return element(
    "article",
    {},
    element("h3", { class: "label", title: source ?? "" }, place.map((text) => element("span", {}, text))),
    error ? element("p", { class: "label" }, error) : "",
    element(
      "dl",
      {},
      values.flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, element("pre", {}, text))]),
    ),
    traceback ? element("details", {}, element("summary", {}, "Traceback"), element("pre", {}, traceback)) : "",
  );
}

/** The columns of a row that came as JSON; the JSON itself, if it was cut or is no object. */
function columnsOf(json) {
  if (json == null) return [];
  try {
    return Object.entries(JSON.parse(json)).map(([name, value]) => [
      name,
      typeof value === "string" ? value : JSON.stringify(value),
    ]);
  } catch {
    return [["row", json]];
  }
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

function firstBegin(work) {
  return work.reduce((first, { begin }) => Math.min(first, begin), Infinity);
}

function lastEnd(work) {
  return work.reduce((last, { begin, seconds }) => Math.max(last, begin + seconds), 0);
}

function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}
