// The lines of a map, from the links over the rows to the targets. They are drawn for what is in sight.

import { svg } from "./dom.js";

/** The most lines of one group, and of one row while nothing is chosen on a map with many lines. */
const MOST = 24;
const MOST_AT_REST = 3;
/** The number of lines from which a map has many. */
const MANY = 120;

/** Creates the drawing. `parts`: {frame, links, rows, lanes} with their elements. */
export function edges(parts) {
  const layer = svg("svg", { class: "map-edges", "aria-hidden": "true" });
  parts.frame.append(layer);

  /** Draws the lines. `way` is the highlighted way, or null. */
  const draw = (way) => {
    const frame = parts.frame.getBoundingClientRect();
    layer.setAttribute("viewBox", `0 0 ${frame.width} ${frame.height}`);
    const paths = [];
    const rowsBox = box(parts.rows.element, frame);
    const lanesBox = box(parts.lanes.element, frame);
    const seen = parts.rows.visible();
    const lines = seen.reduce((sum, row) => sum + (row.open ? 0 : targetsOf(row).length), 0);
    const most = lines > MANY ? MOST_AT_REST : MOST;
    for (const row of seen) {
      const node = parts.rows.find(row.key);
      const start = node && box(node, frame);
      if (!start || start.bottom <= rowsBox.top || start.top >= rowsBox.bottom) continue;
      const y = clamp((start.top + start.bottom) / 2, rowsBox);
      const isOn = way?.isRow(row) ?? false;
      if (!row.open) paths.push(...fromLinks(parts, frame, rowsBox, y, way, isOn));
      if (row.open) continue;
      let left = isOn ? MOST : most;
      for (const [key, weight, tone] of targetsOf(row)) {
        const card = parts.lanes.cards.get(key);
        const end = card && box(card, frame);
        if (!end || end.right === end.left) continue;
        const isFar = end.bottom < lanesBox.top || end.top > lanesBox.bottom;
        const isHit = isOn && way.steps.has(key);
        if (isFar && !isHit) continue;
        left -= 1;
        if (left < 0) break;
        const line = curve(rowsBox.right + 4, y, box(card.parentNode, frame).left - 4, clamp((end.top + end.bottom) / 2, lanesBox));
        paths.push(path(line, { tone, isOn: isHit, isOff: way != null, isFar, weight }));
      }
      if (row.type === "route") paths.push(...redirects(parts, row, frame, rowsBox, y, way, isOn));
    }
    if (way && parts.lanes.isTall()) paths.push(...chains(parts, way, frame, lanesBox));
    // Many lines are fainter, so that the targets stay legible.
    layer.style.setProperty("--rest", Math.max(0.12, Math.min(0.45, 14 / Math.max(1, paths.length))).toFixed(2));
    paths.sort((a, b) => a.classList.contains("on") - b.classList.contains("on"));
    layer.replaceChildren(...paths);
  };
  return { draw };
}

/** The targets of a row with the number of its routes that lead there: the top of each stack. */
function targetsOf(row) {
  const entries = row.type === "group" ? row.entries : [row];
  const found = new Map();
  for (const entry of entries) {
    for (const exit of entry.exits) {
      const key = exit.chain.at(-1);
      if (key == null) continue;
      const known = found.get(key) ?? [0, key.startsWith("@host") || key === "@link" ? "external" : key === "@none" ? "none" : key === "@reject" ? "reject" : "navigate"];
      found.set(key, [known[0] + 1, known[1]]);
    }
  }
  return [...found].sort((a, b) => b[1][0] - a[1][0]).slice(0, MOST).map(([key, [weight, tone]]) => [key, weight, tone]);
}

function fromLinks(parts, frame, rowsBox, y, way, isOn) {
  if (!parts.links || parts.links.offsetParent == null) return [];
  // On a narrow page the links are above the rows, and need no lines.
  if (box(parts.links, frame).right > rowsBox.left) return [];
  return [...parts.links.querySelectorAll(".map-link")].map((node) => {
    const start = box(node, frame);
    const line = curve(start.right + 4, (start.top + start.bottom) / 2, rowsBox.left, y);
    return path(line, { tone: null, isOn, isOff: way != null, weight: 1 });
  });
}

/** The lines of redirects, at the left of the rows. */
function redirects(parts, row, frame, rowsBox, y, way, isOn) {
  return row.exits.filter((exit) => exit.route).map((exit) => {
    const node = parts.rows.find("r:" + exit.route);
    const end = node && box(node, frame);
    if (!end) return null;
    const to = clamp((end.top + end.bottom) / 2, rowsBox);
    const x = rowsBox.left + 2;
    const bend = Math.min(44, 14 + Math.abs(to - y) / 10);
    const line = `M${x} ${y}C${x - bend} ${y} ${x - bend} ${to} ${x} ${to}m-6 -4l6 4l-6 4`;
    return path(line, { tone: "redirect", isOn, isOff: way != null, weight: 1 });
  }).filter(Boolean);
}

/** The lines between the screens of a stack, from bottom to top, at the right of the cards. */
function chains(parts, way, frame, lanesBox) {
  const paths = [];
  const seen = new Set();
  for (const exit of way.exits) {
    exit.chain.forEach((key, index) => {
      const next = exit.chain[index + 1];
      if (next == null || seen.has(key + "\n" + next)) return;
      seen.add(key + "\n" + next);
      const [a, b] = [parts.lanes.cards.get(key), parts.lanes.cards.get(next)].map((node) => node && box(node, frame));
      if (!a || !b) return;
      const [y1, y2] = [a, b].map((one) => clamp((one.top + one.bottom) / 2, lanesBox));
      const x = Math.max(a.right, b.right) + 16 + Math.min(32, Math.abs(y2 - y1) / 8);
      const line = `M${a.right + 4} ${y1}C${x} ${y1} ${x} ${y2} ${b.right + 4} ${y2}m7 -4l-6 4l6 4`;
      paths.push(path(line, { tone: "navigate", isOn: true, isStep: true, weight: 1 }));
    });
  }
  return paths;
}

function path(line, { tone, isOn, isOff, isFar, isStep, weight }) {
  const names = ["map-edge", isOn ? "on" : isOff ? "off" : "", isFar ? "far" : "", isStep ? "step" : ""];
  const node = svg("path", { d: line, class: names.join(" "), "data-outcome": tone });
  node.style.setProperty("stroke-width", Math.min(4, 1.25 + Math.log2(weight) / 3).toFixed(2));
  return node;
}

function curve(x1, y1, x2, y2) {
  const middle = (x1 + x2) / 2;
  return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
}

function box(node, frame) {
  const rect = node.getBoundingClientRect();
  return { left: rect.left - frame.left, right: rect.right - frame.left, top: rect.top - frame.top, bottom: rect.bottom - frame.top };
}

function clamp(y, area) {
  return Math.max(area.top + 1, Math.min(area.bottom - 1, y));
}
