// The view of one decision: what the device was told, the input, the reason, and what came before and after.

import { isAborted } from "./api.js";
import { clear, copyButton, el, icon, link, outcomeBadge, outside, shown, useStyle } from "./dom.js";
import { decisionOf } from "./decision-members.js";
import { changed, dateTime, shortTime } from "./feed-filter.js";
import { drawPhones, topScreen } from "./phones.js";
import { destinationOf, isWaiting } from "./resume.js";
import { prose, sentence } from "./states.js";
import { drawSentence } from "./try-answer.js";
import { followTies, showLink, tieScreens, tiesOf } from "./try-link.js";
import { drawPhases } from "./try-phases.js";
import { factsIn } from "./try-question.js";
import { detailText, OUTCOMES, platformName, reasonText, toneOf } from "./words.js";

class Decision {
  constructor(root, app) {
    this.app = app;
    this.root = root;
    this.unbind = app.keys.bind("Escape", "Back to the decisions", () => {
      if (history.length > 1) history.back();
      else app.go("decisions", {});
    });
  }

  update(params) {
    const asked = Object.fromEntries(["id", "topic", "partition", "offset"].filter((name) => params.has(name)).map((name) => [name, params.get(name)]));
    const key = JSON.stringify(asked);
    if (key === this.key) return;
    this.key = key;
    this.load(asked);
  }

  async load(asked) {
    this.request?.abort();
    const own = this.request = new AbortController();
    const done = this.app.loading(clear(this.root), "Reading the decision");
    try {
      const answer = await this.app.api.get("/api/decision", asked, own.signal);
      if (own === this.request) this.draw(answer);
    } catch (error) {
      if (own === this.request && error?.name !== "AbortError") clear(this.root, this.app.problem(error, () => this.load(asked)));
    } finally {
      done();
    }
  }

  draw({ why, device, timeline, sentence: parts }) {
    const { input, explain } = why;
    const { wrong, ...decision } = decisionOf(why.decision);
    this.app.title(`${topScreen(why.decision)}, decided ${shortTime(why.record.timestamp)}`);
    const ties = tiesOf(explain);
    const facts = factsOf(input, device, decision.facts);
    const drawn = (then) => drawPhones(why.decision, { platform: facts?.platform, then });
    const phones = el("div", {}, drawn(null));
    if (isWaiting(decision)) {
      const table = decision.table?.split("@")[0];
      const known = this.app.info.tables.some((other) => other.id === table);
      destinationOf(this.app.api, why.decision, facts ?? {}, known ? table : null, this.request.signal)
        .then((then) => { clear(phones, drawn(then)); tieScreens(phones, ties); })
        // Without the destination, the phone says what the app waits for.
        .catch((error) => { if (!isAborted(error)) console.error(error); });
    }
    const names = wrong.map((name) => `\`${name}\``).join(", ");
    const warnings = wrong.length === 0 ? why.warnings
      : [...why.warnings, `this record is no decision as a worker writes it: ${names}. Its JSON is at the end`];
    tieScreens(phones, ties);
    const linkNode = el("div", {});
    const text = typeof input?.value?.link === "string" ? input.value.link : null;
    showLink(linkNode, text ?? "", text === null ? null : explain, ties);
    clear(this.root, lead(decision, parts, why, device), deviceLine(facts),
      decision.facts && el("p", { class: "source label" }, "From the registry of devices: ",
        outside(Object.keys(decision.facts).join(", "), { limit: 200 })),
      warnings.length > 0 && el("ul", { class: "stack section" }, warnings.map((warning) => el("li", { class: "banner", data: { tone: "deferred" } }, icon("warning"), prose(sentence(warning))))),
      el("div", { class: "why-columns" },
        el("div", {}, section("What the device was told", phones), timelineSection(timeline, why.record, decision, device)),
        el("div", {},
          !linkNode.hidden && section("The link", linkNode),
          explain && section(why.same === false ? "What these tables would decide" : "Why", drawPhases({ explain, decision }, ties)),
          !explain && this.app.info.mask && section("Why", el("p", { class: "muted", text: "The explanation contains the link, so it is masked." })),
          why.expired && section("Why", el("p", { text: "The event had expired when it was decided, so no table was asked." })),
          decision.reason === "no_device" && section("Why", el("p", { text: "The registry knew no device of the event's user when it was decided." })),
          why.differences.length > 0 && section("Decided then, and now", differences(why)),
          inputSection(input), section("The decision", json(why.decision, "Decision as JSON")))));
    followTies(this.root);
    // Whoever opened it from a list is at its heading; a page that was just loaded begins at its start.
    if (navigator.userActivation?.hasBeenActive && document.activeElement === document.body) {
      this.root.querySelector("h1").focus({ preventScroll: true });
    }
  }

  unmount() {
    this.request?.abort();
    this.unbind();
  }
}

/** The sentence at the top, with the decision's own facts. */
function lead(decision, parts, why, device) {
  const { outcome } = decision;
  const table = decision.table?.split("@")[0];
  const because = why.same !== false && why.explain?.failed && why.explain.failed.reason === decision.reason ? cause(why.explain, decision) : null;
  const rest = outcome === "reject" || outcome === "none" ? [": ", prose(because ?? reasonText(decision.reason))] : OUTCOMES[outcome] ? [": ", el("b", {}, outside(topScreen(why.decision)))] : [];
  const facts = [
    dateTime(why.record.timestamp),
    device && el("span", {}, "device ", link("decisions", { device }, outside(device, { limit: 120 }))),
    decision.user && el("span", {}, "user ", outside(decision.user, { limit: 120 })),
    decision.event && el("span", {}, "event ", link("decisions", { event: decision.event, kind: "any" }, outside(decision.event, { limit: 120 }))),
    decision.supersedes && el("span", {}, "corrects ", link("decision", { id: decision.supersedes }, outside(decision.supersedes, { limit: 120 }))),
    decision.route && el("span", {}, "route ", link("route", { table, route: decision.route }, outside(decision.route))),
    decision.reason && el("span", {}, "reason ", link("decisions", changed({}, { reason: decision.reason }), outside(decision.reason))),
    decision.detail && el("span", { title: shown(decision.detail, 200) }, "detail ", outside(detailText(decision.detail), { limit: 120 })),
    decision.table && el("span", {}, "table ", link("decisions", { table: decision.table }, outside(decision.table))),
    decision.context?.push?.campaign && el("span", {}, "campaign ", link("decisions", { campaign: decision.context.push.campaign }, outside(decision.context.push.campaign, { limit: 120 }))),
    ...Object.entries(decision.context?.query ?? {}).map(([name, value]) =>
      el("span", {}, `${shown(name, 64)} `, link("decisions", { "context.query": `${name}=${value}` }, outside(value, { limit: 120 })))),
    el("span", { class: "mono", text: shown(`${why.record.topic}-${why.record.partition}-${why.record.offset}`) }),
  ];
  const heading = parts?.length > 0 ? drawSentence({ sentence: parts, decision }, { tag: "h1" })
    : el("h1", { class: "display answer", data: { outcome, tone: toneOf(decision) } }, el("b", { class: "tone" }, icon(toneOf(decision)), OUTCOMES[outcome] ?? shown(outcome ?? "Unknown outcome")), rest);
  heading.tabIndex = -1;
  return el("div", {}, heading, el("p", { class: "source label" }, facts.filter(Boolean)));
}

/** The cause of a rejection, which is more precise than its reason, if the same tables explain it. */
function cause({ failed, bind }, { reason, detail }) {
  const field = detail?.split(".").at(-1);
  const raw = (bind ?? []).find((binding) => binding.field === detail)?.raw;
  if (reason === "param_missing" && field) return `\`${field}\` is missing`;
  if (reason === "param_invalid" && field) return `\`${field}\` cannot be${raw == null ? " this" : ` \`${shown([raw].flat().join(", "), 80)}\``}`;
  return failed.text;
}

/** A section with a heading. */
function section(title, ...content) {
  return el("section", {}, el("h2", { text: title }), content);
}

/** The facts of the device of the decision, as its event states them and as they came from the registry, or null. */
function factsOf(input, device, registered) {
  const value = input?.value;
  const all = [value?.device, ...(Array.isArray(value?.devices) ? value.devices : [])];
  const stated = all.find((other) => other?.id === device) ?? value?.device;
  const isStated = stated !== null && typeof stated === "object";
  return isStated || registered ? factsIn({ ...(isStated ? stated : {}), ...registered }) : null;
}

/** The facts about the device as a line below the headline. */
function deviceLine(facts) {
  if (!facts) return null;
  const named = (name, value) => value && el("span", {}, `${name} `, outside(value, { limit: 80 }));
  const lists = [["claims", facts.claims], ["capabilities", facts.capabilities]]
    .map(([name, list]) => named(name, list.slice(0, 12).join(", ")));
  const items = [
    facts.platform && outside(platformName(facts.platform), { limit: 40 }), named("app", facts.app), named("OS", facts.os),
    facts.locale && outside(facts.locale, { limit: 40 }), named("region", facts.region), ...lists,
    ...Object.entries(facts.attributes).slice(0, 12).map(([name, value]) => named(shown(name, 40), value)),
  ].filter(Boolean);
  return el("p", { class: "source label device-facts", attrs: { "aria-label": "Facts about the device" } },
    items.length > 0 ? items : "The event states no facts about the device.");
}

/** The record of the event. */
function inputSection(input) {
  if (!input) return section("The event", el("p", { class: "muted", text: "Its record no longer exists." }));
  return section("The event", el("p", { class: "source label" }, el("span", { class: "mono", text: shown(`${input.topic}-${input.partition}-${input.offset}`) }),
    dateTime(input.timestamp)), json(input.value ?? input, "Event as JSON"));
}

/** A value as JSON, with a button that copies it. */
function json(value, label) {
  const pre = el("pre", { class: "code", text: shown(JSON.stringify(value, null, 2)), attrs: { tabindex: "0", "aria-label": label } });
  return el("details", { class: "fold" }, el("summary", {}, icon("next"), label), el("div", { class: "fold-body" }, copyButton(() => JSON.stringify(value), "Copy"), pre));
}

/** The members that differ from what the tables at hand decide. */
function differences({ differences: rows, identity, table }) {
  return el("table", { class: "table differences" },
    el("thead", {}, el("tr", {}, el("th", { text: "Member", attrs: { scope: "col" } }),
      el("th", { attrs: { scope: "col" } }, "Decided by ", outside(identity ?? "no table")),
      el("th", { attrs: { scope: "col" } }, "Now, with ", outside(table?.identity ?? "the tables at hand")))),
    el("tbody", {}, rows.map((row) => el("tr", {}, el("td", {}, el("code", { text: shown(row.member) })),
      [row.decided, row.now].map((text) => el("td", {}, text == null ? el("span", { class: "muted", text: "nothing" }) : outside(text, { limit: 400, class: "mono" })))))));
}

/** The decisions of the device, newest first, with this one in its place. */
function timelineSection(timeline, record, decision, device) {
  const own = { kind: "decision", time: record.timestamp, topic: record.topic, partition: record.partition, offset: record.offset, outcome: decision.outcome, route: decision.route, reason: decision.reason, isOwn: true };
  const rows = [...timeline.after.toReversed(), own, ...timeline.before];
  return section("The device before and after",
    el("ol", { class: "timeline" }, rows.map((row) => el("li", { attrs: { "aria-current": row.isOwn ? "true" : null }, data: { outcome: row.outcome ?? "reject", tone: toneOf(row) } },
      el("i", { class: "dot" }), timeNode(row),
      el("span", {}, row.outcome ? outcomeBadge(row.outcome, undefined, toneOf(row)) : el("span", { class: "badge" }, icon("warning"), "dead letter"), " ",
        outside([row.route, row.reason].filter(Boolean).join(", ") || (row.target ?? ""), { limit: 120 }),
        row.reason && el("span", { class: "muted", text: ` ${reasonText(row.reason)}` }))))),
    el("p", { class: "label" }, timeline.cut && "Older decisions of the device were not searched. ",
      device && link("decisions", { device }, "All decisions of the device")));
}

/** The time of a row of the timeline, which leads to it. */
function timeNode(row) {
  if (row.isOwn || row.kind !== "decision") return el("span", { class: "num", text: shortTime(row.time), title: dateTime(row.time) });
  return link("decision", { topic: row.topic, partition: String(row.partition), offset: String(row.offset) }, shortTime(row.time), { class: "num", title: dateTime(row.time) });
}

export const view = {
  title: "Decision",
  async mount(root, app) {
    await Promise.all([useStyle("feed.css"), useStyle("try.css"), useStyle("phones.css")]);
    return new Decision(root, app);
  },
};
