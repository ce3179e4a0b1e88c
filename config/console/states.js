// States that are drawn on purpose.
//
//   empty(title, text, ...actions)   nothing here, and what to do about it
//   loading(node, text)              a line that appears after 150 ms; call the result to remove it
//   waiting(node)                    a banner that appears after 3 s without an answer; call the result to remove it
//   stale(text, ...actions)          what is shown may be old
//   prose(text), sentence(text)      backticked words as code; capital and period
//   problem(error, retry)            an ApiError: message, what to do next, code, and "Try again"

import { button, capital, el, icon, outside, shown } from "./dom.js";

/** Delay before a loading state shows, in milliseconds. A quicker answer never flickers. */
export const PATIENCE = 150;
/** Delay before the page says that the server has not answered, in milliseconds. */
const SILENCE = 3000;

/** Draws an empty state. */
export function empty(title, text, ...actions) {
  return el("div", { class: "state" }, el("p", { class: "state-title", text: title }), text && el("p", {}, prose(text)),
    actions.length > 0 && el("p", { class: "toolbar" }, actions));
}

/** Appends a loading line to `node` after 150 ms. Returns a function that removes it. */
export function loading(node, text = "Loading") {
  const line = el("p", { class: "state loading", attrs: { role: "status" } }, el("span", { class: "spinner" }), text
    + "…");
  const timer = setTimeout(() => node.append(line), PATIENCE);
  const answered = waiting(node);
  return () => {
    clearTimeout(timer);
    answered();
    line.remove();
  };
}

/** Appends a banner to `node` after 3 s: the server has not answered. Returns a function that removes it. */
export function waiting(node) {
  const note = stale("The console's server has not answered yet.");
  const timer = setTimeout(() => node.append(note), SILENCE);
  return () => {
    clearTimeout(timer);
    note.remove();
  };
}

/** Draws the line that says that what is shown may be old. */
export function stale(text, ...actions) {
  return el("p", { class: "banner", data: { tone: "deferred" }, attrs: { role: "status" } }, icon("clock"),
    prose(text), actions);
}

/** Draws a problem. `retry` is called by "Try again"; without it there is no button. */
export function problem(error, retry) {
  const again = retry && button("Try again", { click: retry });
  return el("div", { class: "state broken", attrs: { role: "alert" } },
    el("p", { class: "state-title" }, icon("warning"), prose(sentence(error.message ?? "The page failed"))),
    error.next && el("p", {}, prose(sentence(error.next))),
    el("p", { class: "toolbar" }, again, el("span", { class: "muted mono",
      text: shown(error.code ?? error.name ?? "error") })));
}

/** Text in which `backticked` words are code, in a span. */
export function prose(text) {
  const parts = String(text).split("`");
  return el("span", { class: "prose" }, parts.map((part, index) =>
    index % 2 === 1 && index < parts.length - 1 ? el("code", {}, outside(part)) : shown(part)));
}

/** A text of the server as a sentence: with a capital at its start, and a period at its end. */
export function sentence(text) {
  return text === "" ? text : capital(text) + (/[.!?…}]$/.test(text) ? "" : ".");
}
