// The targets of a map: coordinators as lanes with their screens as cards, and the rim.

import { clear, count, el, icon, outside, shown } from "./dom.js";

/** The most cards that are drawn. A larger table shows those that the filters reach. */
const MOST_CARDS = 2000;
/** Up to so many screens, each card has a row of its own. */
const FEW_CARDS = 28;
const GLYPHS = { sheet: "M3 13V6.5A2.5 2.5 0 0 1 5.5 4h5A2.5 2.5 0 0 1 13 6.5V13", cover: "M3.5 2.5h9v11h-9z", alert: "M4 5.5h8v5H4z" };

/** Creates the lanes. `actions.hover(key)` and `actions.pick(key)` take the key of a target. */
export function laneList(model, actions) {
  const element = el("div", { class: "map-lanes", attrs: { role: "group", "aria-label": "Screens and other targets" } });
  const cards = new Map();
  const heads = new Map();
  const keyOf = (event) => event.target.closest?.("[data-target]")?.dataset.target ?? null;
  element.addEventListener("pointerover", (event) => actions.hover(keyOf(event)));
  element.addEventListener("pointerleave", () => actions.hover(null));
  element.addEventListener("focusin", (event) => actions.hover(keyOf(event)));
  element.addEventListener("focusout", () => actions.hover(null));
  element.addEventListener("click", (event) => { const key = keyOf(event); if (key) actions.pick(key); });
  element.addEventListener("scroll", actions.scrolled, { passive: true });

  const card = (target, reached, chosen) => {
    const number = reached.get(target.key) ?? 0;
    const node = el("button", {
      class: "map-card" + (number === 0 ? " unused" : ""), data: { target: target.key, outcome: target.tone ?? "navigate" },
      attrs: { type: "button", "aria-pressed": String(target.key === chosen), "aria-label": label(target, number) },
    }, target.isInitial && el("span", { class: "map-initial", title: "The coordinator's first screen" }),
    outside(target.name, { limit: 64 }), (target.present ?? []).filter((name) => GLYPHS[name]).map(presentation),
    target.requires && el("span", { class: "map-mark", title: shown(target.requires) }, icon("phone")),
    el("span", { class: "num map-count", text: number.toLocaleString("en-US") }),
    el("span", { class: "map-step", attrs: { "aria-hidden": "true" } }));
    cards.set(target.key, node);
    return node;
  };

  const isTall = model.screens.length + model.rim.length <= FEW_CARDS;
  element.classList.toggle("tall", isTall);

  return {
    element, cards, heads,
    isTall: () => isTall,
    /** The height of all lanes in pixels. */
    height() {
      const last = element.lastElementChild;
      return last ? last.offsetTop + last.offsetHeight - element.firstElementChild.offsetTop + 8 : 0;
    },
    /** Scrolls the lanes so that a card is in sight. */
    reveal(key) {
      const node = cards.get(key);
      if (!node) return;
      const [own, area] = [node.getBoundingClientRect(), element.getBoundingClientRect()];
      if (own.top < area.top || own.bottom > area.bottom) element.scrollTop += own.top - area.top - area.height / 2;
    },
    /** Draws the lanes. `reached` is the number of routes by target. */
    show(reached, chosen, isFiltered) {
      cards.clear();
      heads.clear();
      let left = MOST_CARDS;
      const isLarge = model.screens.length > MOST_CARDS || (isFiltered && model.lanes.length > 24);
      let hidden = 0;
      const lanes = model.lanes.map((lane) => {
        const own = isLarge && isFiltered ? lane.screens.filter((screen) => reached.has(screen.key)) : lane.screens;
        hidden += lane.screens.length - Math.min(own.length, left);
        const screens = own.slice(0, left);
        left -= screens.length;
        return screens.length === 0 ? null : laneElement(lane, heads, screens.map((screen) => card(screen, reached, chosen)));
      });
      clear(element, lanes,
        hidden > 0 && el("p", { class: "muted map-hidden", text: `${count(hidden, "screen")} not shown. Search to see others.` }),
        model.rim.length > 0 && el("section", { class: "map-lane rim" },
          el("h2", { class: "map-lane-title", text: "Elsewhere" }),
          el("div", { class: "map-cards" }, model.rim.map((target) => card(target, reached, chosen)))));
    },
    /** Marks the targets of a way with their steps, or none. */
    mark(steps, guards) {
      for (const [key, node] of cards) {
        const step = steps?.get(key);
        node.classList.toggle("on", step != null);
        node.classList.toggle("off", steps != null && step == null);
        node.querySelector(".map-step").textContent = step != null && steps.size > 1 && !key.startsWith("@") ? step : "";
      }
      for (const [name, node] of heads) node.classList.toggle("on", guards?.has(name) ?? false);
    },
  };
}

function laneElement(lane, heads, cards) {
  const guard = lane.guard && el("span", { class: "map-guard", title: shown(`Devices need the claim ${lane.guard.claim}`) },
    icon("deferred"), el("span", {}, "needs ", outside(lane.guard.claim, { limit: 40 })));
  const node = el("section", { class: `map-lane depth-${lane.depth}` }, el("h2", { class: "map-lane-title" },
    outside(lane.name, { limit: 64 }), lane.parentName && el("span", { class: "label" }, "in ", outside(lane.parentName, { limit: 40 })),
    lane.single && el("span", { class: "label", text: "one screen at a time" }), guard),
  el("div", { class: "map-cards" }, cards));
  if (lane.guard) heads.set(lane.guard.name, node);
  return node;
}

function presentation(name) {
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", GLYPHS[name]);
  const node = icon("none");
  node.replaceChildren(path);
  return el("span", { class: "map-mark", title: `Presented as ${name === "alert" ? "an" : "a"} ${name}` }, node);
}

function label(target, number) {
  const parts = [target.key.startsWith("@") ? target.name : target.key, count(number, "route")];
  if (target.isInitial) parts.push("first screen of its coordinator");
  if (target.present?.length) parts.push("presented as " + target.present.join(" or "));
  if (target.requires) parts.push("requires " + target.requires);
  return shown(parts.join(", "), 300);
}
