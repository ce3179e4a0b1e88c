// The filter of decisions and dead letters: its parameters, its chips, and its times.

import { button, el, icon, link, outside, shown } from "./dom.js";
import { clauseOf } from "./words.js";

/** Properties of a row with few values, of which a filter can also leave some out, as `not.reason=no_route`. */
const PROPERTIES = ["outcome", "reason", "route", "campaign", "application", "table", "context.query"];
/** Parameters that choose rows, with their words. */
export const FILTERS = {
  __proto__: null, kind: "kind", ...Object.fromEntries(PROPERTIES.map((name) => [name, name])), device: "device",
  event: "event", from: "from", to: "to",
};
/** The parameter that leaves values of a property out. Its value in a filter is a list. */
export const without = (name) => `not.${name}`;

/** Words of the parameter `kind`. */
export const KINDS = { __proto__: null, decision: "Decisions", problem: "Rejections and dead letters", dead_letter: "Dead letters", any: "Decisions and dead letters" };

/** Spans of time to look back, as the server reads them. */
export const SPANS = { __proto__: null, "15m": "15 minutes", "1h": "hour", "6h": "6 hours", "24h": "24 hours", "7d": "7 days" };

/** The parameters of a filter in an address. An empty value stays, because it means "none". */
export function filterOf(params) {
  const filter = {};
  for (const name of Object.keys(FILTERS)) if (params.has(name)) filter[name] = params.get(name);
  for (const name of PROPERTIES.map(without)) {
    const values = [...new Set(params.getAll(name))];
    if (values.length > 0) filter[name] = values;
  }
  return filter;
}

/** The parameters of a request, in which an empty value stays, and a list repeats. */
export function request(filter, more = {}) {
  return new URLSearchParams(Object.entries({ ...filter, ...more }).flatMap(([name, value]) =>
    (value == null ? [] : [value].flat().map((item) => [name, item]))));
}

/** The fragment's parameters of a filter with changes. A value of null removes. A value ends what leaves others out. */
export function changed(filter, changes) {
  const ended = PROPERTIES.filter((name) => changes[name] != null).map((name) => [without(name), null]);
  return request({ ...filter, ...Object.fromEntries(ended), ...changes });
}

/** The changes of a filter that choose a group of a chart: its value, or all values but those of the other groups. */
export function choiceOf(group, groups, by, filter) {
  if (!group.others) return { [by]: group.value };
  const named = groups.filter((other) => !other.others).map((other) => other.value);
  return { [without(by)]: [...new Set([...(filter[without(by)] ?? []), ...named])] };
}

/** A value of a row as a link that filters on it. */
export function filterLink(name, value, filter, options = {}) {
  const text = value === "" ? el("span", { class: "muted", text: "none" }) : outside(options.text ?? value, { limit: 120 });
  return link("decisions", changed(filter, { [name]: value }), text, {
    class: "value", title: [`Only ${FILTERS[name]} ${value === "" ? "none" : shown(value, 200)}`, clauseOf(name, value)]
      .filter(Boolean).join(": "), attrs: options.attrs,
  });
}

/** The chips of a filter. `go(changes)` takes one off. */
export function chips(filter, go) {
  return Object.entries(filter).flatMap(([name, value]) => {
    if (!Array.isArray(value)) return [chip(FILTERS[name], [chipText(name, value)], clauseOf(name, value), () => go({ [name]: null }))];
    const property = name.slice("not.".length);
    return value.map((item) => chip(property, ["not ", chipText(property, item)], clauseOf(property, item), () => {
      const rest = value.filter((other) => other !== item);
      go({ [name]: rest.length > 0 ? rest : null });
    }, item === "" ? "not none" : `not ${shown(item, 60)}`));
  });
}

/** A chip with a button that takes it off. `clause` says in words what the value means. */
function chip(name, content, clause, remove, value = "") {
  return el("span", { class: "chip filter", title: clause }, el("span", { class: "muted", text: name }),
    el("span", { class: "chip-value" }, content), clause !== "" && value === "" && el("span", { class: "muted", text: clause }),
    el("button", { attrs: { type: "button", "aria-label": ["Remove the filter", name, value].filter(Boolean).join(" ") },
      on: { click: remove } }, icon("close")));
}

/** The text of a chip. */
function chipText(name, value) {
  if (value === "") return el("span", { text: "none" });
  if (name === "kind") return el("span", { text: KINDS[value] ?? shown(value, 40) });
  if (name === "from" || name === "to") return el("span", { text: timeText(value) });
  return outside(value, { limit: 60 });
}

/** The words of the filters that another page does not use. */
export function namesOf(names) {
  return [...new Set(names.map((name) => FILTERS[name] ?? `not ${name.slice("not.".length)}`))].join(", ");
}

/** A time of the address in words. */
function timeText(value) {
  if (SPANS[value]) return `${SPANS[value]} ago`;
  return /^\d{1,14}$/.test(value) ? dateTime(Number(value)) : shown(value, 40);
}

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const dayOfYear = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium", hourCycle: "h23" });

/** The last time of which a date can be made, in milliseconds. Records can have any. */
const LAST = 8.64e15;

/** True if a number is a time that can be written as a date. */
function isTime(milliseconds) {
  return Number.isFinite(milliseconds) && Math.abs(milliseconds) <= LAST;
}

/** What is written instead of a date. */
function noTime(milliseconds) {
  return milliseconds == null ? "no time" : `time ${shown(milliseconds, 40)}`;
}

/** A time as date and time of day. */
export function dateTime(milliseconds) {
  return isTime(milliseconds) ? full.format(milliseconds) : noTime(milliseconds);
}

/** A time as short as it is clear: the time of day, with the date if it is not today. */
export function shortTime(milliseconds) {
  if (!isTime(milliseconds)) return noTime(milliseconds);
  const text = clock.format(milliseconds);
  const [date, now] = [new Date(milliseconds), new Date()];
  if (date.toDateString() === now.toDateString()) return text;
  return `${(date.getFullYear() === now.getFullYear() ? day : dayOfYear).format(milliseconds)}, ${text}`;
}

/** The switch of the look-back. `choose(changes)` gets the parameters that change. */
export function timeSwitch(filter, choose) {
  const select = el("select", { attrs: { "aria-label": "Time" } },
    el("option", { text: "All times", attrs: { value: "", selected: !filter.from && !filter.to } }),
    Object.entries(SPANS).map(([value, text]) => el("option", {
      text: `Last ${text}`, attrs: { value, selected: filter.from === value && !filter.to },
    })),
    el("option", { text: "From … to …", attrs: { value: "custom", selected: isCustom(filter) } }));
  const fields = isCustom(filter) ? rangeFields(filter, choose) : null;
  select.addEventListener("change", () => {
    if (select.value === "custom") choose({ from: String(Date.now() - 3_600_000), to: String(Date.now()) });
    else choose({ from: select.value || null, to: null });
  });
  return [el("span", { class: "select" }, select, icon("down")), fields];
}

/** True if the times are not one of the switch's spans. */
function isCustom(filter) {
  return filter.to != null || (filter.from != null && !SPANS[filter.from]);
}

/** Two fields for the times. */
function rangeFields(filter, choose) {
  return ["from", "to"].map((name) => {
    const field = el("input", { class: "field", attrs: { type: "datetime-local", step: "1", "aria-label": name === "from" ? "From" : "To" } });
    field.value = localTime(filter[name]);
    field.addEventListener("change", () => {
      const time = new Date(field.value).getTime();
      choose({ [name]: Number.isNaN(time) ? null : String(time) });
    });
    return field;
  });
}

/** A time of the address as a field for local times writes it. */
function localTime(value) {
  const time = /^\d{1,14}$/.test(value ?? "") ? Number(value) : Date.parse(value ?? "");
  const local = time - new Date(time).getTimezoneOffset() * 60_000;
  return isTime(local) ? new Date(local).toISOString().slice(0, 19) : "";
}

/** The state of the reader as a line, or null if it reads new records as they arrive. */
export function stateLine(app, state) {
  switch (state?.phase) {
    case "connecting": return app.stale("Connecting to the broker…");
    case "loading": {
      const share = state.total > 0 ? ` ${Math.floor((100 * state.done) / state.total)} %` : "";
      return el("p", { class: "banner", attrs: { role: "status" } }, el("span", { class: "spinner" }),
        `Reading what was decided since ${dateTime(state.from)}:${share}`);
    }
    case "broken":
      return app.stale(`The broker does not answer since ${shortTime(state.since)}, so this may be old: ${state.message}. Next: ${state.next}.`);
    default: return null;
  }
}

/** Draws the controls in `node` again. The focus stays at its place among them, or goes to `otherwise`. */
export function drawnAgain(node, draw, otherwise) {
  const controls = () => [...node.querySelectorAll("a, button, input, select")];
  const index = controls().indexOf(document.activeElement);
  draw();
  if (index < 0 || document.activeElement !== document.body) return;
  (controls()[index] ?? controls().at(-1) ?? otherwise?.())?.focus({ preventScroll: true });
}

/** A button that removes all filters. */
export function clearButton(clearAll) {
  return button("Remove all", { class: "button quiet", click: clearAll });
}
