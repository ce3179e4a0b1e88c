// Phones that show what a decision opens.
//
//   drawPhones(decision, options)   an element for a decision's JSON; needs phones.css
//   topScreen(decision)             a few words for the result, as in a cell: "Product", "shop.example", "Rejected"
//
// Options: `screens` (of /api/resolve), `then` (what a deferred request opens afterwards, of resume.js), `platform`, `size` ("small" for rows and cells), `changed` (a Set of
// "2.data.Model.field": the values to mark). A decision can be that of any record: see decision-members.js.
// A value on a screen has `data-field="Model.field"`, so that a view can tie it to the part of the link it came from.

import { decisionOf } from "./decision-members.js";
import { el, humanize, icon, outside, readable, shown } from "./dom.js";
import { PRESENTATIONS, reasonText, toneOf, ttlText } from "./words.js";

/** Maximum number of screens that are drawn. The ones between the first and the last are counted. */
const MAX_SCREENS = 5;

/** Draws the phones of a decision. */
export function drawPhones(given, options = {}) {
  const decision = decisionOf(given);
  const scenes = [];
  const draw = { ...options, decision };
  const isFallback = toneOf(decision) === "fallback";
  if (decision.wrong.includes("stack")) return unreadable(given.stack);
  switch (decision.outcome) {
    case "navigate": scenes.push(stackScene(decision, draw, isFallback ? "Fallback" : "")); break;
    case "external": scenes.push(scene(isFallback ? "Fallback, outside the app" : "Outside the app", browserPhone(decision.url, draw))); break;
    case "deferred": scenes.push(stackScene(decision, draw, "Now"), thenScene(decision, draw)); break;
    case "none": scenes.push(scene("", quietPhone(decision, draw))); break;
    case "reject": scenes.push(scene("The app decides what it shows for a rejection", phone(draw, rootScreen()))); break;
    default: scenes.push(scene("An outcome that this page does not know", phone(draw, rootScreen())));
  }
  if (decision.notice) scenes.push(noticeScene(decision.notice, draw));
  return el("div", {
    class: "phones" + (options.size ? " " + options.size : ""),
    data: { outcome: decision.outcome, tone: toneOf(decision), platform: String(options.platform ?? "").toLowerCase() },
  }, scenes);
}

/** A stack that cannot be drawn, as text. */
function unreadable(stack) {
  return el("div", { class: "unreadable" }, el("p", { class: "muted", text: "This stack is not one of screens:" }),
    el("p", {}, outside(JSON.stringify(stack ?? null), { class: "mono", limit: 600 })));
}

/** A few words for a decision's result. */
export function topScreen(given) {
  const decision = decisionOf(given);
  if (decision.wrong.includes("stack")) return "Unknown";
  const top = decision.stack?.at(-1);
  switch (decision.outcome) {
    case "navigate": return top ? humanize(top.screen) : "Start of the app";
    case "external": return host(decision.url);
    case "deferred": return top ? `${humanize(top.screen)} first` : "Waits";
    case "none": return "Nothing";
    case "reject": return "Rejected";
    default: return "Unknown";
  }
}

/** A scene: phones that belong together, with a caption below. */
function scene(caption, ...content) {
  return el("figure", { class: "scene" }, content, caption && el("figcaption", { class: "label", text: caption }));
}

/** The scene of a stack: lower screens as a pile behind the phone. */
function stackScene(decision, draw, caption = "") {
  const stack = decision.stack ?? [];
  if (stack.length === 0) return scene(caption, rootPhone(draw));
  const items = piled(stack.map((entry, index) => ({ entry, index, below: stack[index - 1] })));
  const last = items.at(-1);
  const pile = el("ol", { class: "pile", attrs: { "aria-label": `Screens, ${stack.length}` } });
  pile.style.setProperty("--lower", String(Math.max(1, items.length - 1)));
  for (const item of items.slice(0, -1)) pile.append(item.more ? moreCard(item.more) : card(item, stack.length, draw));
  pile.append(el("li", { class: "top", attrs: { "aria-label": position(last, stack.length) } },
    screenPhone(last, draw)));
  const notes = [caption];
  if (decision.mode === "append") notes.push("On top of what is open");
  if (decision.mode === "reuse") notes.push("Screens that are open stay");
  if (decision.dismissModals) notes.push("Sheets, covers, and alerts close first");
  return scene(notes.filter((note) => note !== "").join(". "), pile);
}

/** The items that are drawn: all, or the first, a count, and the last ones. */
function piled(items) {
  if (items.length <= MAX_SCREENS) return items;
  const rest = items.slice(1 - MAX_SCREENS + 1);
  return [items[0], { more: items.length - rest.length - 1 }, ...rest];
}

/** What screen readers say before a screen. */
function position(item, total) {
  const how = item.index === 0 && item.entry.present === "push" ? "the lowest" : PRESENTATIONS[item.entry.present];
  return `Screen ${item.index + 1} of ${total}, ${how}`;
}

/** A lower screen of the pile. */
function card(item, total, draw) {
  return el("li", { class: "lower", data: { present: item.entry.present },
    attrs: { "aria-label": position(item, total), tabindex: "0" } },
    el("div", { class: "screen" }, screenContent(item, draw)));
}

/** The card that counts the screens which are not drawn. */
function moreCard(number) {
  return el("li", { class: "lower more", attrs: { "aria-label": `${number} more screens` } },
    el("div", { class: "screen" }, el("p", { class: "screen-title", text: `+${number}` })));
}

/** The phone with the top screen, over what is below it. */
function screenPhone(item, draw) {
  const { entry, below } = item;
  if (entry.present === "push") {
    const inside = sheetBelow(item, draw);
    return phone(draw, inside ?? el("div", { class: "screen" }, screenContent(item, draw)));
  }
  if (entry.present === "cover") return phone(draw, el("div", { class: "screen cover" }, screenContent(item, draw)));
  const under = below
    ? el("div", { class: "screen", attrs: { "aria-hidden": "true" } },
      screenContent({ entry: below, index: item.index - 1 }, { ...draw, plain: true }))
    : rootScreen();
  const kind = entry.present === "alert" ? "alert" : "sheet";
  return phone(draw, under, el("div", { class: "veil" }), el("div", { class: kind }, screenContent(item, draw)));
}

/** The sheet or cover in which a pushed screen is: pushed onto a sheet, it stays in the sheet. */
function sheetBelow(item, draw) {
  const stack = draw.decision.stack;
  let base = item.index;
  while (base > 0 && stack[base].present === "push") base -= 1;
  if (base === item.index || stack[base].present !== "sheet") return null;
  return [rootScreen(), el("div", { class: "veil" }), el("div", { class: "sheet" }, screenContent(item, draw))];
}

/** What is on a screen: bar, title, coordinator, values. */
function screenContent(item, draw) {
  const { entry, index, below } = item;
  const detail = draw.screens?.[index];
  const title = detail?.title ?? humanize(entry.view ?? entry.screen);
  const bar = el("div", { class: "bar", attrs: { "aria-hidden": "true" } },
    entry.present === "push" && below && [icon("back"), outside(humanize(below.screen), { limit: 60 })],
    (entry.present === "sheet" || entry.present === "cover") && icon("close"));
  const values = draw.plain ? [] : rows(entry, (name) => draw.changed?.has(`${index}.data.${name}`));
  return [
    bar,
    el("p", { class: "screen-title" }, outside(title)),
    el("p", { class: "coordinator" }, outside(entry.coordinator)),
    values.length > 0 && el("dl", { class: "bound" }, values),
    entry.present === "alert" ? el("p", { class: "alert-button", text: "OK", attrs: { "aria-hidden": "true" } })
      : lines(values.length),
  ];
}

/** The bound values of a screen: name and value. */
function rows(entry, isChanged) {
  const list = Object.entries(entry.data ?? {}).flatMap(([model, fields]) =>
    Object.entries(fields).map(([field, value]) => ({ name: `${model}.${field}`, field, value })));
  return list.map(({ name, field, value }) => {
    const text = valueText(value);
    const content = text === "" ? el("span", { class: "void", text: "empty" }) : outside(text, { limit: 120 });
    return el("div", { data: { field: name }, title: shown(`${name} = ${text}`, 400) },
      el("dt", {}, outside(field, { limit: 80 })), el("dd", {}, isChanged(name) ? el("mark", {}, content) : content));
  });
}

/** A value of a model as text. */
export function valueText(value) {
  if (value === null) return "none";
  if (Array.isArray(value)) return value.map((item) => (isNested(item) ? JSON.stringify(item) : String(item))).join(", ");
  return isNested(value) ? JSON.stringify(value) : String(value);
}

function isNested(value) {
  return value !== null && typeof value === "object";
}

/** Lines that stand for the rest of a screen. */
function lines(taken = 0) {
  const number = Math.max(1, 4 - taken);
  return el("div", { class: "lines", attrs: { "aria-hidden": "true" } }, Array.from({ length: number }, () => el("i")));
}

/** A phone around its screen. */
function phone(draw, ...content) {
  return el("div", { class: "phone" },
    el("div", { class: "glass" }, el("div", { class: "lens", attrs: { "aria-hidden": "true" } }), content,
      el("div", { class: "home", attrs: { "aria-hidden": "true" } })));
}

/** The screen with which an app starts, or what is open now. */
function rootScreen() {
  return el("div", { class: "screen root", attrs: { "aria-hidden": "true" } }, el("i", { class: "app-icon" }), lines());
}

/** The app at its start. */
function rootPhone(draw) {
  return phone(draw, el("div", { class: "screen root" }, el("i", { class: "app-icon" }),
    el("p", { class: "screen-title", text: "Start of the app" }), lines(1)));
}

/** The host of a URL, or its scheme if it has none. */
function host(url) {
  try {
    const { host, protocol } = new URL(url);
    return host || protocol.slice(0, -1);
  } catch {
    return String(url).slice(0, 40);
  }
}

/** A browser, or another app, with the URL. */
function browserPhone(given, draw) {
  const url = given ?? "";
  const isWeb = /^https?:/i.test(url);
  return phone(draw, el("div", { class: "screen browser" },
    el("p", { class: "address" }, icon(isWeb ? "deferred" : "external"), outside(host(url))),
    el("p", { class: "screen-title", text: isWeb ? "Web page" : "Another app" }),
    el("p", { class: "url" }, outside(readable(url), { limit: 240 })), lines(1)));
}

/** What waits until the device has the claim. */
function thenScene(decision, draw) {
  const resume = decision.resume;
  const claim = resume?.claim ?? decision.guard;
  const time = resume?.ttl ? `for ${ttlText(resume.ttl)} at most${resume.once ? ", once" : ""}` : "";
  const what = resume?.link ?? resume?.path ?? resume?.route;
  const then = draw.then && decisionOf(draw.then.decision);
  if (then && then.wrong.length === 0 && (then.outcome === "navigate" || then.outcome === "external")) {
    const caption = ["Then, when the device has ", el("b", {}, outside(claim)), time && `, ${time}`];
    const own = { ...draw, decision: then, screens: draw.then.screens, changed: null };
    const figure = then.outcome === "navigate" ? stackScene(then, own) : scene("", browserPhone(then.url, own));
    figure.append(el("figcaption", { class: "label" }, caption));
    return figure;
  }
  return scene(resume ? "Then" : "No way on", phone({ ...draw }, el("div", { class: "screen waiting" },
    el("span", { class: "lock" }, icon("deferred")),
    el("p", { class: "screen-title" }, "Waits for ", outside(claim)),
    time && el("p", { class: "coordinator", text: time }),
    what && el("p", { class: "url" }, outside(what, { limit: 160 })),
    resume?.payload && el("p", { class: "coordinator", text: "the same push message" }))));
}

/** Nothing opens: the notification stays a notification. */
function quietPhone(decision, draw) {
  return phone(draw, el("div", { class: "screen asleep" },
    el("p", { class: "clock", text: "9:41", attrs: { "aria-hidden": "true" } }),
    el("div", { class: "notification" }, el("i", { class: "app-icon" }),
      el("p", {}, el("b", { text: "Nothing opens" }), el("span", { text: shown(reasonText(decision.reason)) })))));
}

/** The screen that is shown beside the result. */
function noticeScene(path, draw) {
  const [coordinator, screen] = path.split("/").filter((part) => part !== "");
  const entry = { coordinator: coordinator ?? path, screen: screen ?? coordinator ?? path, present: "alert" };
  return scene("Beside it, in the app", phone(draw, rootScreen(), el("div", { class: "veil" }),
    el("div", { class: "alert" }, screenContent({ entry, index: -1 }, { plain: true }))));
}
