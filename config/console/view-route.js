// The page of one route: patterns, examples, data, results by version, and relations to other routes.

import { clear, count, el, icon, link, outcomeBadge, outside, shown, useStyle } from "./dom.js";
import { KINDS } from "./map-model.js";
import { drawPhones } from "./phones.js";
import { deviceText, tableOf, tryLink } from "./route-parts.js";
import { prose } from "./states.js";
import { toneOf } from "./words.js";

const RELATIONS = {
  same: "matches the same links", wider: "matches some of this route's links", narrower: "matches all of this route's links, and more",
  crossing: "matches some of this route's links, and others",
};

/** Draws the page. */
function page(route, app) {
  const table = app.info.tables.find((entry) => entry.identity === route.table)?.id ?? app.tableId();
  const kind = KINDS[route.kind] ?? KINDS.none;
  const top = lastScreen(route);
  return el("article", { class: "route-page" },
    el("header", { class: "stack" },
      el("p", { class: "label" }, link("map", { table }, "Map"), " / ", link("map", { table, q: route.group === "" ? null : route.group, route: route.route }, outside(route.group || "by id only", { limit: 60 }))),
      el("h1", { class: "display" }, outside(route.route, { limit: 120 })),
      el("p", { class: "route-lead" }, el("span", { class: "dot", data: { outcome: kind.tone } }), " ", outside(route.summary), "."),
      el("p", { class: "toolbar" }, link("map", { table, route: route.route }, "Show on the map", { class: "button" }),
        top && link("map", { table, screen: top }, ["What else leads to ", outside(top, { limit: 60 })], { class: "button quiet" }),
        link("decisions", { table, route: route.route }, "Its decisions", { class: "button quiet" })),
      notes(route)),
    section("Pattern", patterns(route)),
    section("Examples", examples(route, table)),
    route.variants.length > 0 && section(route.variants.length > 1 ? "Results by version and platform" : "Result", results(route, table)),
    route.models.length > 0 && section("Data", models(route)),
    route.guards.length > 0 && section("Guards", guards(route)),
    section("When it fails", failures(route)),
    section("Overlaps", overlaps(route, table)),
    hasRedirects(route) && section("Redirects", redirects(route, table)));
}

function section(title, ...content) {
  return el("section", { class: "section" }, el("h2", { text: title }), content);
}

function lastScreen(route) {
  const screen = route.variants.find((variant) => variant.screens.length > 0)?.screens.at(-1);
  return screen ? `${screen.coordinator}.${screen.screen}` : null;
}

/** Status, date of removal, priority, and how often the route was taken. */
function notes(route) {
  const taken = route.taken;
  const since = taken && new Date(taken.since).toLocaleString("en-US", { dateStyle: "medium", timeStyle: "short" });
  const facts = [
    route.status && ["Status", outside(route.status)], route.sunset && ["Until", outside(route.sunset)],
    route.priority && ["Priority", String(route.priority)],
    taken && ["Taken lately", `${count(taken.count, "decision")} since ${since}`],
  ].filter(Boolean);
  return facts.length === 0 ? null : el("dl", { class: "facts" }, facts.map(([name, value]) => [el("dt", { text: name }), el("dd", {}, value)]));
}

function patterns(route) {
  if (route.patterns.length === 0) return el("p", { class: "muted", text: "No pattern: only an event or a message that names this id reaches it." });
  return el("div", { class: "stack route-patterns" }, route.patterns.map((pattern) => el("div", { class: "route-pattern" },
    el("p", { class: "route-pattern-text mono" }, (pattern.scheme || pattern.host != null) && outside(`${pattern.scheme ?? "any"}://${pattern.host ?? "any host"}`),
      pattern.parts.length === 0 ? outside(pattern.text) : pattern.parts.map((part, index) => [el("span", { class: "muted", text: "/" }), partElement(part, index)]),
      pattern.isAlias && el("span", { class: "label", text: " alias" })),
    el("dl", { class: "facts route-parts" }, pattern.parts.filter((part) => part.name || !part.words.startsWith("the text")).map((part) => [
      el("dt", { class: "mono" }, outside(part.name ?? part.text, { limit: 80 })),
      el("dd", {}, prose(part.words), pattern.lastIsOptional && part === pattern.parts.at(-1) && ", or nothing",
        part.fills?.length > 0 && [" → ", part.fills.map((name, at) => [at > 0 && ", ", outside(name, { class: "mono" })])]),
    ])))),
  route.query.map((text) => el("p", {}, "Only if ", outside(text, { class: "mono" }), ".")));
}

function partElement(part, index) {
  const tone = part.name ? `var(--part-${index % 6 + 1})` : null;
  const node = outside(part.text, { class: part.name ? "route-part" : "", limit: 160 });
  if (tone) node.style.setProperty("--part", tone);
  return node;
}

function examples(route, table) {
  if (route.examples.length === 0) return el("p", { class: "muted", text: "No link that reaches this route is known." });
  const first = route.examples.find((example) => example.decision.outcome === "navigate") ?? route.examples[0];
  const rows = route.examples.map((example) => [
    [tryLink(example.link, example.device, table), example.isGenerated && el("span", { class: "label", text: " generated" })],
    example.device ? outside(deviceText(example.device), { limit: 200 }) : el("span", { class: "muted", text: "any" }),
    [outcomeBadge(example.decision.outcome, undefined, toneOf(example.decision)), " ", outcomeText(example.decision)],
  ]);
  return [
    tableOf({ isHidden: true, content: "Examples" }, ["Link", "Device", "Result"], rows),
    el("figure", { class: "route-phones" }, el("figcaption", { class: "label" }, "What ", outside(first.link, { class: "mono", limit: 120 }), " shows"), drawPhones(first.decision)),
  ];
}

function outcomeText(decision) {
  const text = decision.path ?? decision.url ?? [decision.reason, decision.detail].filter(Boolean).join(": ");
  return text ? outside(text, { class: "mono", limit: 200 }) : null;
}

function results(route, table) {
  return [route.timeline && timeline(route), el("ol", { class: "stack route-variants" }, route.variants.map((variant, index) => el("li", { class: "route-variant" },
    route.variants.length > 1 && el("span", { class: "route-number", text: String(index + 1), attrs: { "aria-label": `Variant ${index + 1}` } }),
    el("div", {},
      variant.when && el("p", { class: "label" }, outside(variant.when)),
      el("p", { class: "route-stack" }, stack(variant, table)),
      variant.manner && el("p", { class: "label", text: variant.manner }),
      variant.notice && el("p", { class: "label" }, "With the notice ", outside(variant.notice, { class: "mono" })))))),
  route.unsupported && el("p", { class: "muted" }, "If the app lacks a screen: ", outside(route.unsupported), ".")];
}

/** The screens of a variant, from bottom to top; each leads to what else opens it. */
function stack(variant, table) {
  if (variant.screens.length === 0) return variant.url ? [icon("external"), " ", outside(variant.url, { class: "mono" })] : outside(variant.to);
  return [variant.over && el("span", { class: "muted" }, "(the stack of ", link("route", { table, route: variant.over }, outside(variant.over)), ") "),
    variant.screens.map((screen, index) => [index > 0 && el("span", { class: "muted", text: " › " }),
      link("map", { table, screen: `${screen.coordinator}.${screen.screen}` }, [outside(`${screen.coordinator}.${screen.screen}`)]),
      screen.present !== "push" && el("span", { class: "label", text: ` (${screen.present})` })])];
}

/** Which variant applies, by platform and version. */
function timeline(route) {
  const { versions, platforms } = route.timeline;
  if (versions.length === 1 && platforms.length === 1) return null;
  const table = el("table", { class: "route-timeline" },
    el("caption", { class: "visually-hidden", text: "The variant that applies, by platform and version of the app" }),
    el("thead", {}, el("tr", {}, el("th", { attrs: { scope: "col" } }, el("span", { class: "visually-hidden", text: "Platform" })),
      versions.map((text) => el("th", { attrs: { scope: "col" } }, outside(text))))),
    el("tbody", {}, platforms.map((row) => el("tr", {},
      el("th", { attrs: { scope: "row" } }, row.platform ? outside(row.platform) : platforms.length > 1 ? "others" : "every platform"),
      row.cells.map((cell) => el("td", { attrs: { colspan: cell.to - cell.from + 1 } }, el("div", {
        class: "route-cell", data: { outcome: cellOutcome(route, cell) },
      }, cell.choices.length === 0 ? "none" : cell.choices.map((choice, index) => [
        el("span", { class: "route-choice" }, el("b", { text: String(choice.variant + 1) }), " ", shortResult(route.variants[choice.variant])),
        choice.when && el("span", { class: "label" }, " if ", outside(choice.when, { limit: 120 })),
        choice.lacks && el("span", { class: "label" }, " lacks ", outside(choice.lacks, { limit: 60 })),
        index < cell.choices.length - 1 && el("br"),
      ]))))))));
  table.style.setProperty("--columns", versions.length);
  return el("div", { class: "route-scroll", attrs: { tabindex: "0", role: "region", "aria-label": "Results by version and platform" } }, table);
}

function cellOutcome(route, cell) {
  const variant = route.variants[cell.choices[0]?.variant];
  if (!variant) return "none";
  if (cell.choices[0].lacks) return "reject";
  return variant.url ? "external" : "navigate";
}

function shortResult(variant) {
  const screen = variant.screens.at(-1);
  return outside(screen ? screen.screen : variant.url ?? variant.to, { limit: 48 });
}

function models(route) {
  return route.models.map((model) => tableOf({ content: outside(model.name) }, ["Field", "Value", "From", "If missing"], model.fields.map((field) => [
    outside(field.name, { class: "mono" }), prose(field.words),
    field.constant != null ? ["always ", outside(field.constant, { class: "mono" })] : field.source ? outside(field.source, { class: "mono" }) : el("span", { class: "muted", text: "nothing" }),
    outside(field.missing),
  ])));
}

function guards(route) {
  return el("ul", { class: "stack" }, route.guards.map((guard) => el("li", {}, el("span", { class: "with-icon" }, el("span", { class: "badge", data: { outcome: "deferred" } }, icon("deferred"), outside(guard.name))),
    " needs the claim ", outside(guard.claim, { class: "mono" }), ". Without it: ", outside(guard.to),
    guard.seconds ? `, and the link can be resolved again for ${count(guard.seconds, "second")}.` : ".")));
}

function failures(route) {
  if (route.failures.length === 0) return el("p", { class: "muted", text: "A link that selects this route cannot fail." });
  return tableOf({ isHidden: true, content: "When it fails" }, ["Reason", "Because", "Then"], route.failures.map((failure) => [
    el("span", { class: "mono", text: shown(failure.reason) }), outside(failure.cause), [outcomeBadge(failure.outcome), failure.to && [" ", outside(failure.to)]],
  ]));
}

function overlaps(route, table) {
  const list = route.overlaps.routes;
  return [list.length === 0
    ? el("p", { class: "muted", text: route.overlaps.isComplete ? "No link matches another route too." : "None was found, but the search was not complete." })
    : el("ul", { class: "stack" }, list.map((overlap) => el("li", {}, link("route", { table, route: overlap.route }, outside(overlap.route)), " ",
      outside(overlap.otherPattern, { class: "mono" }), ` ${RELATIONS[overlap.relation] ?? "overlaps"}. `,
      "Example: ", tryLink(overlap.link, null, table, 160),
      overlap.selected && [" selects ", overlap.selected === route.route ? "this route" : outside(overlap.selected)], "."))),
  list.length > 0 && !route.overlaps.isComplete && el("p", { class: "muted", text: "There may be more." })];
}

function hasRedirects(route) {
  return route.redirects.to != null || route.redirects.from.length > 0;
}

function redirects(route, table) {
  const { to, from } = route.redirects;
  return el("ul", { class: "stack" },
    to && el("li", {}, "To ", to.route ? link("route", { table, route: to.route }, outside(to.route)) : "the path", to.template && [" as ", outside(to.template, { class: "mono" })]),
    from.length > 0 && el("li", {}, "From ", from.map((id, index) => [index > 0 && ", ", link("route", { table, route: id }, outside(id))])));
}

/** The view. */
export const view = {
  title: "Route",
  async mount(root, app) {
    await Promise.all([useStyle("route.css"), useStyle("phones.css")]);
    let request = null;
    let shownKey = null;
    const unbind = app.keys.bind("Escape", "Back to the map", () => {
      const params = app.params();
      app.go("map", { table: params.get("table"), route: params.get("route") });
    });
    const load = async (params) => {
      const id = params.get("route");
      const table = params.get("table") ?? app.tableId();
      const key = JSON.stringify([table, id]);
      if (key === shownKey) return;
      request?.abort();
      request = new AbortController();
      const { signal } = request;
      if (!id) {
        clear(root, app.empty("No route is chosen", "Choose one on the map.", link("map", { table }, "Open the map", { class: "button" })));
        return;
      }
      const done = app.loading(clear(root), "Loading the route");
      try {
        const route = await app.api.get("/api/route", { table, route: id }, signal);
        if (signal.aborted) return;
        shownKey = key;
        clear(root, page(route, app));
        app.title(route.route);
      } catch (error) {
        if (!signal.aborted) clear(root, app.problem(error, () => load(params)));
      } finally {
        done();
      }
    };
    return { update: load, unmount() { request?.abort(); unbind(); } };
  },
};
