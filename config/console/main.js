// The shell: views, table switch, status line, live region, keys.
//
// A view is a module `view-NAME.js` that exports
//   view = { title, mount(root, app) { …; return { update(params), unmount() } } }
// `update` is called after `mount` and whenever the fragment changes. `mount` may be asynchronous.
//
//   app.info              the answer of /api/info
//   app.tableId()         the chosen table, or the last chosen one, or the first
//   app.table()           the chosen table, or null if all are
//   app.go(view, params)  opens a view; an entry of the history
//   app.replace(params)   writes the view's parameters into the address; no entry. False if beyond 8 KiB
//   app.params()          the parameters in the address now
//   app.announce(text)    says a text to screen readers
//   app.title(text)       the document's title
//   app.problem(error, retry), app.empty(…), app.loading(…), app.stale(…)   states, see states.js
//   app.api, app.keys     see api.js and keys.js
//
// `/` focuses the first element with the attribute `data-search` in the view.

import { api } from "./api.js";
import { button, clear, el, icon, shown } from "./dom.js";
import { keys } from "./keys.js";
import { fragment, parse, query, FRAGMENT_LIMIT } from "./router.js";
import * as states from "./states.js";

const VIEWS = [
  { id: "try", title: "Try a link" },
  { id: "map", title: "Map" },
  { id: "decisions", title: "Decisions", also: ["decision"] },
  { id: "problems", title: "What goes wrong" },
  { id: "compare", title: "Compare" },
];
// Pages that belong to a view without being in the header: the view that is marked.
const WITHIN = { __proto__: null, route: "map", decision: "decisions" };
// Views of one table: an address without a table is that of the last one, or the first.
const SINGLE = new Set(["map", "route", "compare"]);

const main = document.getElementById("main");
const live = document.getElementById("live");
let current = null;
let turn = 0;
let chosen = null;
let last = null;
const failures = new Map();

const app = {
  info: null,
  api,
  keys,
  table: () => chosen,
  tableId: () => chosen ?? last ?? app.info.tables[0]?.id ?? null,
  params: () => parse(location.hash, "try").params,
  go(view, params) {
    const target = fragment(view, params);
    if (target === location.hash) route();
    else location.hash = target;
  },
  replace(params) {
    const target = fragment(parse(location.hash, "try").view, params);
    if (target.length > FRAGMENT_LIMIT) return false;
    if (target !== location.hash) history.replaceState(null, "", target);
    markViews();
    return true;
  },
  announce(text) {
    live.textContent = shown(text);
  },
  title(text) {
    document.title = text ? `${shown(text, 80)} · linkd` : "linkd console";
  },
  problem: states.problem,
  empty: states.empty,
  loading: states.loading,
  stale: states.stale,
};

/** Shows the view of the address, and tells it the parameters. */
async function route() {
  const { view: id, params } = parse(location.hash, "try");
  const mine = ++turn;
  chooseTable(id, params);
  markViews();
  if (current?.id === id) return current.handle.update?.(params);
  current?.handle.unmount?.();
  current = null;
  const root = el("div", { class: "view", data: { view: id } });
  const done = states.loading(clear(main, root), "Loading");
  try {
    const module = await load(id);
    if (mine !== turn) return;
    app.title(module.view.title);
    const handle = await module.view.mount(root, app);
    if (mine !== turn) return handle.unmount?.();
    current = { id, handle };
    await handle.update?.(params);
  } catch (error) {
    if (mine === turn) clear(main, heading(), states.problem(error, route));
  } finally {
    done();
  }
}

/** The page's heading for screen readers, where no view gives one. */
function heading() {
  return el("h1", { class: "visually-hidden", text: "linkd console" });
}

/** The module of a view. A module that could not be fetched is asked for again with another address. */
async function load(id) {
  const isKnown = VIEWS.some((view) => view.id === id) || id in WITHIN;
  const missing = { code: "view", message: `There is no view \`${id.slice(0, 40)}\`.`, next: "Choose one at the top." };
  if (!isKnown) throw missing;
  try {
    const again = failures.has(id) ? `?again=${failures.get(id)}` : "";
    return await import(`./view-${id}.js${again}`);
  } catch (error) {
    console.error(error);
    failures.set(id, (failures.get(id) ?? 0) + 1);
    throw { code: "unreachable", message: "The console's server does not answer.",
      next: "Check that `linkd console` still runs." };
  }
}

/** Draws the links of the views once. */
function drawViews() {
  clear(document.getElementById("views"), VIEWS.map((view, index) => {
    keys.bind(String(index + 1), view.title, () => app.go(view.id, tableParams()));
    return el("a", { text: view.title, data: { id: view.id }, attrs: { href: fragment(view.id, null) } });
  }));
}

/** The parameter of the chosen table. */
function tableParams() {
  return chosen ? { table: chosen } : {};
}

/** Marks the view of the address, and lets every view keep the table. */
function markViews() {
  const { view: id } = parse(location.hash, "try");
  for (const node of document.querySelectorAll("#views a")) {
    node.href = fragment(node.dataset.id, tableParams());
    if (node.dataset.id === (WITHIN[id] ?? id)) {
      node.setAttribute("aria-current", "page");
      node.scrollIntoView({ block: "nearest", inline: "nearest" });
    } else {
      node.removeAttribute("aria-current");
    }
  }
}

/** Chooses the table of the address. Without one it is all tables, or one that is then written into the address. */
function chooseTable(view, params) {
  const tables = app.info.tables;
  const id = params.get("table")?.split("@")[0];
  const isKnown = id != null && tables.some((table) => table.id === id);
  chosen = isKnown ? id : null;
  if (!isKnown && !params.has("table") && SINGLE.has(view) && tables.length > 1) {
    chosen = app.tableId();
    params.set("table", chosen);
    app.replace(params);
  }
  last = chosen ?? last;
  const node = document.getElementById("table");
  if (!node) return;
  node.value = chosen ?? "";
  node.options[0].disabled = SINGLE.has(view);
}

/** Draws the table switch, and the button of the keys. */
function drawTools() {
  const tables = app.info.tables;
  const tools = document.getElementById("tools");
  const help = button("?", { class: "button quiet round", label: "Show the keys", click: keys.show });
  if (tables.length === 1) {
    const name = el("span", { class: "table-name muted", title: shown(tables[0].path ?? "") },
      shown(tables[0].identity ?? tables[0].id));
    return clear(tools, name, help);
  }
  const select = el("select", { attrs: { id: "table", "aria-label": "Table" } },
    el("option", { text: "All tables", attrs: { value: "" } }),
    tables.map((table) => el("option", { text: shown(table.identity ?? table.id), attrs: { value: table.id } })));
  select.addEventListener("change", () => {
    chosen = select.value === "" ? null : select.value;
    const { view, params } = parse(location.hash, "try");
    params.delete("table");
    if (chosen) params.set("table", chosen);
    app.go(view, params);
  });
  clear(tools, el("span", { class: "select" }, select, icon("down")), help);
}

/** Draws the status line: no broker, values masked, the server's notice. */
function drawStatus() {
  const { notice, mask, kafka } = app.info;
  const texts = [];
  if (notice) texts.push(notice);
  else if (!kafka) texts.push("Without a broker: routes and resolving only.");
  if (mask) texts.push("Device ids and parameters are masked.");
  const node = document.getElementById("status");
  node.hidden = texts.length === 0;
  clear(node, texts.map((text) => states.prose(text)));
}

/** Reads what the server serves, then shows the view of the address. */
async function start() {
  try {
    app.info = await api.get("/api/info");
  } catch (error) {
    clear(main, heading(), states.problem(error, start));
    return;
  }
  drawTools();
  drawStatus();
  drawViews();
  window.addEventListener("hashchange", route);
  await route();
}

/** Focuses the search of the view. */
function focusSearch() {
  const node = main.querySelector("[data-search]");
  node?.focus();
  node?.select?.();
  return node != null;
}

keys.start();
keys.bind("/", "Search, or edit the input", focusSearch);
document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
start();

export { app, query };
