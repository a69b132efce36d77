"use strict";
// Charts as SVG. A series is one <path> however many marks it has, so ten thousand shards are a handful of elements;
// what is under the pointer is found in the figures. Lengths are in CSS pixels, times in seconds, sizes in bytes.

const format = {
  count: (value) => (value == null ? "–" : Math.round(value).toLocaleString("en-US")),
  percent(share) {
    if (share == null) return "–";
    if (share > 0 && share < 0.001) return "< 0.1 %";
    return `${(share * 100).toFixed(share && share < 0.0995 ? 1 : 0)} %`;
  },
  bytes(value) {
    if (value == null) return "–";
    const power = value < 1000 ? 0 : Math.min(5, Math.floor(Math.log10(value) / 3));
    return `${digits(value / 1000 ** power)} ${["B", "kB", "MB", "GB", "TB", "PB"][power]}`;
  },
  rate: (value) => (value == null || !isFinite(value) ? "–" : `${format.bytes(value)}/s`),
  duration(seconds) {
    if (seconds == null) return "–";
    if (seconds > 0 && seconds < 1) return `${digits(seconds * 1000)} ms`;
    if (seconds < 59.95) return `${digits(seconds)} s`;
    const whole = Math.round(seconds);
    const parts = [
      [whole / 86400, "d"],
      [(whole / 3600) % 24, "h"],
      [(whole / 60) % 60, "min"],
      [whole % 60, "s"],
    ];
    const first = parts.findIndex(([amount]) => amount >= 1);
    const shown = parts.slice(first, first + 2).filter(([amount]) => amount >= 1);
    return shown.map(([amount, unit]) => `${Math.floor(amount)} ${unit}`).join(" ");
  },
};

/** Width of a character of an axis, about. */
const TICK_CHARACTER = 6.6;

/** Three significant digits, thousands separated, no trailing zeros. */
function digits(value) {
  return value.toLocaleString("en-US", { maximumFractionDigits: value >= 100 ? 0 : value >= 10 ? 1 : 2 });
}

/** An HTML element; children are nodes or text, never markup. */
function element(tag, attributes = {}, ...children) {
  return build(document.createElement(tag), attributes, children);
}

function svg(tag, attributes = {}, ...children) {
  return build(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function build(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children.flat());
  return node;
}

/**
 * Put a chart into a figure, and draw it again whenever the width changes.
 * @param summary what the chart shows in one sentence; stands below it until the pointer is over a mark.
 * @param draw (width) => {height, marks, describe: (x, y) => text or undefined}
 */
function mountChart(figure, summary, draw) {
  const canvas = element("div", { class: "canvas" });
  const caption = element("figcaption", {}, summary);
  figure.replaceChildren(canvas, caption);
  let drawnWidth = 0;
  const redraw = () => {
    const width = Math.floor(canvas.clientWidth);
    if (!width || width === drawnWidth) return;
    drawnWidth = width;
    const { height, marks, describe } = draw(width);
    const picture = svg("svg", { width, height, role: "img", "aria-label": summary }, marks);
    const say = (event) => {
      const box = picture.getBoundingClientRect();
      caption.textContent = describe(event.clientX - box.left, event.clientY - box.top) ?? summary;
    };
    picture.addEventListener("pointermove", say);
    picture.addEventListener("pointerdown", say);
    picture.addEventListener("pointerleave", () => (caption.textContent = summary));
    canvas.replaceChildren(picture);
    figure.dataset.drawn = "true";
  };
  redraw();
  new ResizeObserver(redraw).observe(canvas);
}

/** A sentence in place of a chart. */
function mountSentence(figure, sentence) {
  figure.replaceChildren(element("p", { class: "empty" }, sentence));
  figure.dataset.drawn = "none";
}

/**
 * Which worker did which shard when.
 * @param bars [{lane, begin, seconds, kind}], lanes the names of the lanes, kinds {kind: name in the legend}
 */
function timelineChart(figure, summary, { bars, lanes, kinds, end, describe }) {
  const byLane = lanes.map(() => []);
  for (const bar of bars) byLane[bar.lane].push(bar);
  mountChart(figure, summary, (width) => {
    const laneHeight = Math.max(lanes.length > 420 ? 1 : 2, Math.min(22, Math.floor(420 / lanes.length)));
    const longest = lanes.reduce((most, name) => Math.max(most, name.length), 0);
    const left = Math.min(longest * TICK_CHARACTER + 16, width / 4);
    const plot = { left, right: width - 12, top: 6, bottom: 6 + laneHeight * lanes.length };
    const x = linear(0, end, plot.left, plot.right);
    const gap = laneHeight >= 8 ? 3 : laneHeight >= 3 ? 1 : 0;
    const paths = {};
    byLane.forEach((lane, number) => {
      for (const { kind, from, length } of merged(lane, x))
        (paths[kind] ??= []).push(rectangle(from, plot.top + number * laneHeight, length, laneHeight - gap));
    });
    const every = Math.ceil(13 / laneHeight);
    const room = Math.floor((plot.left - 12) / TICK_CHARACTER);
    const names = lanes.flatMap((name, lane) => {
      if (lane % every || (lane && lane + every > lanes.length)) return [];
      const text = name.length > room ? `…${name.slice(1 - room)}` : name;
      const y = plot.top + lane * laneHeight + Math.max(laneHeight - gap, 8) / 2 + 4;
      return svg("text", { x: plot.left - 8, y, class: "tick", "text-anchor": "end" }, text);
    });
    const marks = [
      ...timeAxis(x, end, plot),
      ...names,
      ...Object.entries(paths).map(([kind, path]) => svg("path", { d: path.join(""), class: `bar ${kind}` })),
    ];
    const at = (px, py) => {
      const lane = Math.floor((py - plot.top) / laneHeight);
      const near = (bar) => Math.max(x(bar.begin) - px, px - x(bar.begin + bar.seconds), 0);
      const bar = (byLane[lane] ?? []).reduce(
        (best, next) => (best && near(best) <= near(next) ? best : next),
        undefined,
      );
      return bar && near(bar) < 4 ? describe(bar) : undefined;
    };
    return { height: plot.bottom + 26, marks, describe: at };
  });
  const shown = Object.keys(kinds).filter((kind) => bars.some((bar) => bar.kind === kind));
  if (shown.length > 1) {
    const entries = shown.map((kind) => element("span", { class: `key ${kind}` }, kinds[kind]));
    figure.append(element("p", { class: "legend" }, ...entries));
  }
}

/**
 * The bars of a lane as they are drawn, in pixels. Those of less than two are put together, pixel by pixel, into one
 * that is as wide as they are long and of the kind that took most of them: the last drawn would hide all others.
 */
function merged(bars, x) {
  const drawn = [];
  const pixels = new Map();
  for (const { begin, seconds, kind } of bars) {
    const [from, length] = [x(begin), x(begin + seconds) - x(begin)];
    if (length >= 2) drawn.push({ kind, from, length: length > 4 ? length - 1 : length });
    else {
      const pixel = Math.floor(from);
      if (!pixels.has(pixel)) pixels.set(pixel, {});
      const lengths = pixels.get(pixel);
      lengths[kind] = (lengths[kind] ?? 0) + length;
    }
  }
  for (const [from, lengths] of pixels) {
    const [[kind]] = Object.entries(lengths).sort((a, b) => b[1] - a[1]);
    const length = Object.values(lengths).reduce((total, one) => total + one, 0);
    drawn.push({ kind, from, length: Math.max(length, 0.6) });
  }
  return drawn;
}

/**
 * Bytes a second over time, taking it that a shard is read at an even pace.
 * @param spans [{begin, seconds, bytes}]
 */
function throughputChart(figure, summary, { spans, end, describe }) {
  mountChart(figure, summary, (width) => {
    const bins = Math.max(12, Math.min(160, Math.floor(width / 7)));
    const size = end / bins;
    const rates = new Array(bins).fill(0);
    for (const { begin, seconds, bytes } of spans) {
      const last = Math.min(bins - 1, Math.floor((begin + seconds) / size));
      for (let bin = Math.min(bins - 1, Math.floor(begin / size)); bin <= last; bin++) {
        const overlap = Math.min(begin + seconds, (bin + 1) * size) - Math.max(begin, bin * size);
        rates[bin] += seconds > 0 ? (bytes * Math.max(overlap, 0)) / seconds / size : bytes / size;
      }
    }
    const plot = { left: 78, right: width - 12, top: 10, bottom: 190 };
    const x = linear(0, end, plot.left, plot.right);
    const { y, axis } = valueAxis(Math.max(...rates), plot, (rate) => (rate ? format.rate(rate) : "0"), 0);
    const outline = rates.map((rate, bin) => `V${y(rate).toFixed(1)}H${x((bin + 1) * size).toFixed(1)}`).join("");
    const marks = [
      ...axis,
      ...timeAxis(x, end, plot),
      svg("path", { d: `M${plot.left} ${plot.bottom}${outline}V${plot.bottom}z`, class: "area" }),
      svg("path", { d: `M${plot.left} ${y(rates[0]).toFixed(1)}${outline}`, class: "line" }),
    ];
    const at = (px) => {
      const bin = Math.floor(((px - plot.left) / (plot.right - plot.left)) * bins);
      return rates[bin] === undefined ? undefined : describe(bin * size, (bin + 1) * size, rates[bin]);
    };
    return { height: plot.bottom + 26, marks, describe: at };
  });
}

/**
 * How many shards have which value; the scale is logarithmic where values span more than two orders of magnitude.
 * @param values positive numbers; name formats one of them, axisTicks is `timeTicks` or `numberTicks`
 */
function histogramChart(figure, summary, { values, name, axisTicks }) {
  const [low, high] = values.reduce(([a, b], value) => [Math.min(a, value), Math.max(b, value)], [Infinity, -Infinity]);
  const log = low > 0 && high / low > 100;
  const [from, to] = log
    ? [low, high * 1.0001]
    : high > low
      ? [low > high / 4 ? low : 0, high]
      : [low * 0.9, high * 1.1 || 1];
  const onto = log ? Math.log : (value) => value;
  const back = log ? Math.exp : (value) => value;
  mountChart(figure, log ? `${summary}; logarithmic scale` : summary, (width) => {
    const plot = { left: 52, right: width - 22, top: 10, bottom: 190 };
    const bins = Math.max(6, Math.min(30, Math.floor((width - 68) / 14), Math.ceil(2 * Math.sqrt(values.length))));
    const size = (onto(to) - onto(from)) / bins;
    const counts = new Array(bins).fill(0);
    for (const value of values) counts[Math.min(bins - 1, Math.floor((onto(value) - onto(from)) / size))]++;
    const scale = linear(onto(from), onto(to), plot.left, plot.right);
    const { y, axis } = valueAxis(Math.max(...counts), plot, format.count, 1);
    const step = (plot.right - plot.left) / bins;
    const bars = counts.map((count, bin) => {
      const rise = count && Math.max(plot.bottom - y(count), 1.5);
      return rectangle(plot.left + bin * step, plot.bottom - rise, step - 1.5, rise);
    });
    const ticks = log ? logTicks(from, to, width / 80, axisTicks) : axisTicks(from, to, width / 90);
    const marks = [
      ...axis,
      ...ticksX(ticks, (value) => scale(onto(value)), plot, name),
      svg("line", { x1: plot.left, x2: plot.right, y1: plot.bottom, y2: plot.bottom, class: "base" }),
      svg("path", { d: bars.join(""), class: "bar computed" }),
    ];
    const at = (px) => {
      const bin = Math.floor((px - plot.left) / step);
      if (counts[bin] === undefined) return undefined;
      const edge = (number) => name(back(onto(from) + number * size));
      return `${edge(bin)} to ${edge(bin + 1)}: ${plural(counts[bin], "shard")}`;
    };
    return { height: plot.bottom + 26, marks, describe: at };
  });
}

function plural(count, noun) {
  return `${format.count(count)} ${noun}${count === 1 ? "" : "s"}`;
}

function rectangle(left, top, width, height) {
  return `M${left.toFixed(1)} ${top.toFixed(1)}h${width.toFixed(1)}v${height.toFixed(1)}h-${width.toFixed(1)}z`;
}

function linear(from, to, start, stop) {
  return (value) => start + ((value - from) / (to - from || 1)) * (stop - start);
}

function timeAxis(x, end, plot) {
  const ticks = timeTicks(0, end, (plot.right - plot.left) / 80);
  return [
    ...ticksX(ticks, x, plot, (value) => (value ? format.duration(value) : "0")),
    svg("line", { x1: plot.left, x2: plot.right, y1: plot.bottom, y2: plot.bottom, class: "base" }),
  ];
}

/** Scale and grid of the vertical axis, up to a round number, in steps of no less than `least`. */
function valueAxis(highest, plot, name, least) {
  const step = Math.max(niceStep((highest || 1) / 4), least);
  const top = Math.ceil(highest / step - 1e-9) * step || step;
  const y = linear(0, top, plot.bottom, plot.top);
  const axis = multiples(0, top, step).flatMap((value) => [
    svg("line", { x1: plot.left, x2: plot.right, y1: y(value), y2: y(value), class: "grid" }),
    svg("text", { x: plot.left - 8, y: y(value) + 4, class: "tick", "text-anchor": "end" }, name(value)),
  ]);
  return { y, axis };
}

/** Ticks of the horizontal axis, but for those whose text would repeat or touch the one before. */
function ticksX(values, x, plot, name) {
  let [before, end] = ["", -Infinity];
  return values.flatMap((value) => {
    const [at, text] = [x(value), name(value)];
    const half = (text.length * TICK_CHARACTER) / 2;
    if (text === before || at - half < end + 8) return [];
    [before, end] = [text, at + half];
    return [
      svg("line", { x1: at, x2: at, y1: plot.bottom, y2: plot.bottom + 4, class: "base" }),
      svg("text", { x: at, y: plot.bottom + 18, class: "tick", "text-anchor": "middle" }, text),
    ];
  });
}

const TIME_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400];

function timeTicks(from, to, most) {
  const step = to - from < 5 ? undefined : TIME_STEPS.find((size) => (to - from) / size <= most);
  return multiples(from, to, step ?? niceStep((to - from) / most));
}

function numberTicks(from, to, most) {
  return multiples(from, to, niceStep((to - from) / most));
}

/** 1, 2 and 5 times powers of ten, of time above a second round times; or powers alone where these are too many. */
function logTicks(from, to, most, axisTicks) {
  const powers = multiples(Math.floor(Math.log10(from)), Math.ceil(Math.log10(to)), 1).map((power) => 10 ** power);
  const inside = (values) => values.filter((value) => value >= from && value <= to);
  const decades = powers.flatMap((power) => [power, 2 * power, 5 * power]);
  const fine = inside(axisTicks === timeTicks ? [...decades.filter((value) => value < 1), ...TIME_STEPS] : decades);
  if (fine.length <= most) return fine;
  const coarse = inside(powers);
  return coarse.filter((_, position) => position % Math.ceil(coarse.length / most) === 0);
}

function multiples(from, to, step) {
  const first = Math.ceil(from / step - 1e-9);
  const last = Math.floor(to / step + 1e-9);
  return Array.from({ length: Math.max(last - first + 1, 0) }, (_, position) => (first + position) * step);
}

function niceStep(rough) {
  const power = 10 ** Math.floor(Math.log10(rough || 1));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999);
}
