// A stacked chart of numbers over time, drawn as SVG, with a legend that filters and a table of the figures.

import { clear, el, outside, shown, svg } from "./dom.js";
import { fragment } from "./router.js";
import { changed, choiceOf, dateTime } from "./feed-filter.js";
import { clauseOf } from "./words.js";

const HEIGHT = 320;
const MARGIN = { top: 12, right: 8, bottom: 36, left: 56 };
/** Colors of the groups, at first the most frequent first. */
const SERIES = ["--part-1", "--part-2", "--part-3", "--part-4", "--part-5", "--part-6", "--series-7", "--series-8"];
/** Rows of the table of figures. */
const MAX_FIGURES = 400;
/** The most marks of the axis of time. */
const MAX_MARKS = 40;
const DAY = 86_400_000;

const UNITS = [["day", 86_400_000], ["hour", 3_600_000], ["minute", 60_000], ["second", 1000]];

/** A length of time in words, such as "5 minutes". */
export function spanText(milliseconds) {
  const [name, size] = UNITS.find(([, size]) => milliseconds >= size && milliseconds % size === 0) ?? ["millisecond", 1];
  const number = milliseconds / size;
  return number === 1 ? name : `${number.toLocaleString("en-US")} ${name}s`;
}

/**
 * The colors of groups, in their order. `known` maps a value to its color; new values are added. Groups of one answer
 * have different colors, so that a value which comes back can have another one.
 */
export function colorsOf(known, groups) {
  const own = groups.filter((group) => !group.others);
  const taken = new Map();
  for (const { value } of own) if (!taken.has(known.get(value))) taken.set(known.get(value), value);
  const used = new Set(known.values());
  return groups.map((group) => {
    if (group.others) return "var(--none)";
    const { value } = group;
    if (!known.has(value) || taken.get(known.get(value)) !== value) {
      const free = SERIES.filter((color) => !taken.has(color));
      const color = free.find((other) => !used.has(other)) ?? free[0] ?? SERIES[0];
      known.set(value, color);
      taken.set(color, value);
      used.add(color);
    }
    return `var(${known.get(value)})`;
  });
}

/** The name of a group. */
function nameOf(group, by) {
  if (group.others) return "others";
  return group.value === "" ? `no ${by}` : group.value;
}

/** Round numbers for the marks of an axis from 0 to at least `most`. */
export function marks(most, wanted = 4) {
  const raw = Math.max(1, most / wanted);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= raw);
  const result = [];
  for (let value = 0; value < most + step; value += step) result.push(value);
  return result;
}

/** Times at which the axis has a mark, at round local times. The address can ask for thousands of years. */
function timeMarks(from, to, width) {
  const wanted = Math.min(MAX_MARKS, Math.max(2, Math.floor(width / 110)));
  const sizes = [1e3, 5e3, 15e3, 30e3, 6e4, 3e5, 9e5, 18e5, 36e5, 108e5, 216e5, 432e5, DAY, 2 * DAY, 7 * DAY, 30 * DAY];
  const step = sizes.find((size) => (to - from) / size <= wanted) ?? Math.ceil((to - from) / wanted / DAY) * DAY;
  const offset = (new Date(from).getTimezoneOffset() || 0) * 60_000;
  const first = Math.ceil((from - offset) / step) * step + offset;
  const times = Array.from({ length: MAX_MARKS }, (_, index) => first + index * step).filter((time) => time <= to);
  return { times, isDaily: step >= DAY, isYearly: step > 60 * DAY, hasSeconds: step < 6e4 };
}

/** The text of a mark of the axis of time. */
function markText(time, { isDaily, isYearly, hasSeconds }) {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return "";
  const isMidnight = date.getHours() === 0 && date.getMinutes() === 0 && date.getSeconds() === 0;
  if (isYearly) return date.toLocaleDateString(undefined, { month: "short", year: "numeric" });
  if (isDaily || isMidnight) return date.toLocaleDateString(undefined, { day: "numeric", month: "short" });
  return date.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit", second: hasSeconds ? "2-digit" : undefined, hourCycle: "h23" });
}

/** The filter of the records of a group in a span of time. */
function recordsOf(filter, { groups, by, step }, index, from) {
  return changed(filter, { ...choiceOf(groups[index], groups, by, filter), from: String(from), to: String(from + step) });
}

/** Draws the chart of an answer of /api/chart with its `colors`. `filter` is that of the records that a bar leads to. */
export function drawChart(root, answer, filter) {
  const width = Math.max(320, root.clientWidth || 800);
  const { groups, counts, start, step, by } = answer;
  const inner = { width: width - MARGIN.left - MARGIN.right, height: HEIGHT - MARGIN.top - MARGIN.bottom };
  const sums = counts.map((values) => values.reduce((sum, value) => sum + value, 0));
  const scale = marks(Math.max(1, ...sums));
  const most = scale.at(-1);
  const end = start + step * counts.length;
  const x = (time) => MARGIN.left + ((time - start) / (end - start)) * inner.width;
  const y = (value) => MARGIN.top + inner.height * (1 - value / most);
  const picture = svg("svg", { class: "chart", viewBox: `0 0 ${width} ${HEIGHT}`, role: "group", "aria-label": `Records in each ${spanText(step)}, by ${by}. The figures are in the table below.` });
  for (const value of scale) {
    picture.append(svg("line", { class: value === 0 ? "axis" : "grid", x1: MARGIN.left, x2: width - MARGIN.right, y1: y(value), y2: y(value) }),
      svg("text", { x: MARGIN.left - 8, y: y(value) + 4, "text-anchor": "end" }, value.toLocaleString("en-US")));
  }
  const times = timeMarks(start, end, inner.width);
  for (const time of times.times) {
    picture.append(svg("line", { class: "axis", x1: x(time), x2: x(time), y1: y(0), y2: y(0) + 4 }),
      svg("text", { x: Math.min(x(time), width - 28), y: y(0) + 18, "text-anchor": "middle" }, markText(time, times)));
  }
  picture.append(svg("text", { x: MARGIN.left, y: HEIGHT - 2 }, `records in each ${spanText(step)}, local time`));
  counts.forEach((values, span) => bars(picture, answer, filter, { values, span, x, y }));
  clear(root, picture);
}

/** The bars of one span of time, each a link to its records. */
function bars(picture, answer, filter, { values, span, x, y }) {
  const { groups, start, step, by, colors } = answer;
  const from = start + span * step;
  const gap = Math.min(2, (x(from + step) - x(from)) / 5);
  let below = 0;
  values.forEach((value, index) => {
    if (value === 0) return;
    const group = groups[index];
    const clause = clauseOf(by, group.value);
    const title = `${shown(nameOf(group, by), 80)}: ${value.toLocaleString("en-US")}, ${dateTime(from)}${clause && `: ${clause}`}`;
    const target = recordsOf(filter, answer, index, from);
    const box = svg("rect", { x: x(from) + gap / 2, width: Math.max(1, x(from + step) - x(from) - gap), y: y(below + value), height: Math.max(1, y(below) - y(below + value)) });
    box.style.setProperty("fill", colors[index]);
    // The table below has the same links, so that the keyboard does not stop at hundreds of bars.
    picture.append(svg("a", { href: fragment("decisions", target), "aria-label": title, tabindex: "-1" }, svg("title", {}, title), box));
    below += value;
  });
}

/** The legend: each group with its number, as a button that filters, and its meaning in words. */
export function drawLegend(root, answer, filter, choose) {
  const { groups, by, colors } = answer;
  root.classList.toggle("worded", groups.some((group) => clauseOf(by, group.value) !== ""));
  clear(root, groups.map((group, index) => {
    const isChosen = !group.others && filter[by] === group.value;
    const clause = clauseOf(by, group.value);
    const node = el("button", { class: "chip", title: clause, attrs: { type: "button",
      "aria-pressed": group.others ? null : String(isChosen) } },
      el("i", { class: "dot" }), outside(nameOf(group, by), { limit: 80 }), el("span", { class: "num", text: group.total.toLocaleString("en-US") }));
    node.style.setProperty("--series", colors[index]);
    node.addEventListener("click", () => choose(isChosen ? { [by]: null } : choiceOf(group, groups, by, filter)));
    return el("li", {}, node, clause !== "" && el("span", { class: "label", text: clause }));
  }));
}

/** The figures as a table: the spans that have records, the newest first. */
export function drawFigures(root, answer, filter) {
  const { groups, counts, start, step, by } = answer;
  const spans = counts.map((values, span) => ({ values, from: start + span * step }))
    .filter(({ values }) => values.some((value) => value > 0)).reverse();
  const rows = spans.slice(0, MAX_FIGURES).map(({ values, from }) => el("tr", {},
    el("th", { text: dateTime(from), attrs: { scope: "row" } }),
    values.map((value, index) => el("td", { class: "num" }, value === 0 ? "0" : el("a", {
      text: value.toLocaleString("en-US"),
      attrs: { href: fragment("decisions", recordsOf(filter, answer, index, from)) },
    })))));
  clear(root, el("div", { class: "figures", attrs: { tabindex: "0", role: "region", "aria-label": "Figures" } }, el("table", { class: "table" },
    el("caption", { class: "visually-hidden", text: `Records in each ${spanText(step)}, by ${by}` }),
    el("thead", {}, el("tr", {}, el("th", { text: "From", attrs: { scope: "col" } }),
      groups.map((group) => el("th", { class: "num", title: clauseOf(by, group.value), attrs: { scope: "col" } },
        outside(nameOf(group, by), { limit: 60 }))))),
    el("tbody", {}, rows))));
}
