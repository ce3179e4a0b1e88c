// The question of "Try a link": input and device facts, to and from the address.
//
//   ?input=TEXT&platform=ios&app=6.1.0&os=18.2&locale=en-GB&region=GB&claim=session&capability=ar&attr.plan=gold
//
// Without `platform` or `app`, the preset is meant; `any` says that the device does not state it. An event that names
// its devices is asked without facts, until one is chosen by hand.

/** Facts that are one text each. */
export const TEXT_FACTS = ["platform", "app", "os", "locale", "region"];
/** Facts that are lists, with their parameter's name. */
export const LIST_FACTS = { claims: "claim", capabilities: "capability" };
const UNSTATED = "any";

/** What the conditions of the chosen tables use: of one table, or of all together. */
export function factsOf(info, tableId) {
  const result = { platforms: [], versions: [], claims: [], capabilities: [], locales: [], regions: [],
    attributes: {} };
  for (const table of info.tables) {
    if (tableId && table.id !== tableId) continue;
    for (const name of Object.keys(result)) {
      const more = table.facts?.[name];
      if (Array.isArray(more)) result[name] = [...new Set([...result[name], ...more])];
    }
    Object.assign(result.attributes, table.facts?.attributes ?? {});
  }
  result.versions.sort(compareVersions);
  return result;
}

/** The preset: an iPhone with the newest app that the tables tell apart. */
export function preset(facts) {
  const platform = facts.platforms.length === 0 || facts.platforms.includes("ios") ? "ios" : facts.platforms[0];
  return { platform, app: facts.versions.at(-1) ?? "" };
}

/** The question of an address. */
export function readQuestion(params, facts) {
  const device = { claims: params.getAll("claim"), capabilities: params.getAll("capability"), attributes: {} };
  const standard = preset(facts);
  for (const name of TEXT_FACTS) {
    const text = params.get(name);
    device[name] = text === UNSTATED ? "" : text ?? standard[name] ?? "";
  }
  for (const [name, value] of params) if (name.startsWith("attr.")) device.attributes[name.slice(5)] = value;
  const names = [...TEXT_FACTS, ...Object.values(LIST_FACTS)];
  const isChosen = [...params.keys()].some((name) => names.includes(name) || name.startsWith("attr."));
  return { input: params.get("input") ?? "", device, isChosen };
}

/** The devices that an event names, or an empty list. */
export function devicesIn(input) {
  if (!input.trimStart().startsWith("{") || !/"devices?"\s*:/.test(input)) return [];
  try {
    const event = JSON.parse(input);
    const list = Array.isArray(event.devices) ? event.devices : [event.device];
    return list.filter((device) => device !== null && typeof device === "object");
  } catch {
    return [];
  }
}

/** The facts of an event's device, as the controls show them. */
export function factsIn(device) {
  const result = { claims: [], capabilities: [], attributes: {} };
  for (const name of TEXT_FACTS) result[name] = typeof device[name] === "string" ? device[name] : "";
  for (const name of Object.keys(LIST_FACTS)) {
    if (Array.isArray(device[name])) result[name] = device[name].filter((item) => typeof item === "string");
  }
  for (const [name, value] of Object.entries(device.attributes ?? {})) {
    if (typeof value === "string") result.attributes[name] = value;
  }
  return result;
}

/** True if the facts are sent: always, unless the event names its devices and none was chosen by hand. */
export function sendsFacts(question) {
  return question.isChosen || devicesIn(question.input).length === 0;
}

/** The parameters of a question. */
export function writeQuestion(question, table) {
  const { input, device } = question;
  const params = new URLSearchParams();
  if (input !== "") params.set("input", input);
  if (table) params.set("table", table);
  if (!sendsFacts(question)) return params;
  for (const name of TEXT_FACTS) {
    if (device[name] !== "") params.set(name, device[name]);
    else if (name === "platform" || name === "app") params.set(name, UNSTATED);
  }
  for (const [list, name] of Object.entries(LIST_FACTS)) for (const item of device[list]) params.append(name, item);
  for (const [name, value] of Object.entries(device.attributes)) if (value !== "") params.set("attr." + name, value);
  return params;
}

/** The body of a request to the server. */
export function requestBody(question, table) {
  const common = { input: question.input, ...(table ? { table } : {}) };
  return { ...common, device: sendsFacts(question) ? sentFacts(question.device) : {} };
}

/** The facts of a device as a request states them: those that are known. */
export function sentFacts(facts) {
  const device = {};
  for (const name of TEXT_FACTS) if (facts[name]) device[name] = facts[name];
  for (const name of Object.keys(LIST_FACTS)) if (facts[name]?.length > 0) device[name] = facts[name];
  const attributes = Object.entries(facts.attributes ?? {}).filter(([, value]) => value !== "");
  if (attributes.length > 0) device.attributes = Object.fromEntries(attributes);
  return device;
}

/** Compares versions number by number: negative if `a` is before `b`. */
export function compareVersions(a, b) {
  const [left, right] = [a, b].map((text) => String(text).split(/[.+-]/).map((part) => Number.parseInt(part, 10) || 0));
  for (let index = 0; index < Math.max(left.length, right.length); index += 1) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
