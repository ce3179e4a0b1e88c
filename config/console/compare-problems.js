// The problems of a candidate, each at its line, with the decision about the link that shows it.

import { count, el, icon, outside, shown } from "./dom.js";
import { drawPhones } from "./phones.js";
import { prose, sentence } from "./states.js";
import { drawSentence } from "./try-answer.js";
import { deviceText } from "./route-parts.js";

/** Lines before and after the line of a problem. */
const CONTEXT = 2;
/** Characters of a line that are shown on each side of the problem. */
const WIDTH = 100;

/** Draws problems. `text` is the candidate. */
export function drawProblems(problems, text) {
  const lines = text.split("\n");
  return el("ol", { class: "compare-list" }, problems.map((problem, index) => el("li", { class: "compare-problem" },
    el("p", { class: "compare-title" }, el("span", { class: "badge", data: { outcome: problem.severity === "error" ? "reject" : "deferred" } },
      icon(problem.severity === "error" ? "reject" : "warning"), problem.severity === "error" ? "Error" : "Warning"), " ", prose(sentence(problem.message))),
    el("p", { class: "label" }, `Line ${problem.line}, column ${problem.column}`, problem.pointer && [" at ", outside(problem.pointer, { class: "mono", limit: 200 })],
      " · ", el("span", { class: "mono", text: shown(problem.code) })),
    problem.line > 0 && excerpt(lines, problem.line, problem.column),
    problem.suggestion && el("p", {}, prose(sentence(problem.suggestion))),
    problem.link && witness(problem, isSame(problem, problems[index - 1])))));
}

/** Draws some lines of the candidate, with a mark at a column. */
function excerpt(lines, line, column) {
  const first = Math.max(1, line - CONTEXT);
  const last = Math.min(lines.length, line + CONTEXT);
  const rows = [];
  for (let number = first; number <= last; number += 1) rows.push(row(lines[number - 1].replace(/\r$/, ""), number, number === line ? column : null));
  return el("div", { class: "compare-lines", attrs: { role: "group", "aria-label": `Lines ${first} to ${last}` } }, rows);
}

function row(text, number, column) {
  const at = column == null ? 0 : offset(text, column);
  const from = Math.max(0, at - WIDTH);
  const parts = column == null ? [plain(text.slice(from, from + 2 * WIDTH))] : [
    from > 0 && "…", plain(text.slice(from, at)), el("mark", {}, plain(text.slice(at, tokenEnd(text, at)))), plain(text.slice(tokenEnd(text, at), at + WIDTH)),
  ];
  return el("div", { class: "compare-line" + (column == null ? "" : " at") }, el("span", { class: "compare-number num", text: String(number) }), el("code", {}, parts));
}

function plain(text) {
  return shown(text.replace(/\t/g, "  "));
}

/** The index of a column in a line; columns count characters from 1. */
function offset(text, column) {
  const head = text.slice(0, 4 * WIDTH + column * 4);
  const segments = new Intl.Segmenter().segment(head);
  let index = 1;
  for (const { index: at } of segments) {
    if (index === column) return at;
    index += 1;
  }
  return text.length;
}

/** The end of the string, name, or bracket at an index. */
function tokenEnd(text, at) {
  const match = /^(?:"(?:[^"\\]|\\.)*"|[\w.+-]+|.)/su.exec(text.slice(at, at + WIDTH));
  return at + (match?.[0].length ?? 0);
}

function isSame(problem, other) {
  return other != null && other.link === problem.link && JSON.stringify(other.device) === JSON.stringify(problem.device);
}

/** Draws the link that shows a problem, and the decision about it unless it is the one above. */
function witness(problem, isKnown) {
  if (isKnown) return el("p", { class: "muted", text: "The link above shows this too." });
  return el("div", { class: "compare-witness" }, el("p", {}, "Link: ", outside(problem.link, { class: "mono", limit: 300 }),
    problem.device && [" on ", outside(deviceText(problem.device), { limit: 200 })]),
  problem.decision && [drawSentence(problem, { tag: "p", name: "sentence" }), drawPhones(problem.decision, { size: "small" })]);
}

/** Draws the number of warnings and, on demand, the warnings. */
export function drawWarnings(problems, text) {
  const warnings = problems.filter((problem) => problem.severity !== "error");
  if (warnings.length === 0) return null;
  const body = el("div", {});
  const node = el("details", { class: "compare-more" }, el("summary", { text: count(warnings.length, "warning") }), body);
  node.addEventListener("toggle", () => { if (node.open && !body.firstChild) body.append(drawProblems(warnings, text)); });
  return node;
}
