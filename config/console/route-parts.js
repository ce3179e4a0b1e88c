// Parts that the views of tables share: links to "Try a link", devices, and tables that become lists on a narrow page.

import { el, link, outside } from "./dom.js";
import { writeQuestion, TEXT_FACTS } from "./try-question.js";

/** A link that opens an input on a device in the first view. */
export function tryLink(input, device, table, limit = 300) {
  const facts = device ?? {};
  const known = { claims: texts(facts.claims), capabilities: texts(facts.capabilities), attributes: facts.attributes ?? {} };
  for (const name of TEXT_FACTS) known[name] = typeof facts[name] === "string" ? facts[name] : "";
  return link("try", writeQuestion({ input, device: known }, table), outside(input, { class: "mono", limit }));
}

function texts(value) {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

/** The facts of a device in words. */
export function deviceText(device) {
  const parts = Object.entries(device ?? {}).map(([name, value]) => (
    `${name} ${typeof value === "string" ? value : Array.isArray(value) ? value.join(", ") || "none" : JSON.stringify(value)}`));
  return parts.length === 0 ? "a device without known facts" : parts.join("; ");
}

/** A table whose cells carry their heading, which a narrow page shows beside them. */
export function tableOf(caption, heads, rows) {
  return el("table", { class: "table cards", attrs: { role: "table" } },
    el("caption", { class: caption.isHidden ? "visually-hidden" : "cards-caption" }, caption.content),
    el("thead", { attrs: { role: "rowgroup" } }, el("tr", { attrs: { role: "row" } }, heads.map((text) => el("th", { text, attrs: { scope: "col", role: "columnheader" } })))),
    el("tbody", { attrs: { role: "rowgroup" } }, rows.map((cells) => el("tr", { attrs: { role: "row" } }, cells.map((cell, index) => (
      el("td", { data: { head: heads[index] }, attrs: { role: "cell" } }, el("div", {}, cell))))))));
}
