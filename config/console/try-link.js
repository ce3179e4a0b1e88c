// The link drawn as parts, each tied to what it became.
//
// A tie is a word that a part of the link, a capture, a field, and a value on a screen have in common. Elements with
// the same word in `data-tie` light up together when one of them has the pointer or the focus.

import { clear, el, outside, shown } from "./dom.js";

const HUES = 6;

/** The ties of an explanation: the color of each word, and the words of each field. */
export function tiesOf(explain) {
  const hues = new Map();
  const add = (word) => {
    if (word !== "literal" && !hues.has(word)) hues.set(word, (hues.size % HUES) + 1);
  };
  for (const part of explain?.link?.parts ?? []) for (const word of words(part)) add(word);
  const fields = new Map();
  for (const binding of explain?.bind ?? []) {
    const capture = /^(?:path|rewrite)\.(.+)$/.exec(binding.source);
    const word = capture && hues.has(`{${capture[1]}}`) ? `{${capture[1]}}` : binding.field;
    fields.set(binding.field, word);
  }
  return { hues, fields };
}

/** The words of a part: its uses. */
export function words(part) {
  return part.use ? part.use.split(", ").filter((word) => word !== "literal") : [];
}

/** Ties an element to words, and gives it the color of the first one. */
export function tie(node, ties, list) {
  const known = list.filter((word) => word != null);
  if (known.length === 0) return node;
  node.dataset.tie = known.join("\n");
  const hue = ties.hues.get(known[0]);
  if (hue) node.style.setProperty("--part", `var(--part-${hue})`);
  return node;
}

/** The link as received, as parts with captions. Offsets are in bytes of UTF-8. */
export function drawLink(text, parts, ties) {
  const bytes = new TextEncoder().encode(text);
  const decoder = new TextDecoder();
  const slice = (from, to) => decoder.decode(bytes.subarray(from, to));
  const row = el("p", { class: "link-parts", attrs: { dir: "ltr" } });
  if (parts[0]?.offset > 0) row.append(between(slice(0, parts[0].offset)));
  parts.forEach((part, index) => {
    const end = part.offset + part.bytes;
    const next = parts[index + 1]?.offset ?? bytes.length;
    const same = index > 0 && part.use != null && part.use === parts[index - 1].use && !part.fault && !part.hint;
    row.append(partNode(part, slice(part.offset, end), slice(end, Math.max(end, next)), ties, same));
  });
  return row;
}

/** Punctuation between parts. */
function between(text) {
  return text === "" ? null : el("span", { class: "between", text: shown(text) });
}

/** One part with the punctuation after it, and what it became below, unless the part before became the same. */
function partNode(part, text, after, ties, isSame) {
  const caption = captionOf(part);
  const list = words(part);
  const use = part.use === "literal" ? "literal" : list.length > 0 ? "used" : "unused";
  const node = el("span", { class: "piece", data: { kind: part.kind, use, fault: part.fault ? "1" : null } },
    el("button", { class: "part", attrs: { type: "button", "aria-label": `${shown(text)}: ${caption || part.kind}`,
      "aria-pressed": "false" } },
      text === "" ? "\u2038" : outside(text)),
    between(after),
    caption !== "literal" && caption !== "" && !isSame && el("span",
      { class: "part-caption", attrs: { "aria-hidden": "true" } }, outside(caption)));
  return tie(node, ties, list);
}

/** What is said about a part. */
function captionOf(part) {
  if (part.fault) return part.fault.replaceAll("`", "");
  if (part.hint) return part.hint.replaceAll("`", "");
  if (part.use) return part.use.replace(/\bvariant (\d+)/g, (_, index) => `variant ${Number(index) + 1}`);
  return part.kind === "query" ? "not used" : part.kind === "segment" || part.kind === "place" ? "" : part.kind;
}

/** Lights up what belongs together inside of `root`, on hover, focus, and a press that holds it. */
export function followTies(root) {
  let held = null;
  const mark = (node) => {
    const wanted = node ? new Set(node.dataset.tie.split("\n")) : null;
    root.classList.toggle("tying", wanted != null);
    for (const other of root.querySelectorAll("[data-tie]")) {
      other.classList.toggle("tied", wanted != null && other.dataset.tie.split("\n").some((word) => wanted.has(word)));
    }
  };
  const of = (event) => event.target.closest?.("[data-tie]");
  root.addEventListener("pointerover", (event) => mark(of(event) ?? held));
  root.addEventListener("pointerleave", () => mark(held));
  root.addEventListener("focusin", (event) => mark(of(event) ?? held));
  root.addEventListener("focusout", () => mark(held));
  root.addEventListener("click", (event) => {
    const part = event.target.closest?.(".part");
    for (const other of root.querySelectorAll(".part[aria-pressed='true']")) {
      if (other !== part) other.setAttribute("aria-pressed", "false");
    }
    if (!part) return;
    const on = part.getAttribute("aria-pressed") !== "true";
    part.setAttribute("aria-pressed", String(on));
    held = on ? part.closest("[data-tie]") : null;
    mark(held);
  });
  return () => { held = null; mark(null); };
}

/** Ties the values on the phones' screens. */
export function tieScreens(root, ties) {
  for (const node of root.querySelectorAll("[data-field]")) {
    if (ties.fields.has(node.dataset.field)) tie(node, ties, [ties.fields.get(node.dataset.field)]);
  }
}

/** Replaces a node's content with the link, or with nothing if there is none. */
export function showLink(node, text, explain, ties) {
  const parts = explain?.link?.parts ?? [];
  node.hidden = parts.length === 0;
  clear(node, parts.length > 0 && drawLink(text, parts, ties));
}
