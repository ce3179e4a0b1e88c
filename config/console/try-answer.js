// The answer: a sentence, what it comes from, and suggestions.

import { clear, copyButton, duration, el, icon, link, outside, readable, shown } from "./dom.js";
import { prose } from "./states.js";
import { mended, unreadable } from "./try-paste.js";
import { reasonText, toneOf } from "./words.js";

const MAX_CHIPS = 8;
const MAX_NEAR = 3;
const MAX_CLAIMS = 4;
const MAX_TABLES = 12;
/** Size of the JSON that is drawn with colors, in characters. */
const MAX_COLORED = 65_536;

/** The sentence as text, with a period at the end. */
export function sentenceText(segments) {
  const text = segments.map((part) => part.text).join("");
  return /[.!?]$/.test(text) || text === "" ? text : text + ".";
}

/** Draws the sentence of a decision, in the color of its outcome: as a heading, or as `options.tag`. */
export function drawSentence({ sentence, decision }, options) {
  return drawSegments(sentence, decision.outcome, toneOf(decision), options);
}

/** Draws segments. The first word says the outcome, unless a segment does. */
function drawSegments(segments, outcome, glyph, { tag = "h2", name = "display answer" } = {}) {
  const node = el(tag, { class: name, data: { outcome, tone: glyph === "fallback" ? glyph : null } }, el("span", { class: "tone" }, icon(glyph)));
  let tone = segments.some((part) => part.kind === "outcome") ? null : /^(Opens|Waits)\b/;
  for (const { text, kind } of segments) {
    const word = kind === "outcome" ? text : tone?.exec(text)?.[0];
    tone = null;
    if (word) node.append(el("b", { class: "tone", text: shown(word) }), shown(text.slice(word.length)));
    else if (kind === "text") node.append(prose(text));
    else if (kind === "url") node.append(outside(readable(text), { class: "answer-url", limit: 400, title: shown(text, 1000) }));
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
    decision.via && el("span", {}, "redirected by ", list(decision.via)),
    envelope && envelopeText(envelope),
    ...(decision.notes ?? []).map((note) => el("span", { title: "A note of the decision" }, outside(note))),
    micros != null && el("span", { class: "num", text: duration(micros), title: "Time to decide" }),
  ];
  return el("p", { class: "source label" }, facts.filter(Boolean));
}

/** Texts with commas between them. */
export function list(texts) {
  return texts.map((text, index) => [index > 0 && ", ", outside(text)]);
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
  // Of quotes around a link, the server only knows the straight ones.
  const isUnread = explain?.failed?.phase === "normalize" && !suggestions.some((suggestion) => suggestion.route);
  const meant = isUnread ? drawMended(input, ask) : null;
  if (meant) return meant;
  const near = explain && explain.candidates.length === 0 ? explain.rejected.filter((other) => other.near).slice(0,
    MAX_NEAR) : [];
  if (suggestions.length === 0 && near.length === 0) return null;
  return el("div", { class: "suggestions" },
    suggestions.length > 0 && el("p", {}, "Did you mean ", suggestions.slice(0, 3).map((suggestion, index) => [
      index > 0 && " or ", el("a", { class: "suggestion", attrs: { href: ask(suggestion.text) } },
        changed(input, suggestion.text))]), "?"),
    suggestions.length === 0 && near.length > 0 && el("ul", { class: "rows near" }, near.map((other) => el("li", {},
      icon("none"), el("span", { class: "row-text" }, el("code", {}, outside(other.pattern)), " ",
        el("span", { class: "muted" }, prose(other.misses[0]?.text ?? "")))))));
}

/** The corrected text, with the parts that are different in bold. */
function changed(before, after) {
  const [old, own] = [before, after].map((text) => text.split(/([/?#&=:.]+)/));
  let start = 0;
  while (start < own.length && old[start] === own[start]) start += 1;
  let end = 0;
  while (end < own.length - start && end < old.length - start && old.at(-1 - end) === own.at(-1 - end)) end += 1;
  const pieces = [own.slice(0, start), own.slice(start, own.length - end), own.slice(own.length - end)];
  return el("bdi", { attrs: { dir: "ltr" } }, pieces.map((piece, index) =>
    (piece.join("") === "" ? null : el(index === 1 ? "b" : "span", {}, outside(piece.join(""))))));
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
      "aria-pressed": String(at === index) }, data: { outcome: item.decision.outcome, tone: toneOf(item.decision) },
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

/** Links that ask one table each, and what each table suggests. `choices`: the id and the question of each table. */
export function drawTables(explained, input, isMended, ask, choices) {
  // A table's guess about a text that is no link says nothing.
  const isLink = /^[a-z][a-z0-9+.-]*:[^\s"<>]+$/i.test(input);
  const parts = isMended || !isLink ? [] : explained.map(({ table, explain }) => {
    if ((explain?.suggestions ?? []).length === 0) return null;
    return el("div", { class: "other-table" }, el("p", { class: "label", text: shown(table) }),
      drawSuggestions(explain, input, ask));
  });
  const chips = choices.slice(0, MAX_TABLES).map(({ id, question }) =>
    link("try", question, outside(id), { class: "chip" }));
  return [el("p", { class: "toolbar choose-table" }, "Ask one table:", chips), parts];
}

/** What a worker would write to the dead letters. */
export function drawDeadLetter(letter, segments) {
  return [
    drawSegments(segments, "reject", "warning"),
    el("p", { class: "source label" }, el("span", {}, "A worker would write a dead letter: ",
      el("code", { text: shown(letter.reason) })),
      el("span", { text: shown(reasonText(letter.reason)) }),
      letter.stage && el("span", {}, "stage ", el("code", { text: shown(letter.stage) })),
      letter.pointer && el("span", {}, "at ", el("code", {}, outside(letter.pointer)))),
  ];
}

/** The decision's JSON, closed at first, with a button to copy it. It is written when it opens. */
export function drawJSON(node, item) {
  const fold = el("details", { class: "fold", attrs: { open: node.querySelector("details")?.open ?? false } },
    el("summary", {}, icon("next"), "Decision as JSON"));
  const write = () => {
    if (!fold.open || fold.children.length > 1) return;
    const text = JSON.stringify(item.decision, null, 2);
    const pre = el("pre", { class: "code", attrs: { tabindex: "0", "aria-label": "Decision as JSON" } });
    // A name stands at the start of its line, so that each line is looked at once.
    for (const line of text.slice(0, MAX_COLORED).split(/(?<=\n)/)) {
      const [, indent, name] = /^( *)("(?:[^"\\]|\\.)*")(?=:)/.exec(line) ?? [];
      if (name == null) pre.append(shown(line));
      else {
        pre.append(indent, el("span", { class: "json-name", text: shown(name) }),
          shown(line.slice(indent.length + name.length)));
      }
    }
    const isLong = text.length > MAX_COLORED;
    if (isLong) pre.append(shown(text.slice(MAX_COLORED)));
    fold.append(el("div", { class: "fold-body" }, copyButton(() => JSON.stringify(item.decision), "Copy"), pre,
      isLong && el("p", { class: "label", text: "After 64 KB, the names have no color. “Copy” copies all of it." })));
  };
  fold.addEventListener("toggle", write);
  clear(node, fold);
  write();
}
