// The start of "Try a link": what to do, and examples.

import { clear, el, icon, outside, shown } from "./dom.js";

const MAX_EXAMPLES = 8;

/** Draws the start into `root`. `address(input)` is the address of an input, and `more` what follows the examples. */
export function drawStart(root, info, table, address, more) {
  const examples = examplesOf(info, table);
  clear(root,
    el("p", { class: "title", text: "See what a link opens, for whom, and why." }),
    el("p", { class: "muted", text: "Nothing is sent. The answer is that of a worker with the same tables." }),
    examples.length > 0 && el("ul", { class: "examples" }, examples.map((example) => el("li", {},
      el("a", { attrs: { href: address(example.input) } }, outside(example.input, { limit: 160 }),
        el("span", { class: "label", text: [shown(example.label), !table && info.tables.length > 1
          && example.table && shown(example.table)].filter(Boolean).join(" · ") }), icon("next"))))), more);
}

/** Examples for a newcomer: those of the tables, and the first link of them in a push message. */
function examplesOf(info, table) {
  const examples = (info.examples ?? []).filter((example) => !table || example.table === table);
  const first = examples.find((example) => !example.input.startsWith("{"))?.input;
  const push = first && JSON.stringify({ aps: { alert: "Sale" }, ab: {}, ab_uri: first });
  const more = push ? [{ input: push, label: "A push message of Braze" }] : [];
  return [...examples.slice(0, MAX_EXAMPLES - more.length), ...more];
}
