"use strict";
// The shards: their figures, a column each, and tables of them. A shard is a number, its place in every column.

const report = JSON.parse(document.getElementById("data").textContent);
const shards = { ...report.shards, label: decodeLabels(report.shards.label) };
const everyShard = shards.label.map((_, shard) => shard);
/** What workers had in hand: a shard passes each group of steps that was missing, often on different workers. */
const passes = workOf(report.shards.passes);
/** Passes whose result a worker did not find in the cache after all. */
const computing = passes.filter((pass) => !pass.cached);
const computed = [...new Set(computing.map((pass) => pass.shard))];
/** Parts of big compressed files, each decompressed by one worker before it was computed. */
const decoded = workOf(report.shards.decoding);
const passesOf = everyShard.map(() => []);
for (const pass of passes) passesOf[pass.shard].push(pass);
const commonFolder = findCommonFolder(shards.label);
const commonDomain = findCommonDomain(shards.workers);
const PAGE_ROWS = 25;
/** `w-9` before `w-10`. */
const byName = new Intl.Collator("en", { numeric: true });

const SHARD_COLUMNS = {
  label: { name: "Shard", value: (shard) => shard, cell: labelCell },
  state: { name: "State", value: stateOf, cell: stateOf },
  rowsIn: countColumn("Rows in", "rows_in"),
  rowsOut: countColumn("Rows out", "rows_out"),
  filtered: { ...countColumn("Filtered", "filtered"), optional: true },
  quarantined: { ...countColumn("Quarantined", "quarantined"), optional: true },
  bytesIn: column("Data in", "bytes_in", format.bytes),
  bytesOut: column("Data out", "bytes_out", format.bytes),
  begin: {
    name: "Start",
    numeric: true,
    value: beginOf,
    cell: (shard) => format.duration(beginOf(shard)),
    optional: true,
  },
  seconds: { ...column("Time", "seconds", format.duration), optional: true },
  worker: { name: "Worker", value: (shard) => workersOf(shard).join(" "), cell: workerCell, optional: true },
};

/** Rows of columns of equal length. The clock of a node may be behind that of the driver. */
function workOf(columns) {
  const names = Object.keys(columns);
  return columns.shard.map((_, row) => {
    const work = Object.fromEntries(names.map((name) => [name, columns[name][row]]));
    return { ...work, begin: Math.max(work.begin ?? 0, 0), seconds: work.seconds ?? 0 };
  });
}

/** Labels come as [characters in common with the label before, the rest]; a character is a code point. */
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

/** The end that the names of all hosts have in common, from a dot on; "" where there is none. */
function findCommonDomain(workers) {
  const hosts = workers.map((worker) => String(worker).replace(/:\d+$/, ""));
  if (!hosts.length || hosts.some((host) => /^[\d.]+$/.test(host))) return "";
  const behindDot = (name) => (name.includes(".", 1) ? name.slice(name.indexOf(".", 1)) : "");
  let domain = behindDot(hosts[0]);
  for (const host of hosts) while (!host.endsWith(domain)) domain = behindDot(domain);
  return domain;
}

/** The label below the common folder; labels of several files name the first and the last one. */
function shortLabel(shard) {
  return commonFolder ? shards.label[shard].replaceAll(commonFolder, "") : shards.label[shard];
}

/** `host:pid`, without the domain that all hosts are in. */
function workerName(worker) {
  return commonDomain ? String(shards.workers[worker]).replace(commonDomain, "") : String(shards.workers[worker] ?? "");
}

function workersOf(shard) {
  return [...new Set(passesOf[shard].map((pass) => workerName(pass.worker)))];
}

function beginOf(shard) {
  return passesOf[shard].length ? Math.min(...passesOf[shard].map((pass) => pass.begin)) : undefined;
}

/** Host, address and Ray's id of the node of a worker. */
function nodeOf(worker) {
  return shards.nodes[shards.node_of[worker]] ?? [];
}

/** The workers of a shard; where there are several nodes, with the address and the begin of Ray's id of each. */
function workerCell(shard) {
  const workers = [...new Set(passesOf[shard].map((pass) => pass.worker))];
  return workers.flatMap((worker) => {
    const [, ip, id] = nodeOf(worker);
    const name = element("span", { class: "worker", title: shards.workers[worker] ?? "" }, workerName(worker));
    const node = [ip, id?.slice(0, 8)].filter(Boolean).join(" · ");
    if (shards.nodes.length < 2 || !node) return name;
    return [name, element("small", { class: "worker muted", title: `node ${id}` }, node)];
  });
}

/** Bytes of input per second; undefined where the shard was not computed, or is a part of a file that took none. */
function speed(shard) {
  return shards.seconds[shard] > 0 && shards.bytes_in[shard] > 0 && !shards.cached[shard]
    ? shards.bytes_in[shard] / shards.seconds[shard]
    : undefined;
}

function stateOf(shard) {
  if (!shards.complete[shard]) return "unfinished";
  if (shards.cached[shard]) return "cached";
  return shards.attempt[shard] > 1 ? `attempt ${shards.attempt[shard]}` : "computed";
}

function column(name, key, show) {
  return { name, numeric: true, value: (shard) => shards[key][shard], cell: (shard) => show(shards[key][shard]) };
}

function countColumn(name, key) {
  return column(name, key, format.count);
}

/** The label with folders dimmed, preferably broken before or within a range of bytes. */
function labelCell(shard) {
  const parts = shortLabel(shard)
    .split(/([^\s/]*\/)|(?=\[)|(?<=:)/)
    .filter(Boolean);
  const nodes = parts.map((part) =>
    part.endsWith("/") ? element("span", { class: "muted" }, part) : [element("wbr"), part],
  );
  return element("span", { class: "label", title: shards.label[shard] }, ...nodes.flat());
}

/** A table of anything: columns are {name, numeric, cell: (item) => text or node}; `head` fills a heading. */
function table(columns, items, head = (column) => column.name) {
  const kind = (column) => (column.numeric ? { class: "number" } : {});
  const headings = columns.map((column) => element("th", { scope: "col", ...kind(column) }, head(column)));
  const rows = items.map((item) =>
    element(
      "tr",
      {},
      columns.map((column) => element("td", kind(column), column.cell(item))),
    ),
  );
  return element("table", {}, element("thead", {}, element("tr", {}, headings)), element("tbody", {}, rows));
}

/** The table of all shards: searched, sorted by any column, a page at a time. */
function mountShardTable(section) {
  const [form, holder, pages] = ["form", ".scroll", ".pages"].map((selector) => section.querySelector(selector));
  const states = {
    all: ["All", () => true],
    unfinished: ["Unfinished", (shard) => !shards.complete[shard]],
    computed: ["Computed", (shard) => !shards.cached[shard]],
    cached: ["Cached", (shard) => shards.cached[shard]],
    retried: ["Retried", (shard) => !shards.cached[shard] && shards.attempt[shard] > 1],
    filtered: ["With filtered rows", (shard) => shards.filtered[shard] > 0],
    quarantined: ["With quarantined rows", (shard) => shards.quarantined[shard] > 0],
  };
  for (const [state, [name, belongs]] of Object.entries(states)) {
    const count = everyShard.filter(belongs).length;
    if (count) form.elements.state.append(element("option", { value: state }, `${name} (${format.count(count)})`));
  }
  const columns = Object.values(SHARD_COLUMNS).filter((column) => !column.optional || everyShard.some(column.value));
  const places = (shard) => passesOf[shard].flatMap(({ worker }) => [shards.workers[worker], ...nodeOf(worker)]);
  const text = everyShard.map((shard) => [shards.label[shard], ...places(shard)].join("\n").toLowerCase());
  const view = { column: SHARD_COLUMNS.label, descending: false, page: 0 };

  const show = () => {
    const query = form.elements.query.value.trim().toLowerCase();
    const belongs = states[form.elements.state.value][1];
    const found = everyShard.filter((shard) => belongs(shard) && text[shard].includes(query));
    const values = everyShard.map(view.column.value);
    found.sort((a, b) => compare(values[a], values[b]) * (view.descending ? -1 : 1) || a - b);
    const last = Math.max(Math.ceil(found.length / PAGE_ROWS) - 1, 0);
    view.page = Math.max(0, Math.min(view.page, last));
    const first = view.page * PAGE_ROWS;
    const page = found.slice(first, first + PAGE_ROWS);
    const focused = [...holder.querySelectorAll("th button")].indexOf(document.activeElement);
    holder.replaceChildren(table(columns, page, heading));
    holder.querySelectorAll("th").forEach((cell, position) => {
      if (columns[position] === view.column)
        cell.setAttribute("aria-sort", view.descending ? "descending" : "ascending");
    });
    holder.querySelectorAll("th button")[focused]?.focus();
    pages.querySelector("output").textContent = found.length
      ? `${format.count(first + 1)}–${format.count(first + page.length)} of ${format.count(found.length)}`
      : "No shard matches";
    const [back, on] = pages.querySelectorAll("button");
    [back.disabled, on.disabled] = [view.page === 0, view.page === last];
  };
  const heading = (column) => {
    const button = element("button", { type: "button" }, column.name);
    button.addEventListener("click", () => {
      view.descending = view.column === column ? !view.descending : Boolean(column.numeric);
      [view.column, view.page] = [column, 0];
      show();
    });
    return button;
  };
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => {
    view.page = 0;
    show();
  });
  pages.addEventListener("click", ({ target }) => {
    view.page += Number(target.dataset.move ?? 0);
    show();
  });
  show();
}

/** Missing values come last in ascending order. */
function compare(a, b) {
  if (a == null || b == null) return (a == null) - (b == null);
  return typeof a === "string" ? byName.compare(a, b) : a - b;
}
