// The map of a table: links, routes, and the screens to which they lead.

import { button, clear, count, el, icon, link, outside, shown, useStyle } from "./dom.js";
import { edges } from "./map-edges.js";
import { laneList } from "./map-lanes.js";
import { build, filtersOf, isFiltered, KINDS, rowsOf, select, targetName, trace } from "./map-model.js";
import { rowList } from "./map-rows.js";

/** Up to so many routes, all groups are open at first, and those of a search. */
const FEW = 80;
/** Up to so many rows, the map is as high as all of them. */
const WHOLE = 40;

/** Creates a select with its label. */
function choice(name, label, options, changed) {
  const node = el("select", { attrs: { "aria-label": label, name } }, el("option", { text: label, attrs: { value: "" } }),
    options.map(([value, text]) => el("option", { text: shown(text, 60), attrs: { value } })));
  node.addEventListener("change", () => changed(name, node.value));
  return { node, element: el("span", { class: "select" }, node, icon("down")) };
}

/** One drawn map. */
function mapOf(map, app) {
  const model = build(map);
  let state = null;
  let params = new URLSearchParams();
  let hovered = null;
  let frame = 0;
  let openGroups = new Set();

  const set = (changes) => {
    const next = new URLSearchParams(params);
    for (const [name, value] of Object.entries(changes)) value == null || value === "" ? next.delete(name) : next.set(name, value);
    next.set("table", map.id);
    app.replace(next);
    update(next);
  };

  // Controls
  const search = el("input", { class: "field map-search", attrs: { type: "search", "data-search": true, "aria-label": "Search routes", placeholder: "Search routes", maxlength: 200 } });
  search.addEventListener("input", () => set({ q: search.value }));
  search.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown" && event.key !== "Enter") return;
    event.preventDefault();
    rows.focusFirst();
  });
  const changed = (name, value) => set({ [name]: value });
  const kinds = Object.keys(KINDS).filter((kind) => model.routes.some((route) => route.kind === kind));
  const selects = [
    model.versions.length > 0 && choice("version", "Any version", model.versions.map((text) => [text, text]), changed),
    model.guards.length > 0 && choice("guard", "Any guard", model.guards.map((guard) => [guard.name, `Guard ${guard.name}`]), changed),
    kinds.length > 1 && choice("kind", "Any result", kinds.map((kind) => [kind, KINDS[kind].words]), changed),
  ].filter(Boolean);
  const chips = el("span", { class: "toolbar" });
  const zoom = el("span", { class: "segmented", attrs: { role: "radiogroup", "aria-label": "Detail" } }, [["groups", "Groups"], ["routes", "All routes"]].map(([value, text]) => {
    const input = el("input", { attrs: { type: "radio", name: "zoom", value } });
    input.addEventListener("change", () => { openGroups = new Set(); set({ zoom: value }); });
    return el("label", {}, input, el("span", { text }));
  }));
  const side = el("span", { class: "segmented map-side", attrs: { role: "radiogroup", "aria-label": "Part" } }, [["routes", "Routes"], ["screens", "Screens"]].map(([value, text]) => {
    const input = el("input", { attrs: { type: "radio", name: "side", value, checked: value === "routes" } });
    input.addEventListener("change", () => { frameNode.dataset.side = value; redraw(); });
    return el("label", {}, input, el("span", { text }));
  }));
  const summary = el("p", { class: "map-summary muted", attrs: { role: "status" } });
  const detail = el("div", { class: "map-detail" });

  // Parts
  const rows = rowList({
    hover: (row) => highlight(row && { row }),
    toggle: (row) => { flip(row); draw(); },
    pin: (row) => set({ route: params.get("route") === row.route.id ? null : row.route.id }),
    open: (row) => app.go("route", { table: map.id, route: row.route.id }),
    scrolled: () => redraw(),
  }, map.id);
  const lanes = laneList(model, {
    hover: (key) => highlight(key && { key }),
    pick: (key) => set({ screen: state.filters.screen === key ? null : key }),
    scrolled: () => redraw(),
  });
  const links = el("div", { class: "map-links", attrs: { role: "group", "aria-label": "Links that the table reads" } }, map.links.map(linkCard));
  const frameNode = el("div", { class: "map-frame", data: { side: "routes" } }, links, rows.element, lanes.element);
  const drawing = edges({ frame: frameNode, links, rows, lanes });
  const emptyNode = el("div", {});

  const flip = (row) => {
    if (openGroups.has(row.name)) openGroups.delete(row.name);
    else openGroups.add(row.name);
  };

  const wayOf = (target) => {
    if (!target) return null;
    if (target.key) {
      const entries = state.selected.map((entry) => ({ ...entry, exits: entry.exits.filter((exit) => exit.chain.includes(target.key)) }))
        .filter((entry) => entry.exits.length > 0);
      const ids = new Set(entries.map((entry) => entry.route.id));
      const isRow = (row) => (row.type === "group" ? row.entries : [row]).some((entry) => ids.has(entry.route.id));
      return { steps: new Map([[target.key, 1]]), guards: new Set(), isRow, exits: [] };
    }
    const entries = target.row.type === "group" ? target.row.entries : [target.row];
    const found = trace(model, entries);
    const isRow = (row) => row.key === target.row.key || (row.type === "route" && found.routes.has(row.route.id) && target.row.type === "route");
    const exits = target.row.type === "route" ? [...found.routes].flatMap((id) => model.byId.get(id)?.exits ?? []) : [];
    const guards = new Set([...found.guards].map((index) => model.guards[index].name));
    if (target.row.type === "group") for (const key of found.steps.keys()) found.steps.set(key, 1);
    return { steps: found.steps, guards, isRow, exits };
  };

  const highlight = (target) => {
    hovered = target;
    redraw();
  };

  /** Makes the map as high as its parts. The style sheet bounds it by the window. */
  const fit = () => {
    const above = links.offsetWidth > frameNode.offsetWidth / 2 ? links.offsetHeight + 16 : 0;
    frameNode.classList.toggle("whole", (state?.rows.length ?? 0) <= WHOLE);
    frameNode.style.setProperty("--content", `${Math.max(rows.height(), lanes.height(), 160) + above}px`);
    frameNode.style.setProperty("--rows", `${rows.height()}px`);
  };

  /** Draws the lines and marks in the next frame. */
  const redraw = () => {
    if (frame) return;
    frame = requestAnimationFrame(() => {
      frame = 0;
      if (!state) return;
      const target = hovered ?? state.pinned;
      const way = wayOf(target);
      frameNode.classList.toggle("has-way", way != null);
      rows.mark((row) => way == null || way.isRow(row));
      lanes.mark(target?.row?.type === "group" ? new Map([...way.steps].map(([key]) => [key, ""])) : way?.steps ?? null, way?.guards);
      drawing.draw(way);
      showDetail(target);
    });
  };

  const showDetail = (target) => {
    // A link that has the focus stays until the focus leaves it.
    if (detail.contains(document.activeElement)) return;
    if (target?.row?.type === "route") {
      const { route } = target.row;
      return clear(detail, el("p", { class: "map-detail-text" }, link("route", { table: map.id, route: route.id }, outside(route.id, { limit: 80 })),
        " ", outside(route.summary, { limit: 400 }), "."));
    }
    if (target?.key) {
      const number = state.reached.get(target.key) ?? 0;
      return clear(detail, el("p", { class: "map-detail-text" }, outside(targetName(model, target.key)), number === 0 ? ": no route leads here." : `: ${count(number, "route")}.`));
    }
    if (target?.row) {
      return clear(detail, el("p", { class: "map-detail-text" }, outside(target.row.name, { class: "mono" }), `: ${count(target.row.entries.length, "route")}.`));
    }
    clear(detail, el("p", { class: "map-detail-text map-hint muted", text: "Point at a route or a screen to see its way. Choose a screen to see what leads there." }));
  };

  const draw = () => {
    const { filters, selected } = state;
    const isNarrowed = isFiltered(filters);
    const zoomed = params.get("zoom") ?? (selected.length <= FEW ? "routes" : "groups");
    const isOpen = (name) => (zoomed === "routes") !== openGroups.has(name);
    const { rows: list, groups } = rowsOf(selected, isOpen);
    state.rows = list;
    for (const input of zoom.querySelectorAll("input")) input.checked = input.value === zoomed;
    rows.show(list);
    lanes.show(state.reached, filters.screen, isNarrowed);
    const route = params.get("route");
    const pinned = route == null ? null : list.find((row) => row.type === "route" && row.route.id === route);
    state.pinned = pinned ? { row: pinned } : filters.screen ? { key: filters.screen } : null;
    if (pinned) {
      rows.scrollTo(pinned.key);
      lanes.reveal(pinned.exits[0]?.chain.at(-1));
    }
    fit();
    const of = isNarrowed ? ` of ${model.routes.length.toLocaleString("en-US")}` : "";
    summary.textContent = `${count(selected.length, "route")}${of} in ${count(groups, "group")}, ${count(model.screens.length, "screen")}`
      + ` in ${count(model.lanes.length, "coordinator")}`;
    frameNode.hidden = selected.length === 0;
    detail.hidden = selected.length === 0;
    clear(emptyNode, selected.length === 0 && nothing());
    redraw();
  };

  const nothing = () => (model.routes.length === 0
    ? app.empty("This table has no routes", "Add one to `routes` in its file.")
    : app.empty("No route matches", "Remove a filter, or search for another word.", button("Remove all filters", {
      click: () => set({ q: null, screen: null, guard: null, version: null, kind: null }),
    })));

  const update = (next) => {
    params = new URLSearchParams(next);
    const filters = filtersOf(model, params);
    const selected = select(model, filters);
    const reached = new Map();
    for (const entry of selected) {
      for (const key of new Set(entry.exits.flatMap((exit) => exit.chain))) reached.set(key, (reached.get(key) ?? 0) + 1);
    }
    state = { filters, selected, reached, rows: [], pinned: null };
    if (search.value !== filters.q) search.value = filters.q;
    for (const { node } of selects) node.value = params.get(node.name) ?? "";
    clear(chips, filters.screen && el("span", { class: "chip" }, el("span", {}, "Leads to ", outside(targetName(model, filters.screen), { limit: 60 })),
      button(icon("close"), { class: "", label: "Remove this filter", click: () => set({ screen: null }) })));
    draw();
  };

  const root = [
    el("div", { class: "toolbar map-tools" }, search, selects.map((item) => item.element), chips, el("span", { class: "spread toolbar" }, side, zoom)),
    !map.isComplete && app.stale(`The map lists ${count(map.routes.length, "route")} of ${map.routeCount.toLocaleString("en-US")}: its size is bounded. See \`linkd routes list\` for all.`),
    el("div", { class: "map-status" }, detail, summary), frameNode, emptyNode, legend(model, kinds),
  ];
  const resized = new ResizeObserver(() => requestAnimationFrame(() => {
    fit();
    redraw();
  }));
  resized.observe(frameNode);
  return {
    root, update,
    stop() {
      resized.disconnect();
      cancelAnimationFrame(frame);
    },
    clear: () => (params.get("route") ? (set({ route: null }), true) : params.get("screen") ? (set({ screen: null }), true) : false),
    zoom: (value) => { openGroups = new Set(); set({ zoom: value }); },
  };
}

/** Draws a block of links: its schemes and hosts. */
function linkCard(block) {
  const schemes = block.schemes.map((name) => name + "://");
  if (block.others) schemes.push("any other scheme");
  const hosts = block.hosts ? block.hosts.map((host) => (host === "" ? "no host" : host === "*" ? "any host" : host)) : ["the host is the first segment"];
  return el("div", { class: "map-link" }, schemes.map((text) => outside(text, { class: "mono", limit: 64 })),
    hosts.slice(0, 12).map((text) => outside(text, { class: "label", limit: 80 })),
    hosts.length > 12 && el("span", { class: "label", text: `and ${hosts.length - 12} more` }),
    (block.rewrites ?? []).map((text) => el("span", { class: "label" }, "without ", outside(text, { class: "mono", limit: 60 }))));
}

/** Draws the meaning of the colors and marks. */
function legend(model, kinds) {
  const hasVersions = model.versions.length > 0;
  const hasInitial = model.lanes.some((lane) => lane.initial != null);
  // A color has one meaning: kinds of the same color are one entry.
  const tones = new Map();
  for (const kind of kinds) tones.set(KINDS[kind].tone, [...tones.get(KINDS[kind].tone) ?? [], KINDS[kind].words]);
  return el("p", { class: "map-legend label" }, [...tones].map(([tone, words]) => el("span", { class: "with-dot", data: { outcome: tone } },
    el("span", { class: "dot" }), words.length > 1 ? "Opens outside the app" : words[0])),
  hasInitial && el("span", { class: "with-dot" }, el("span", { class: "map-initial" }), "First screen"),
  model.guards.length > 0 && el("span", { class: "with-dot" }, icon("deferred"), "Needs a claim"),
  hasVersions && el("span", { class: "with-dot" }, icon("phone"), "Depends on the version"));
}

/** The view. */
export const view = {
  title: "Map",
  async mount(root, app) {
    await useStyle("map.css");
    let current = null;
    let shownTable = null;
    let request = null;
    const body = el("div", { class: "map" });
    root.append(el("h1", { class: "visually-hidden", text: "Map of the table" }), body);
    const unbind = [
      app.keys.bind("Escape", "Remove the chosen route, then the screen", () => current?.clear() ?? false),
      app.keys.bind("+", "Show all routes of the map", () => current?.zoom("routes")),
      app.keys.bind("-", "Show groups of routes only", () => current?.zoom("groups")),
    ];
    const load = async (params) => {
      const id = params.get("table") ?? app.tableId();
      if (current && shownTable === id) return current.update(params);
      request?.abort();
      request = new AbortController();
      current?.stop();
      current = null;
      shownTable = id;
      const done = app.loading(clear(body), "Loading the map");
      try {
        const map = await app.api.get("/api/map", { table: id }, request.signal);
        done();
        current = mapOf(map, app);
        clear(body, current.root);
        current.update(params);
      } catch (error) {
        done();
        if (error?.name === "AbortError") return;
        shownTable = null;
        clear(body, app.problem(error, () => load(params)));
      }
    };
    return {
      update: load,
      unmount() {
        request?.abort();
        current?.stop();
        unbind.forEach((remove) => remove());
      },
    };
  },
};
