// The answer: a sentence, what it comes from, and suggestions.

import { clear, copyButton, duration, el, icon, link, outside, shown } from "./dom.js";
import { prose } from "./states.js";
import { mended, unreadable } from "./try-paste.js";

const MAX_CHIPS = 8;
const MAX_NEAR = 3;
const MAX_CLAIMS = 4;

/** The sentence as text, with a period at the end. */
export function sentenceText(segments) {
  const text = segments.map((part) => part.text).join("");
  return /[.!?]$/.test(text) || text === "" ? text : text + ".";
}

/** Draws the sentence of a decision, in the color of its outcome. */
export function drawSentence(item) {
  return drawSegments(item.sentence, item.decision.outcome, item.decision.outcome);
}

/** Draws segments as the page's heading. The first word says the outcome, unless a segment does. */
function drawSegments(segments, outcome, glyph) {
  const node = el("h2", { class: "display answer", data: { outcome } }, el("span", { class: "tone" }, icon(glyph)));
  let tone = segments.some((part) => part.kind === "outcome") ? null : /^(Opens|Waits)\b/;
  for (const { text, kind } of segments) {
    const word = kind === "outcome" ? text : tone?.exec(text)?.[0];
    tone = null;
    if (word) node.append(el("b", { class: "tone", text: shown(word) }), shown(text.slice(word.length)));
    else if (kind === "text") node.append(prose(text));
    else if (kind === "url") node.append(outside(text, { class: "answer-url", limit: 400 }));
    else if (kind === "name" || kind === "field") node.append(outside(text, { class: "answer-field" }));
    else node.append(kind === "reason" ? prose(text) : el("b", {}, outside(text)));
  }
  if (!/[.!?]$/.test(segments.at(-1)?.text ?? ".")) node.append(".");
  return node;
}

/** The table, the route, and the time of a decision. */
export function drawSource(item, micros, envelope) {
  const { decision } = item;
  const table = decision.table?.split("@")[0];
  const facts = [
    decision.table && outside(decision.table),
    decision.route && el("span", {}, "route ", link("route", { table, route: decision.route },
      outside(decision.route))),
    decision.via && el("span", {}, "redirected by ", outside(decision.via.join(", "))),
    envelope && envelopeText(envelope),
    ...(decision.notes ?? []).map((note) => el("span", { title: "A note of the decision" }, outside(note))),
    micros != null && el("span", { class: "num", text: duration(micros), title: "Time to decide" }),
  ];
  return el("p", { class: "source label" }, facts.filter(Boolean));
}

/** How a push body was read. */
function envelopeText(envelope) {
  if (!envelope.vendor && !envelope.pointer) return null;
  return el("span", {}, envelope.vendor ? ["push message of ", el("b", {}, outside(envelope.vendor))] : "push message",
    envelope.pointer && [", link at ", el("code", {}, outside(envelope.pointer))]);
}

/** "Did you mean": suggestions as links that ask again, then the nearest patterns. */
export function drawSuggestions(explain, input, ask) {
  const suggestions = explain?.suggestions ?? [];
  const near = explain && explain.candidates.length === 0 ? explain.rejected.filter((other) => other.near).slice(0,
    MAX_NEAR) : [];
  if (suggestions.length === 0 && near.length === 0) return null;
  return el("div", { class: "suggestions" },
    suggestions.length > 0 && el("p", {}, "Did you mean ", suggestions.slice(0, 3).map((suggestion, index) => [
      index > 0 && " or ", el("a", { class: "suggestion", attrs: { href: ask(suggestion.text) } },
        changed(input, suggestion.text))]), "?"),
    suggestions.length === 0 && near.length > 0 && el("ul", { class: "rows near" }, near.map((other) => el("li", {},
      icon("none"), el("span", { class: "row-text" }, el("code", { text: shown(other.pattern) }), " ",
        el("span", { class: "muted" }, prose(other.misses[0]?.text ?? "")))))));
}

/** The corrected text, with what is different in bold. */
function changed(before, after) {
  let start = 0;
  while (start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < after.length - start && end < before.length - start
    && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  return el("bdi", { attrs: { dir: "auto" } }, shown(after.slice(0, start)),
    el("b", { text: shown(after.slice(start, after.length - end)) }),
    shown(end > 0 ? after.slice(-end) : ""));
}

/** The devices of an event with several, as a choice. */
export function drawDevices(items, index, choose) {
  if (items.length < 2) return null;
  if (items.length > MAX_CHIPS) {
    const select = el("select", { attrs: { "aria-label": "Device" } }, items.map((item, at) =>
      el("option", { text: `${shown(item.device, 60)}: ${shown(sentenceText(item.sentence), 80)}`,
        attrs: { value: at, selected: at === index } })));
    select.addEventListener("change", () => choose(Number(select.value)));
    return el("p", { class: "toolbar" }, el("span", { class: "label", text: `${items.length} devices` }),
      el("span", { class: "select" }, select, icon("down")));
  }
  return el("div", { class: "toolbar", attrs: { role: "group", "aria-label": "Devices" } },
    items.map((item, at) => el("button", { class: "chip", attrs: { type: "button",
      "aria-pressed": String(at === index) }, data: { outcome: item.decision.outcome },
      on: { click: () => choose(at) } },
      el("i", { class: "dot" }), outside(item.device, { limit: 60 }))));
}

/** What a dead letter means, as segments: first for people who paste a link, then in the worker's words. */
export function letterSegments(letter, input, tables) {
  const say = (word, ...rest) => [{ kind: "outcome", text: word }, ...rest];
  const isUnknown = letter.reason === "application_unknown";
  const isText = !input.trimStart().startsWith("{");
  const why = isText && (isUnknown || letter.reason === "bad_json") ? unreadable(input) : null;
  if (why) return say("Not readable", { kind: "text", text: `: ${why[0].toLowerCase()}${why.slice(1)}` });
  if (!isUnknown || tables.length === 0) {
    return say(isUnknown ? "Unclaimed" : "Not readable", { kind: "text", text: `: ${letter.detail}` });
  }
  const claims = tables.filter(({ explain }) => explain?.failed?.phase !== "normalize").map(({ table }) => table);
  if (claims.length === 0) return say("Unclaimed", { kind: "text", text: ": no table takes links like this." });
  const names = claims.slice(0, MAX_CLAIMS).flatMap((table, index) =>
    [index > 0 && { kind: "text", text: ", " }, { kind: "name", text: table }]).filter(Boolean);
  const text = ": several tables take this link, so its event must state an application: ";
  return say("Ambiguous", { kind: "text", text }, ...names);
}

/** Links that may be meant by an unreadable or unclaimed input. */
export function drawMended(input, ask) {
  const list = mended(input);
  if (list.length === 0) return null;
  return el("div", { class: "suggestions" }, el("p", {}, "Did you mean ", list.map((text, index) => [
    index > 0 && " or ", el("a", { class: "suggestion", attrs: { href: ask(text) } }, outside(text, { limit: 400 }))]),
    "?"));
}

/** What a worker would write to the dead letters. */
export function drawDeadLetter(letter, segments) {
  return [
    drawSegments(segments, "reject", "warning"),
    el("p", { class: "source label" }, el("span", {}, "A worker would write a dead letter: ",
      el("code", { text: shown(letter.reason) })),
      letter.stage && el("span", {}, "stage ", el("code", { text: shown(letter.stage) })),
      letter.pointer && el("span", {}, "at ", el("code", {}, outside(letter.pointer)))),
  ];
}

/** The decision's JSON, closed at first, with a button to copy it. */
export function drawJSON(node, item) {
  const open = node.querySelector("details")?.open ?? false;
  const text = JSON.stringify(item.decision, null, 2);
  const pre = el("pre", { class: "code", attrs: { tabindex: "0", "aria-label": "Decision as JSON" } });
  for (const piece of text.split(/("(?:[^"\\]|\\.)*"(?=:))/g)) {
    pre.append(piece.endsWith('"') && piece.startsWith('"') ? el("span", { class: "json-name", text: shown(piece) })
      : shown(piece));
  }
  clear(node, el("details", { class: "fold", attrs: { open } },
    el("summary", {}, icon("next"), "Decision as JSON"), el("div", { class: "fold-body" },
      copyButton(() => JSON.stringify(item.decision), "Copy"), pre)));
}
