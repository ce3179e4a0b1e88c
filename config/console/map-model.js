// The model of a map: lanes of targets, and the ways of each route through them.
//
// A target has a key: `catalog.item` for a screen, `@root`, `@any` (screens that the link names), `@host:NAME` (another
// site), `@link` (the link itself, outside the app), `@none`, and `@reject`.

/** Words of the kinds of routes, and the outcome whose color they have. */
export const KINDS = {
  __proto__: null, navigate: { words: "Opens a screen", tone: "navigate" },
  external: { words: "Opens another site", tone: "external" },
  outside: { words: "Opens the link outside the app", tone: "external" },
  redirect: { words: "Redirects", tone: "redirect" },
  none: { words: "Does nothing", tone: "none" },
  reject: { words: "Rejects the link", tone: "reject" },
};

const RIM = {
  "@root": { name: "Start of the app", tone: "navigate" },
  "@any": { name: "Any screen that the link names", tone: "navigate" },
  "@link": { name: "The link itself", tone: "external" },
  "@none": { name: "Nothing", tone: "none" },
  "@reject": { name: "Rejected", tone: "reject" },
};

/** Builds the model of the answer of /api/map. */
export function build(map) {
  const screens = [];
  const lanes = map.coordinators.map((lane, index) => {
    const parent = lane.parent == null ? null : map.coordinators[lane.parent];
    const own = lane.screens.map((screen) => {
      const number = screens.length;
      const target = { ...screen, key: `${lane.name}.${screen.name}`, lane: index, isInitial: lane.initial === number };
      screens.push(target);
      return target;
    });
    return { ...lane, index, parentName: parent?.name, guard: map.guards[lane.guard], screens: own };
  });
  const depthOf = (lane, depth = 0) => (depth >= 3 || lanes[lane?.parent] == null ? depth : depthOf(lanes[lane.parent], depth + 1));
  lanes.forEach((lane) => { lane.depth = depthOf(lane); });
  const targets = new Map(screens.map((screen) => [screen.key, screen]));
  const byId = new Map(map.routes.map((route) => [route.id, route]));
  const routes = map.routes.map((route) => ({
    ...route,
    tone: KINDS[route.kind]?.tone ?? "none",
    exits: route.exits.map((exit) => way(exit, screens, byId)),
    hay: [route.id, ...route.patterns, route.summary, route.status ?? ""].join("\n").toLowerCase(),
  }));
  const rim = rimOf(routes, targets);
  return {
    map, lanes, screens, targets, rim, routes, byId: new Map(routes.map((route) => [route.id, route])),
    versions: map.versions.length > 1 ? map.versions : [], guards: map.guards,
  };
}

/** The way of one exit: the keys of its targets from bottom to top. */
function way(exit, screens, byId) {
  return { ...exit, chain: chain(exit, screens, byId, 0) };
}

function chain(exit, screens, byId, depth) {
  if (exit.kind === "redirect") return [];
  if (exit.stack) {
    const own = exit.stack.map((number) => screens[number]?.key).filter(Boolean);
    const below = exit.over && depth < 8 ? byId.get(exit.over)?.exits.find((other) => other.stack) : null;
    return [...(below ? chain(below, screens, byId, depth + 1) : []), ...own];
  }
  if (exit.url) return [`@host:${hostOf(exit.url)}`];
  if (exit.captured) return ["@any"];
  if (exit.kind === "outside") return ["@link"];
  if (exit.kind === "none" || exit.kind === "reject") return ["@" + exit.kind];
  return ["@root"];
}

function hostOf(url) {
  return /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(url)?.[1] ?? String(url).slice(0, 64);
}

/** The targets at the rim that any route has. */
function rimOf(routes, targets) {
  const used = new Set(routes.flatMap((route) => route.exits.flatMap((exit) => exit.chain)).filter((key) => key[0] === "@"));
  const rim = [...used].sort().map((key) => (
    RIM[key] ? { key, ...RIM[key] } : { key, name: key.slice("@host:".length), tone: "external", isHost: true }));
  for (const target of rim) targets.set(target.key, target);
  return rim;
}

/** The name of a target for people. */
export function targetName(model, key) {
  return model.targets.get(key)?.key?.startsWith("@") ? model.targets.get(key).name : key;
}

/** The filters of an address. Unknown values filter nothing. */
export function filtersOf(model, params) {
  const version = model.versions.indexOf(params.get("version") ?? "");
  const guard = model.guards.findIndex((entry) => entry.name === params.get("guard"));
  const screen = params.get("screen");
  return {
    q: (params.get("q") ?? "").slice(0, 200),
    screen: model.targets.has(screen) ? screen : null,
    guard: guard < 0 ? null : guard,
    version: version < 0 ? null : version,
    kind: KINDS[params.get("kind")] ? params.get("kind") : null,
  };
}

/** True if any filter is set. */
export function isFiltered(filters) {
  return filters.q !== "" || filters.screen != null || filters.guard != null || filters.version != null || filters.kind != null;
}

/** The routes that pass the filters, each with the exits that do. */
export function select(model, filters) {
  const words = filters.q.toLowerCase().split(/\s+/).filter(Boolean);
  const result = [];
  for (const route of model.routes) {
    if (filters.kind && route.kind !== filters.kind) continue;
    if (filters.guard != null && !route.guards?.includes(filters.guard)) continue;
    if (!words.every((word) => route.hay.includes(word))) continue;
    const exits = route.exits.filter((exit) => holds(exit, filters));
    if (exits.length > 0) result.push({ route, exits });
  }
  return result;
}

function holds(exit, filters) {
  if (filters.version != null && exit.versions) {
    const [first, last] = exit.versions;
    if (first == null || filters.version < first || filters.version > last) return false;
  }
  return filters.screen == null || exit.chain.includes(filters.screen);
}

/** The rows of the list: groups, and the routes of those that are open. */
export function rowsOf(selected, isOpen) {
  const groups = new Map();
  for (const entry of selected) {
    const name = entry.route.group;
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(entry);
  }
  const rows = [];
  const names = [...groups.keys()].sort();
  names.forEach((name, at) => {
    const entries = groups.get(name);
    const place = { at: at + 1, of: names.length };
    if (entries.length === 1 || names.length === 1) {
      entries.forEach((entry, index) => rows.push({
        type: "route", level: 1, key: "r:" + entry.route.id, ...entry, place: names.length === 1 ? { at: index + 1, of: entries.length } : place,
      }));
      return;
    }
    const open = isOpen(name);
    rows.push({ type: "group", level: 1, key: "g:" + name, name, entries, open, place });
    if (!open) return;
    entries.forEach((entry, index) => rows.push({
      type: "route", level: 2, key: "r:" + entry.route.id, ...entry, place: { at: index + 1, of: entries.length },
    }));
  });
  return { rows, groups: names.length };
}

/** The way through the map of some entries: targets with their step, and the routes that redirects reach. */
export function trace(model, entries) {
  const steps = new Map();
  const routes = new Set();
  const guards = new Set();
  const visit = (route, exits, depth) => {
    routes.add(route.id);
    for (const guard of route.guards ?? []) guards.add(guard);
    for (const exit of exits) {
      exit.chain.forEach((key, index) => { if (!steps.has(key)) steps.set(key, index + 1); });
      const next = exit.route && depth < 5 ? model.byId.get(exit.route) : null;
      if (next && !routes.has(next.id)) visit(next, next.exits, depth + 1);
    }
  };
  for (const entry of entries) visit(entry.route, entry.exits, 0);
  return { steps, routes, guards };
}
