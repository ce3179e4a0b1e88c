// Building the page. Text from outside goes through `outside` or `shown`, and never becomes markup.
//
//   el(tag, options, ...children)   an element; options: {class, text, title, attrs, data, on}
//   svg(tag, attrs, ...children)    an SVG element
//   clear(node, ...children)        removes the children, then appends the given ones
//   link(view, params, content)     a link to a view: every value that can be filtered on is one
//   shown(text)                     text with control characters and bidi marks written as \u{…}
//   hiddenIn(text)                  the symbols of such characters in a text; withoutHidden(text) takes them out
//   outside(text, options)          a <bdi> for text from outside, with those symbols marked
//   readable(url)                   a URL whose percent-encoded letters can be read
//   icon(name)                      one of ICONS, drawn in the color of the text, hidden from screen readers
//   outcomeBadge(outcome, text)     glyph and word in the color of an outcome
//   button(text, options)           a <button type="button">; options as `el`, with `icon` and `click`
//   copyButton(textOf, label)       copies what `textOf()` returns and says so
//   duration(microseconds)          "0.12 ms"; count(number, noun) "1,204 routes"
//   useStyle(href)                  loads a style sheet of a view once
//
// Classes of console.css: see the comment at its top. States (empty, loading, stale, broken): states.js.
// Words for outcomes, reasons, platforms: words.js.

import { fragment } from "./router.js";

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

/** Paths of the icons, in a square of 16 units. */
export const ICONS = {
  __proto__: null, navigate: "M2.5 8h10M8.5 3.8 12.7 8l-4.2 4.2",
  fallback: "M13 12V9a3.5 3.5 0 0 0-3.5-3.5H3.5M6.5 2.5l-3 3 3 3",
  external: "M6 3H3v10h10v-3M9 3h4v4M13 3 7.5 8.5",
  deferred: "M4 7.5h8V14H4zM5.5 7.5V5a2.5 2.5 0 0 1 5 0v2.5",
  none: "M8 13.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11zM5.5 8h5",
  reject: "M3.8 3.8l8.4 8.4M12.2 3.8l-8.4 8.4",
  back: "M10 3 5 8l5 5",
  next: "M6 3l5 5-5 5",
  down: "M3 6l5 5 5-5",
  close: "M4 4l8 8M12 4l-8 8",
  copy: "M5.5 5.5V3h7.5v7.5h-2.5M3 5.5h7.5V13H3z",
  check: "M3 8.5 6.5 12 13 4.5",
  search: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.5 10.5 14 14",
  clock: "M8 13.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11zM8 5v3l2 2",
  phone: "M5 1.5h6v13H5zM7.2 12.5h1.6",
  warning: "M8 2.5 14.5 13.5h-13zM8 6.5v3.5M8 11.8v.2",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  play: "M5 3l8 5-8 5z",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  link: "M6.8 9.2a2.6 2.6 0 0 0 3.7 0l2-2a2.6 2.6 0 0 0-3.7-3.7l-.8.8"
    + "M9.2 6.8a2.6 2.6 0 0 0-3.7 0l-2 2a2.6 2.6 0 0 0 3.7 3.7l.8-.8",
};

/** Creates an element with text, attributes, data attributes, listeners, and children. */
export function el(tag, options = {}, ...children) {
  const node = document.createElement(tag);
  if (options.class) node.className = options.class;
  if (options.title) node.title = options.title;
  setAll(node, options.attrs);
  for (const [name, value] of Object.entries(options.data ?? {})) if (value != null) node.dataset[name] = value;
  for (const [type, listener] of Object.entries(options.on ?? {})) node.addEventListener(type, listener);
  if (options.text != null) node.textContent = options.text;
  return append(node, children);
}

/** Creates an SVG element. */
export function svg(tag, attrs = {}, ...children) {
  const node = document.createElementNS(SVG_NAMESPACE, tag);
  setAll(node, attrs);
  return append(node, children);
}

/** Sets attributes: `true` sets an empty one, `false` and null set none. */
function setAll(node, attrs = {}) {
  for (const [name, value] of Object.entries(attrs ?? {})) {
    if (value == null || value === false) continue;
    node.setAttribute(name, value === true ? "" : String(value));
  }
}

/** Appends nodes and texts, and skips null and false. */
export function append(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child == null || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

/** Removes all children of a node, then appends the given ones. */
export function clear(node, ...children) {
  node.replaceChildren();
  return append(node, children);
}

/** Creates a link to a view. `content` is text or nodes; the view's own parameters are in `params`. */
export function link(view, params, content, options = {}) {
  return el("a", { ...options, attrs: { href: fragment(view, params), ...options.attrs } }, content);
}

// Scripts in which a joiner changes how the letters beside it look, and the signs there that take a vowel away.
const JOINED = "(?=[\\p{L}\\p{M}])[" + ["Arab", "Syrc", "Mand", "Mong", "Nkoo", "Adlm", "Rohg", "Deva", "Beng", "Guru",
  "Gujr", "Orya", "Taml", "Telu", "Knda", "Mlym", "Sinh", "Mymr", "Khmr", "Tibt"].map((name) =>
  `\\p{scx=${name}}`).join("") + "]";
const VIRAMA = "[\\u094d\\u09cd\\u0a4d\\u0acd\\u0b4d\\u0bcd\\u0c4d\\u0ccd\\u0d4d\\u0dca\\u1039\\u17d2]";
const BEFORE_EMOJI = "[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\ufe0f]";
// A flag of a part of a country: a black flag with the letters of the part, in characters that are not seen.
const PART = ["eng", "sct", "wls"].map((name) => Array.from(name, (letter) => tagOf(letter)).join("")).join("|");
// Characters that are not seen by themselves, but have an effect here: in a word of such a script, in an emoji, or
// after a symbol.
const SEEN = [
  `(?<=${JOINED})[\\u200c\\u200d](?=${JOINED})`, `(?<=${VIRAMA})[\\u200c\\u200d]`,
  `(?<=${BEFORE_EMOJI})\\u200d(?=\\p{Extended_Pictographic})`,
  "(?<=(?![\\0-\\x7f])[\\p{S}\\p{Extended_Pictographic}])[\\ufe00-\\ufe0f]", "(?<=[#*0-9])\\ufe0f(?=\\u20e3)",
  `(?<=\\u{1f3f4}(?=${tagOf("g")}${tagOf("b")}(?:${PART})\\u{e007f})[\\u{e0061}-\\u{e007a}]{0,5})`
    + "[\\u{e0061}-\\u{e007f}]",
].join("|");
// Control characters except line feed and tab, lone surrogates, and what Unicode draws as nothing at all.
const HIDDEN = new RegExp("(?=[\\p{Default_Ignorable_Code_Point}\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f"
  + `\\u2028\\u2029\\u2800\\ufff9-\\ufffb\\u{1d159}\\p{Surrogate}])(?!${SEEN})[^]`, "gu");
/** Text without a character that could be hidden, as most is. */
const PLAIN = /^[\n\t\x20-\x7e]*$/;
/** Letters that are written from right to left. */
const RIGHT_TO_LEFT = /[\p{sc=Arab}\p{sc=Hebr}\p{sc=Syrc}\p{sc=Thaa}\p{sc=Nkoo}\p{sc=Adlm}\p{sc=Rohg}\p{sc=Mand}]/u;
/** A URL, a path, or a piece of one: its parts keep their order, also with letters from right to left. */
const PARTED = /^(?:[a-z][a-z0-9+.-]*:|[/?#&=.]|[^\s/]+\/\S*$)/i;
/** The longest letter with its marks that a cut does not split, in units. */
const LETTER = 64;

/** The invisible twin of an ASCII letter. */
function tagOf(letter) {
  return String.fromCodePoint(0xe0000 + letter.codePointAt(0));
}

/** Writes a hidden character as `\u{202E}`. */
function symbol(character) {
  return "\\u{" + character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0") + "}";
}

/** The hidden characters of a text, as symbols, each once. */
export function hiddenIn(text) {
  if (PLAIN.test(text)) return [];
  return [...new Set(Array.from(String(text).matchAll(HIDDEN), (match) => symbol(match[0])))];
}

/** A text without its hidden characters. */
export function withoutHidden(text) {
  return text.replace(HIDDEN, "");
}

/** Text in which hidden characters are written as `\u{…}`, cut after `limit` units. */
export function shown(text, limit = Infinity) {
  const end = cutAt(String(text), limit);
  return end.replace(HIDDEN, symbol);
}

/** A text of at most `limit` units with an ellipsis. A letter and its marks, or an emoji, is not cut in two. */
function cutAt(text, limit) {
  if (!(text.length > limit)) return text;
  const near = new Intl.Segmenter("en").segment(text.slice(Math.max(0, limit - LETTER), limit + LETTER));
  const start = near.containing(Math.min(limit, LETTER))?.index ?? 0;
  const end = limit - (start > 0 ? Math.min(limit, LETTER) - start : 0);
  return text.slice(0, end).replace(/[\ud800-\udbff]$/, "") + "…";
}

/** A URL in which letters are readable that are percent-encoded. What could be mistaken stays as it is. */
export function readable(url) {
  return url.replace(/(?:%[89a-f][0-9a-f])+/gi, (run) => {
    try {
      const text = decodeURIComponent(run);
      return /^[\p{L}\p{M}\p{N}]+$/u.test(text) ? text : run;
    } catch {
      return run;
    }
  });
}

/** Creates a <bdi> for text from outside. Hidden characters are symbols of the class `symbol`. */
export function outside(text, options = {}) {
  const cut = cutAt(String(text ?? ""), options.limit ?? Infinity);
  const isParted = PARTED.test(cut) && RIGHT_TO_LEFT.test(cut);
  const node = el("bdi", { ...options, attrs: { dir: isParted ? "ltr" : "auto", ...options.attrs } });
  if (!isParted) return withSymbols(node, cut);
  for (const piece of cut.split(/(\s*[/?#&=:;,@{}]+\s*)/)) {
    if (RIGHT_TO_LEFT.test(piece)) node.append(withSymbols(el("bdi"), piece));
    else withSymbols(node, piece);
  }
  return node;
}

/** Appends a text in which hidden characters are symbols. */
function withSymbols(node, text) {
  if (PLAIN.test(text)) {
    node.append(text);
    return node;
  }
  let from = 0;
  for (const match of text.matchAll(HIDDEN)) {
    if (match.index > from) node.append(text.slice(from, match.index));
    node.append(el("span", { class: "symbol", text: symbol(match[0]), title: "A hidden character" }));
    from = match.index + match[0].length;
  }
  if (from < text.length) node.append(text.slice(from));
  return node;
}

/** Draws an icon in the color of the text. */
export function icon(name, options = {}) {
  const attrs = { class: "icon " + (options.class ?? ""), viewBox: "0 0 16 16", "aria-hidden": "true" };
  return svg("svg", attrs, svg("path", { d: ICONS[name] ?? ICONS.none }));
}

/** Creates the badge of an outcome: glyph and word in its color. `tone` is "fallback" for that of a fallback rule. */
export function outcomeBadge(outcome, text, tone = outcome) {
  const isFallback = tone === "fallback";
  return el("span", { class: "badge", data: { outcome, tone: isFallback ? tone : null },
    title: isFallback ? `${outcome}, by a fallback rule after a failure` : null }, icon(tone),
    text ?? (isFallback ? `${outcome} (fallback)` : outcome));
}

/** Creates a button. `options.icon` names its icon, `options.click` is its action, `options.label` its name. */
export function button(text, options = {}) {
  const attrs = { type: "button", "aria-label": options.label, ...options.attrs };
  const on = options.click ? { ...options.on, click: options.click } : options.on;
  return el("button", { ...options, text: null, class: options.class ?? "button", attrs, on },
    options.icon && icon(options.icon), text);
}

/** Creates a button that copies the result of `textOf`, and shows for 1.5 s that it did. */
export function copyButton(textOf, label = "Copy") {
  const word = el("span", { text: label, attrs: { "aria-live": "polite" } });
  const node = button(word, { icon: "copy", class: "button quiet" });
  node.addEventListener("click", async () => {
    const done = await copy(textOf());
    word.textContent = done ? "Copied" : "Could not copy";
    node.firstChild.replaceWith(icon(done ? "check" : "warning"));
    setTimeout(() => {
      word.textContent = label;
      node.firstChild.replaceWith(icon("copy"));
    }, 1500);
  });
  return node;
}

/** Copies text, also where the page has no access to the clipboard's interface. Returns false if it cannot. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = el("textarea", { class: "visually-hidden", attrs: { "aria-hidden": "true" } });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

/** A time of `microseconds` as people read it. */
export function duration(microseconds) {
  if (microseconds < 1000) return `${Math.max(0.01, microseconds / 1000).toFixed(2)} ms`;
  if (microseconds < 1e6) return `${(microseconds / 1000).toFixed(1)} ms`;
  return `${(microseconds / 1e6).toFixed(1)} s`;
}

/** A number with its noun: "1 route", "1,204 routes". */
export function count(number, noun, plural = noun + "s") {
  return `${number.toLocaleString("en-US")} ${number === 1 ? noun : plural}`;
}

/** A name of the table as words: `newTrip` is "New trip". */
export function humanize(name) {
  const words = String(name).replace(/[-_.~]+/g, " ").replace(/([a-z0-9])([A-Z])/g, "$1 $2").toLowerCase().trim();
  return words === "" ? String(name) : capital(words);
}

/** A text with a capital at its start. */
export function capital(text) {
  const [first = ""] = text;
  return first.toUpperCase() + text.slice(first.length);
}

const styles = new Map();

/** Loads a style sheet of this folder once. Resolves when it applies. */
export function useStyle(href) {
  if (document.querySelector(`link[rel="stylesheet"][href="${CSS.escape(href)}"]`) && !styles.has(href)) {
    styles.set(href, Promise.resolve());
  }
  if (!styles.has(href)) {
    styles.set(href, new Promise((resolve) => {
      const node = el("link", { attrs: { rel: "stylesheet", href }, on: { load: resolve, error: resolve } });
      document.head.append(node);
    }));
  }
  return styles.get(href);
}
