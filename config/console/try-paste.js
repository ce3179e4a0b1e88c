// What people paste around a link: quotes, spaces, a sentence, no scheme. The input itself is never changed.

import { parseJSON } from "./api.js";
import { hiddenIn, withoutHidden } from "./dom.js";

const MAX_MENDED = 3;
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;
const QUOTES = "\\s\"'`<>\\u00ab\\u00bb\\u2018\\u2019\\u201c\\u201d\\u201e";
const LINKS = new RegExp(`[a-z][a-z0-9+.-]*:\\/\\/[^${QUOTES}]+`, "gi");
const HOST = /^(?:\/\/)?((?:[\p{L}\p{N}-]+\.)+\p{L}{2,}(?:[/?#][^\s]*)?)$/u;

/** True if an input is meant as JSON: an object, or a list. */
export function isJSON(input) {
  return /^\s*(?:\{|\[\s*["{[\]])/.test(input);
}

/** Inputs that may be meant: the links in a text, or the elements of a list. At most three, without the input. */
export function mended(input) {
  const text = input.trim();
  const found = text.startsWith("{") ? repaired(text) : isJSON(text) ? elements(text) : linksIn(withoutHidden(text));
  return [...new Set(found)].filter((other) => other !== input).slice(0, MAX_MENDED);
}

/** A body with straight quotes instead of curly ones, and the brackets that it lacks at its end, if that parses. */
function repaired(text) {
  if (isParsed(text)) return [];
  const straight = text.replace(/[\u00ab\u00bb\u201c-\u201f]/g, '"');
  return [completed(text), straight, completed(straight)].filter(isParsed).slice(0, 1);
}

/** True for a text that is JSON. */
function isParsed(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** A body with the quote and the brackets that it lacks at its end. */
function completed(text) {
  const closers = [];
  let isString = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (isString && character === "\\") index += 1;
    else if (character === '"') isString = !isString;
    else if (isString) continue;
    else if (character === "{") closers.push("}");
    else if (character === "[") closers.push("]");
    else if (character === closers.at(-1)) closers.pop();
  }
  return text.replace(/,$/, "") + (isString ? '"' : "") + closers.reverse().join("");
}

/** The elements of a list. */
function elements(text) {
  try {
    return parseJSON(text).map((item) => (typeof item === "string" ? item : JSON.stringify(item)));
  } catch {
    return [];
  }
}

/** The links in a text. */
function linksIn(text) {
  const isBroken = /\s/.test(text) && SCHEME.test(text);
  if (isBroken && (text.match(LINKS) ?? []).length === 1) {
    return [text.replace(/\s*[\n\r\t]\s*/g, "").replace(/ +/g, "%20")];
  }
  const found = (text.match(LINKS) ?? []).map(withoutEnd);
  if (found.length > 0) return found;
  const host = HOST.exec(text.replace(new RegExp(`^[${QUOTES}]+|[${QUOTES}]+$`, "g"), ""));
  return host ? [`https://${host[1]}`] : [];
}

/** A link without the punctuation of the sentence after it. A bracket that the link opens stays. */
function withoutEnd(link) {
  let result = link;
  for (;;) {
    const end = result.at(-1);
    const isPair = end === ")" && result.split("(").length >= result.split(")").length;
    if (isPair || !/[.,;:!?)\]}]/.test(end)) return result;
    result = result.slice(0, -1);
  }
}

/** Why an input is not read as a link, as a sentence. */
export function unreadable(input) {
  const text = input.trim();
  if (/^\[/.test(text) && isJSON(text)) return "This is a list. Paste one of its messages.";
  if (!SCHEME.test(text)) return "This is not a link: it does not begin with a scheme, such as `https://`.";
  if (hiddenIn(input).length > 0) return "This contains hidden characters.";
  if (/\s/.test(text)) return "This is not one link: it contains spaces or line breaks.";
  return null;
}
