// Two decisions side by side: of the served table and of the candidate.

import { el, outside, shown } from "./dom.js";
import { decisionOf } from "./decision-members.js";
import { drawPhones } from "./phones.js";
import { drawSentence } from "./try-answer.js";

/** Members of a decision that are not seen on the screens, in words. */
const MEMBERS = {
  __proto__: null, route: "the route", variant: "the variant", via: "the redirects", mode: "how the screens are opened",
  dismissModals: "whether sheets close first", path: "the path", notes: "the notes", reason: "the reason",
  detail: "the detail", resume: "what follows", context: "the context", facts: "the facts from the registry",
};
/** The most values that are named. */
const MAX_NAMED = 4;

/** Draws both decisions of an effect. Where they show the same screens, words say what differs. */
export function drawSides({ old, new: own, values }, oldName, newName) {
  const isSame = seen(old.decision) === seen(own.decision);
  const data = values.map(dataOf).filter(Boolean);
  const changed = new Set(data.map(({ index, name }) => `${index}.data.${name}`));
  const draw = (side, word, name, marks) => el("figure", {},
    el("figcaption", {}, el("span", { class: "label", title: shown(name ?? "") }, word),
      drawSentence(side, { tag: "p", name: "sentence" })),
    side.decision.outcome ? drawPhones(side.decision, { size: "small", changed: marks }) : null);
  if (!isSame) {
    return el("div", { class: "compare-sides" }, draw(old, "Served", oldName), draw(own, "Candidate", newName));
  }
  const words = el("p", { class: "compare-same" },
    (own.decision.stack?.length > 0 ? "The same screens. " : "The same result. "), differing(values, data));
  if (data.length === 0) {
    return [words, el("div", { class: "compare-sides" }, draw(own, "Served and candidate", newName))];
  }
  return [words, el("div", { class: "compare-sides" }, draw(old, "Served", oldName, changed),
    draw(own, "Candidate", newName, changed))];
}

/** What differs, in words. */
function differing(values, data) {
  const named = data.slice(0, MAX_NAMED).map(({ name, value }, index) => [index > 0 && ", ",
    outside(name, { class: "mono" }), " ", valueNode(value.old), " → ", valueNode(value.new)]);
  const rest = data.length > MAX_NAMED ? `, and ${data.length - MAX_NAMED} more` : "";
  const others = [...new Set(values.filter((value) => !dataOf(value)).map(({ member }) => nameOf(member)))];
  return [data.length > 0 && ["Their data differ: ", named, rest, ". "],
    others.length > 0 && [data.length > 0 ? "Also different: " : "Different: ",
      others.slice(0, MAX_NAMED).join(", "), "."],
    values.length === 0 && "Only the version of the table differs."];
}

/** A value of a screen, or nothing for another member. */
function dataOf(value) {
  const match = /^stack\[(\d+)\]\.data\.([^.]+\.[^.[]+)/.exec(value.member);
  return match && { index: Number(match[1]), name: match[2], value };
}

function nameOf(member) {
  const name = /^[A-Za-z]+/.exec(member)?.[0];
  return MEMBERS[name] ?? shown(member, 60);
}

function valueNode(value) {
  return value === undefined ? el("span", { class: "muted", text: "absent" })
    : outside(typeof value === "string" ? value : JSON.stringify(value), { class: "mono", limit: 80 });
}

/** What people see of a decision, apart from the data of its screens. */
function seen(given) {
  const { outcome, url, stack, reason, guard, notice } = decisionOf(given);
  return JSON.stringify([outcome, url, (stack ?? []).map(({ coordinator, screen, view, present }) =>
    [coordinator, screen, view, present]), outcome === "navigate" ? null : reason, guard, notice]);
}
