// The list of routes of a map: a tree in which only the rows in sight are in the document.
//
//   rowList({ open, toggle, hover, pin })   callbacks take a row
//     .element, .show(rows, activeKey), .rowAt(key) (element in sight or null), .mark(isOn), .scrollTo(key)

import { clear, el, icon, link, outside, shown } from "./dom.js";
import { KINDS } from "./map-model.js";

/** Height of a row in pixels, as in map.css: with a note below the name, and of a longer list. */
const HEIGHT = 52;
const COMPACT = 28;
/** Up to so many rows, each has its note below its name. */
const FEW = 10;
const MARGIN = 8;

/** Creates the list. */
export function rowList(actions, tableId) {
  const space = el("div", { class: "map-space" });
  const element = el("div", { class: "map-rows", attrs: { role: "tree", "aria-label": "Routes" } }, space);
  let rows = [];
  let height = HEIGHT;
  let active = null;
  let isOn = () => true;
  const drawn = new Map();

  const draw = () => {
    const first = Math.max(0, Math.floor(element.scrollTop / height) - MARGIN);
    const last = Math.min(rows.length, Math.ceil((element.scrollTop + element.clientHeight) / height) + MARGIN);
    const wanted = new Set();
    for (let index = first; index < last; index += 1) wanted.add(rows[index].key);
    const activeIndex = rows.findIndex((row) => row.key === active);
    if (activeIndex >= 0) wanted.add(active);
    for (const [key, node] of drawn) {
      if (wanted.has(key)) continue;
      node.remove();
      drawn.delete(key);
    }
    for (let index = first; index < last; index += 1) place(rows[index], index);
    if (activeIndex >= 0) place(rows[activeIndex], activeIndex);
  };

  const place = (row, index) => {
    let node = drawn.get(row.key);
    if (!node) {
      node = rowElement(row, tableId);
      drawn.set(row.key, node);
      space.append(node);
    }
    node.style.setProperty("top", `${index * height}px`);
    node.tabIndex = row.key === active ? 0 : -1;
    node.classList.toggle("off", !isOn(row));
  };

  const rowOf = (event) => {
    const key = event.target.closest?.(".map-row")?.dataset.key;
    return key == null ? null : rows.find((row) => row.key === key);
  };

  const focus = (index) => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, index))];
    if (!row) return;
    active = row.key;
    scrollTo(row.key);
    draw();
    drawn.get(row.key)?.focus({ preventScroll: true });
  };

  const scrollTo = (key) => {
    const index = rows.findIndex((row) => row.key === key);
    if (index < 0) return;
    const top = index * height;
    if (top < element.scrollTop) element.scrollTop = top;
    if (top + height > element.scrollTop + element.clientHeight) element.scrollTop = top + height - element.clientHeight;
  };

  element.addEventListener("scroll", () => { draw(); actions.scrolled(); }, { passive: true });
  element.addEventListener("pointerover", (event) => actions.hover(rowOf(event)));
  element.addEventListener("pointerleave", () => actions.hover(null));
  element.addEventListener("focusin", (event) => {
    const row = rowOf(event);
    if (row) active = row.key;
    actions.hover(row);
  });
  element.addEventListener("focusout", () => actions.hover(null));
  element.addEventListener("click", (event) => {
    if (event.target.closest("a")) return;
    const row = rowOf(event);
    if (row) (row.type === "group" ? actions.toggle : actions.pin)(row);
  });
  element.addEventListener("keydown", (event) => {
    const row = rowOf(event);
    const index = row ? rows.indexOf(row) : -1;
    const page = Math.max(1, Math.floor(element.clientHeight / height) - 1);
    const moves = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: rows.length - 1, PageDown: index + page, PageUp: index - page };
    if (event.ctrlKey || event.metaKey || event.altKey || !row) return;
    if (event.key in moves) focus(moves[event.key]);
    else if (event.key === "Enter") (row.type === "group" ? actions.toggle : actions.open)(row);
    else if (event.key === " ") (row.type === "group" ? actions.toggle : actions.pin)(row);
    else if (event.key === "ArrowRight" && row.type === "group" && !row.open) actions.toggle(row);
    else if (event.key === "ArrowLeft" && row.type === "group" && row.open) actions.toggle(row);
    else if (event.key === "ArrowLeft" && row.level === 2) focus(rows.findLastIndex((other, at) => at < index && other.type === "group"));
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  new ResizeObserver(draw).observe(element);

  return {
    element,
    show(next) {
      const hadFocus = element.contains(document.activeElement);
      rows = next;
      height = rows.length > FEW ? COMPACT : HEIGHT;
      element.classList.toggle("compact", height === COMPACT);
      if (!rows.some((row) => row.key === active)) active = rows[0]?.key ?? null;
      drawn.clear();
      clear(space);
      space.style.setProperty("height", `${rows.length * height}px`);
      draw();
      if (hadFocus) drawn.get(active)?.focus({ preventScroll: true });
    },
    mark(test) {
      isOn = test;
      for (const row of rows) drawn.get(row.key)?.classList.toggle("off", !isOn(row));
    },
    scrollTo,
    height: () => rows.length * height,
    focusFirst: () => focus(0),
    visible: () => rows.filter((row) => drawn.has(row.key)),
    find: (key) => drawn.get(key) ?? null,
  };
}

/** Draws a row. */
function rowElement(row, tableId) {
  const isGroup = row.type === "group";
  const attrs = {
    role: "treeitem", "aria-level": row.level, "aria-posinset": row.place.at, "aria-setsize": row.place.of,
    "aria-expanded": isGroup ? String(row.open) : null, "aria-label": isGroup ? groupLabel(row) : routeLabel(row),
  };
  const node = el("div", { class: `map-row ${row.type} level-${row.level}`, data: { key: row.key, outcome: isGroup ? null : row.route.tone }, attrs });
  return isGroup ? groupRow(node, row) : routeRow(node, row, tableId);
}

function groupLabel(row) {
  return shown(`${groupName(row.name)}, ${row.entries.length} routes`, 200);
}

function routeLabel({ route }) {
  return shown(`${route.patterns[0] ?? "by id only"}, ${route.id}: ${route.summary}`, 400);
}

/** The name of a group for people. */
export function groupName(name) {
  return name === "" ? "by id only" : name;
}

function groupRow(node, row) {
  const kinds = Object.keys(KINDS).map((kind) => [kind, row.entries.filter((entry) => entry.route.kind === kind).length]);
  const bar = el("span", { class: "map-mix" }, kinds.filter(([, number]) => number > 0).map(([kind, number]) => {
    const part = el("span", { data: { outcome: KINDS[kind].tone }, title: `${KINDS[kind].words}: ${number}` });
    part.style.setProperty("flex-grow", number);
    return part;
  }));
  node.append(icon(row.open ? "down" : "next"), el("span", { class: "map-text" },
    outside(groupName(row.name), { class: "mono map-name", limit: 80 }), bar),
    el("span", { class: "num muted", text: row.entries.length.toLocaleString("en-US") }));
  return node;
}

function routeRow(node, row, tableId) {
  const { route } = row;
  const more = route.patterns.length > 1 ? el("span", { class: "muted", text: ` +${route.patterns.length - 1}` }) : null;
  const marks = el("span", { class: "map-marks" },
    route.guards?.length > 0 && mark("deferred", "Needs a claim"),
    route.exits.some((exit) => exit.versions) && mark("phone", "Depends on the version of the app"),
    route.status && el("span", { class: "label" }, outside(route.status, { limit: 24 })));
  node.append(el("span", { class: "dot" }), el("span", { class: "map-text" },
    el("span", { class: "map-name" }, outside(route.patterns[0] ?? "by id only", { class: "mono", limit: 160 }), more),
    el("span", { class: "map-note muted" }, outside(route.summary, { limit: 240 }))), marks,
    link("route", { table: tableId, route: route.id }, icon("next"), {
      class: "map-open", attrs: { tabindex: "-1", "aria-label": shown(`Open ${route.id}`, 120) }, title: "Open the route's page",
    }));
  return node;
}

function mark(name, title) {
  return el("span", { class: "map-mark", title }, icon(name));
}
