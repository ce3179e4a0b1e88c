// The filter of decisions and dead letters: its parameters, its chips, and its times.

import { button, el, icon, link, outside, shown } from "./dom.js";
import { reasonText } from "./words.js";

/** Parameters that choose rows, with their words. */
export const FILTERS = {
  __proto__: null, kind: "kind", outcome: "outcome", reason: "reason", route: "route", campaign: "campaign", application: "application",
  table: "table", device: "device", event: "event", from: "from", to: "to",
};

/** Words of the parameter `kind`. */
export const KINDS = { __proto__: null, problem: "Rejections and dead letters", dead_letter: "Dead letters", any: "Decisions and dead letters" };

/** Spans of time to look back, as the server reads them. */
export const SPANS = { __proto__: null, "15m": "15 minutes", "1h": "hour", "6h": "6 hours", "24h": "24 hours", "7d": "7 days" };

/** The parameters of a filter in an address. An empty value stays, because it means "none". */
export function filterOf(params) {
  const filter = {};
  for (const name of Object.keys(FILTERS)) if (params.has(name)) filter[name] = params.get(name);
  return filter;
}

/** The parameters of a request, in which an empty value stays. */
export function request(filter, more = {}) {
  return new URLSearchParams(Object.entries({ ...filter, ...more }).filter(([, value]) => value != null));
}

/** The fragment's parameters of a filter with changes. A value of null removes. */
export function changed(filter, changes) {
  return request({ ...filter, ...changes });
}

/** A value of a row as a link that filters on it. */
export function filterLink(name, value, filter, options = {}) {
  const text = value === "" ? el("span", { class: "muted", text: "none" }) : outside(options.text ?? value, { limit: 120 });
  return link("decisions", changed(filter, { [name]: value }), text, {
    class: "value", title: `Only ${FILTERS[name]} ${value === "" ? "none" : shown(value, 200)}`, attrs: options.attrs,
  });
}

/** The chips of a filter. `remove(name)` takes one off. */
export function chips(filter, remove) {
  return Object.entries(filter).map(([name, value]) => el("span", { class: "chip" },
    el("span", { class: "muted", text: FILTERS[name] }), chipText(name, value),
    el("button", { attrs: { type: "button", "aria-label": `Remove the filter ${FILTERS[name]}` }, on: { click: () => remove(name) } }, icon("close"))));
}

/** The text of a chip. */
function chipText(name, value) {
  if (value === "") return el("span", { text: "none" });
  if (name === "kind") return el("span", { text: KINDS[value] ?? shown(value, 40) });
  if (name === "from" || name === "to") return el("span", { text: timeText(value) });
  return outside(value, { limit: 60 });
}

/** A time of the address in words. */
function timeText(value) {
  if (SPANS[value]) return `${SPANS[value]} ago`;
  return /^\d{1,14}$/.test(value) ? dateTime(Number(value)) : shown(value, 40);
}

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium", hourCycle: "h23" });

/** A time as date and time of day. */
export function dateTime(milliseconds) {
  return milliseconds == null ? "no time" : full.format(milliseconds);
}

/** A time as short as it is clear: the time of day, with the date if it is not today. */
export function shortTime(milliseconds) {
  if (milliseconds == null) return "no time";
  const text = clock.format(milliseconds);
  return new Date(milliseconds).toDateString() === new Date().toDateString() ? text : `${day.format(milliseconds)}, ${text}`;
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
  if (!Number.isFinite(time)) return "";
  return new Date(time - new Date(time).getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
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

/** The reason of a row in words, for a title. */
export function reasonTitle(row) {
  return row.reason ? reasonText(row.reason) : "";
}

/** A button that removes all filters. */
export function clearButton(clearAll) {
  return button("Remove all", { class: "button quiet", click: clearAll });
}
