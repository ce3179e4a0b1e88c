// The five phases of a decision, from its explanation.

import { count, el, icon, link, outside, shown } from "./dom.js";
import { valueText } from "./phones.js";
import { prose, sentence } from "./states.js";
import { tie } from "./try-link.js";
import { PRESENTATIONS } from "./words.js";

const NAMES = { normalize: "Normalize", select: "Select a route", choose: "Choose a variant",
  compose: "Compose the stack", bind: "Bind the values" };
const ORDER = Object.keys(NAMES);
const MAX_NEAR = 3;

/** Draws the phases as a numbered list. */
export function drawPhases(item, ties) {
  const { explain, decision } = item;
  const failedAt = explain.failed ? ORDER.indexOf(phaseName(explain.failed.phase)) : -1;
  const content = {
    normalize: normalize(explain), select: select(explain, decision, ties), choose: choose(explain, ties),
    compose: compose(explain, decision), bind: bind(explain, ties),
  };
  const endedAt = failedAt >= 0 || !isEnd(decision) ? failedAt
    : Math.max(0, ORDER.findLastIndex((name) => content[name].length > 0));
  return el("ol", { class: "phases" }, ORDER.map((name, index) => {
    const failed = index === failedAt;
    const isAfter = endedAt >= 0 && index > endedAt;
    const skipped = isAfter || content[name].length === 0;
    return el("li", { data: { state: failed ? "failed" : skipped ? "skipped" : "done" } },
      el("h3", {}, number(index, failed), NAMES[name]),
      el("div", { class: "phase" }, failed && el("p", { class: "failure" }, prose(sentence(explain.failed.text))),
        content[name], skipped && content[name].length === 0
          && el("p", { class: "muted", text: isAfter ? "Not reached." : idle(name, decision) })));
  }));
}

/** True for a decision that opens nothing: it ended in the last phase that has something to show. */
function isEnd({ outcome }) {
  return outcome === "none" || outcome === "reject";
}

/** The number of a phase, or a cross if it failed. */
function number(index, failed) {
  return el("span", { class: "number", attrs: { "aria-hidden": "true" } }, failed ? icon("reject") : String(index + 1));
}

const IDLE = {
  normalize: "There is no link to normalize.", select: "No pattern was tried.", choose: "The route has one target.",
  compose: "There is no stack.", bind: "No screen needs values.",
};

/** Why a phase that was reached shows nothing. */
function idle(name, { route }) {
  return name === "choose" && route == null ? "There is no route." : IDLE[name];
}

/** The name of a phase as it is drawn. */
function phaseName(phase) {
  return phase === "variant" ? "choose" : phase;
}

/** What the link is after normalization. */
function normalize({ link: parts }) {
  if (!parts?.scheme && parts?.segments == null) return [];
  const facts = [["scheme", parts.scheme], ["host", parts.host], ["path", "/" + parts.segments.join(" / ")]];
  for (const { name, value } of parts.query) facts.push(["query", value == null ? name : `${name} = ${value}`]);
  for (const rewrite of parts.rewrites) facts.push(["rewrite", `${rewrite} is taken off`]);
  return [
    el("dl", { class: "facts" }, facts.filter(([, value]) => value != null && value !== "").map(([name, value]) =>
      [el("dt", { text: name }), el("dd", {}, outside(value))])),
    el("p", { class: "label" }, prose(sentence(parts.dialect))),
  ];
}

/** The patterns that match, and the nearest that do not. */
function select(explain, decision, ties) {
  const rows = explain.candidates.map((candidate) => {
    const content = [patternText(candidate, ties, candidate.chosen), routeLink(candidate.route, decision)];
    return candidate.chosen
      ? row("check", "done", ...content) : row("none", "other", ...content, "matches, but another has precedence");
  });
  for (const redirect of explain.redirects) {
    rows.push(row("next", "done", el("code", {}, outside(redirect.to)),
      routeLink(redirect.leadsTo ?? redirect.route, decision), `redirected by \`${shown(redirect.route)}\``));
  }
  const near = explain.rejected.filter((other) => other.near).slice(0, MAX_NEAR);
  for (const other of near) {
    rows.push(row("reject", "other", el("code", {}, outside(other.pattern)), routeLink(other.route, decision),
      other.misses[0]?.text));
  }
  const rest = explain.rejected.length - near.length;
  return [
    rows.length > 0 && el("ul", { class: "rows" }, rows),
    explain.captures.length > 0 && el("dl", { class: "facts" }, explain.captures.map(({ name, value }) => [
      tie(el("dt", { class: "mono", text: `{${shown(name)}}` }), ties, [`{${name}}`]),
      tie(el("dd", {}, outside(value)), ties, [`{${name}}`])])),
    rest > 0 && el("p", { class: "label", text: `${count(rest, "more pattern")} without a match.` }),
  ].filter(Boolean);
}

/** A pattern whose captures have the colors of their parts. */
function patternText({ pattern }, ties, colored) {
  const node = el("code");
  for (const piece of pattern.split(/(\{[^}]*\})/)) {
    const name = /^\{([A-Za-z0-9_-]+)/.exec(piece)?.[1];
    const text = el("span", {}, outside(piece));
    if (name && colored) tie(text, ties, [`{${name}}`]);
    node.append(text);
  }
  return node;
}

/** A link to a route's page. */
function routeLink(route, decision) {
  const table = String(decision.table ?? "").split("@")[0];
  return route && link("route", { table, route }, outside(route));
}

/** A row with a glyph: what, where, remark. */
function row(glyph, state, ...content) {
  const [what, where, remark] = content;
  return el("li", { data: { state } }, icon(glyph), el("span", { class: "row-text" }, what, " ", where,
    remark && el("span", { class: "muted" }, " ", prose(remark))));
}

/** The variants that were tried. */
function choose({ variants }, ties) {
  if (variants.length === 0) return [];
  return [el("ul", { class: "rows" }, variants.map((variant) => tie(
    row(variant.ok ? "check" : "reject", variant.ok ? "done" : "other",
      el("span", { text: `Variant ${variant.index + 1}` }), null,
      variant.ok === "always" ? "has no condition" : variant.ok ?? variant.failed),
    ties, [`variant ${variant.index}`])))];
}

/** The stack, or the URL. */
function compose({ compose: entries, guards }, decision) {
  const glyph = (entry) => (entry.unsupported ? "reject" : entry.parent ? "next" : "check");
  const rows = entries.map((entry) => row(glyph(entry), entry.unsupported ? "other" : "done",
    el("code", { text: shown(`${entry.coordinator}/${entry.screen}`) }), null,
    [entry.parent ? "parent" : "target", PRESENTATIONS[entry.present], entry.unsupported && "not in this version"]
      .filter(Boolean).join(", ")));
  for (const guard of guards) {
    rows.push(row(guard.holds ? "check" : "deferred", guard.holds ? "done" : "waits",
      el("span", {}, "Guard ", el("code", { text: shown(guard.guard) })), null,
      `of ${guard.coordinator} ${guard.holds ? "holds" : "does not hold"}: claim \`${guard.claim}\``));
  }
  if (typeof decision.url === "string") rows.push(row("external", "done", el("code", {}, outside(decision.url)), null,
    "opens outside the app"));
  return rows.length > 0 ? [el("ul", { class: "rows" }, rows)] : [];
}

/** The fields with their sources. */
function bind({ bind: bindings }, ties) {
  if (bindings.length === 0) return [];
  return [el("ul", { class: "rows bindings" }, bindings.map((binding) => {
    const bad = binding.result === "invalid" || binding.result === "missing";
    const raw = valueText(binding.raw ?? []);
    const value = "value" in binding ? valueText(binding.value) : raw;
    const node = row(bad ? "reject" : binding.result === "bound" ? "check" : "none", bad ? "bad" : "done",
      el("code", { text: shown(binding.field) }), value !== "" && el("b", {}, outside(value, { limit: 200 })),
        remark(binding, raw));
    return tie(node, ties, [ties.fields.get(binding.field)]);
  }))];
}

/** Where a value comes from. */
function remark({ result, source, type }, raw) {
  switch (result) {
    case "bound": return `from \`${source}\`, type \`${type}\``;
    case "absent": return `the default, because \`${source}\` is absent; type \`${type}\``;
    case "missing": return `is missing: \`${source}\`, type \`${type}\``;
    case "invalid": return `from \`${source}\` is not \`${type}\``;
    case "dropped": return `counts as missing: \`${shown(raw, 80)}\` is not \`${type}\``;
    case "repaired": return `repaired from \`${shown(raw, 80)}\``;
    default: return `${result}, \`${source}\``;
  }
}
