// The comparison of a served table and a candidate: what changes, for which links, and how it looks.

import { append, button, clear, count, duration, el, icon, outside, shown, useStyle } from "./dom.js";
import { drawSides } from "./compare-sides.js";
import { drawProblems, drawWarnings } from "./compare-problems.js";
import { deviceText, tableOf, tryLink } from "./route-parts.js";
import { prose, sentence } from "./states.js";

/** Size limits of the server, in bytes. */
const MAX_CANDIDATE = 4 << 20;
const MAX_TRAFFIC = 1 << 20;
/** The number of causes that are open at first. */
const OPEN = 3;

// The texts and the result stay while the page is open, because they do not fit into an address.
const memory = { candidate: "", name: "", traffic: "", table: null, result: null };

/** The id that the text of a table states, or null. */
function tableOfText(text) {
  try {
    const id = JSON.parse(text)?.table?.id;
    return typeof id === "string" ? id : null;
  } catch {
    return null;
  }
}

/** The form: the served table, the candidate, and recorded links. */
function form(app, compare) {
  const bytes = (text) => new TextEncoder().encode(text).length;
  const area = el("textarea", { class: "field compare-text mono", attrs: { rows: 8, spellcheck: "false", autocomplete: "off", "data-search": true, "aria-label": "Candidate: the text of a table file", placeholder: "Paste the text of a table file, or drop the file here" } });
  area.value = memory.candidate;
  const traffic = el("textarea", { class: "field compare-text mono", attrs: { rows: 4, spellcheck: "false", "aria-label": "Recorded links, one per line", placeholder: "https://shop.example/p/new\t120" } });
  traffic.value = memory.traffic;
  const file = el("input", { class: "visually-hidden", attrs: { type: "file", accept: ".json,application/json", id: "candidate-file", tabindex: "-1", "aria-hidden": "true" } });
  const name = el("span", { class: "label", attrs: { role: "status" } });
  const fault = el("p", { class: "compare-fault", attrs: { role: "alert" } });
  const stop = button("Stop", { class: "button", click: () => compare.stop() });
  const run = button("Compare", { class: "button primary", click: () => start() });
  const target = el("p", { class: "muted" });
  // A result is that of the text. A candidate of another served table is compared with that one.
  const changed = () => {
    if (memory.result) compare.forget();
    const id = tableOfText(memory.candidate);
    const isOther = id !== app.tableId() && app.info.tables.some((entry) => entry.id === id);
    if (isOther) app.go("compare", { table: id });
    describe();
  };
  const describe = () => {
    name.textContent = memory.candidate === "" ? "" : `${shown(memory.name || "Pasted text", 60)}, ${count(bytes(memory.candidate), "byte")}`;
    run.disabled = memory.candidate.trim() === "";
  };
  const take = async (given) => {
    if (!given) return;
    if (given.size > MAX_CANDIDATE) {
      fault.textContent = "The file is larger than 4 MiB, the limit of a comparison on this page. Use `linkd routes diff`.";
      return;
    }
    fault.textContent = "";
    memory.candidate = await given.text();
    memory.name = given.name;
    area.value = memory.candidate;
    changed();
    run.focus();
  };
  const start = () => {
    const tooLarge = bytes(memory.candidate) > MAX_CANDIDATE || bytes(memory.traffic) > MAX_TRAFFIC;
    fault.textContent = tooLarge ? "A table can have at most 4 MiB here, and recorded links 1 MiB. Use `linkd routes diff` for more." : "";
    if (!tooLarge) compare.start();
  };
  area.addEventListener("input", () => { memory.candidate = area.value; memory.name = ""; changed(); });
  area.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !run.disabled) start(); });
  traffic.addEventListener("input", () => { memory.traffic = traffic.value; });
  file.addEventListener("change", () => take(file.files[0]));
  for (const type of ["dragover", "drop"]) {
    area.addEventListener(type, (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      if (type === "drop") take(event.dataTransfer.files[0]);
    });
  }
  describe();
  const element = el("div", { class: "stack compare-form" },
    el("h1", { class: "display", text: "What would a new table change?" }),
    target,
    area,
    el("details", { class: "compare-more", attrs: { open: memory.traffic !== "" } }, el("summary", { text: "Weigh with recorded links" }),
      el("p", { class: "label", text: "One link or event per line. A tab and a number after it state how often it occurred." }), traffic),
    el("p", { class: "toolbar" }, run, stop, button("Choose a file", { click: () => file.click() }), file, name),
    fault);
  stop.hidden = true;
  return {
    element,
    busy(isBusy) {
      stop.hidden = !isBusy;
      run.hidden = isBusy;
    },
    /** Names the served table. */
    name() {
      const table = app.info.tables.find((entry) => entry.id === app.tableId());
      clear(target, "Candidate for ", outside(table?.identity ?? ""), app.info.tables.length > 1 && " (choose another table at the top)",
        ". Its text stays on this machine and is not part of the address.");
    },
  };
}

/** Draws the result. */
function drawResult(result, params, setFilter) {
  if (!result.ok) {
    const errors = result.problems.filter((problem) => problem.severity === "error");
    return el("section", { class: "section compare-page" },
      el("h2", { class: "display" }, result.isTruncated ? "The candidate is refused: the first " : "The candidate is refused: ", count(errors.length, "problem")),
      el("div", { class: "compare-body" }, drawProblems(errors, memory.candidate), drawWarnings(result.problems, memory.candidate)));
  }
  const { difference } = result;
  const only = params.get("only");
  const groups = difference.groups.filter((group) => only == null || group.breaking === (only === "breaking"));
  return el("section", { class: "section compare-page" },
    el("h2", { class: "display" }, headline(result)),
    el("p", { class: "muted" }, scope(result)),
    limits(difference),
    drawWarnings(result.problems, memory.candidate),
    result.canary && canary(result),
    result.traffic && traffic(result.traffic),
    difference.groups.length > 0 && el("div", { class: "section" },
      el("div", { class: "toolbar compare-tools" }, el("h2", { text: "By cause" }), filter(difference, only, setFilter)),
      el("div", { class: "compare-groups" }, groups.map((group, index) => drawGroup(group, result, index < OPEN))),
      groups.length < difference.groupCount && only == null && el("p", { class: "muted", text: `${count(difference.groupCount - groups.length, "more cause")}: see \`linkd routes diff\`.` })));
}

function headline(result) {
  const { difference } = result;
  if (result.same) return "The candidate is the served table, byte for byte";
  if (difference.groups.length === 0) {
    if (difference.isCut) return "No change was found before the time was over";
    const isWhole = difference.unproved.count + difference.sampled.count === 0;
    return isWhole ? "No decision changes" : "No change was found in what could be compared";
  }
  const breaking = difference.breakingCount;
  const total = count(difference.groupCount, "cause");
  return breaking === 0 ? `${total} of changes, and none breaks a working link` : `${breaking.toLocaleString("en-US")} of ${total} of changes ${breaking === 1 ? "breaks" : "break"} working links`;
}

function scope(result) {
  const { difference } = result;
  const parts = [`${count(difference.changedSets, "set")} of links changed, of ${difference.sets.toLocaleString("en-US")} compared`];
  if (difference.otherChanges > 0) parts.push(`${count(difference.otherChanges, "change")} of other requests`);
  return [outside(result.old), " → ", outside(result.new), `: ${parts.join(", ")}, in ${duration(result.milliseconds * 1000)}.`];
}

/** What the comparison does not cover. */
function limits(difference) {
  const lists = [["unproved", "set", "compared only in part: other links can differ"], ["sampled", "set", "compared for only some kinds of devices"]];
  return [
    difference.isCut && el("p", { class: "banner", data: { tone: "deferred" }, attrs: { role: "status" } }, icon("clock"), "The tables are large: the comparison was ended after its time. Other links can differ. ", prose("Use `linkd routes diff` for all of them.")),
    lists.filter(([name]) => difference[name].count > 0).map(([name, noun, text]) => el("details", { class: "compare-more" },
      el("summary", { text: `${count(difference[name].count, noun)} of links ${text}` }),
      el("ul", { class: "stack" }, difference[name].sets.map((set) => el("li", {}, pair(set)))))),
  ];
}

function pair(set) {
  if (set.oldPattern == null && set.newPattern == null) return "Links without a route, and requests other than links";
  if (set.oldPattern === set.newPattern) return outside(set.oldPattern, { class: "mono" });
  return [set.oldPattern == null ? "no route" : outside(set.oldPattern, { class: "mono" }), " → ", set.newPattern == null ? "no route" : outside(set.newPattern, { class: "mono" })];
}

function filter(difference, only, setFilter) {
  const choices = [[null, "All", difference.groups.length], ["breaking", "Breaking", difference.breakingCount], ["compatible", "Compatible", difference.groupCount - difference.breakingCount]];
  return el("span", { class: "segmented", attrs: { role: "radiogroup", "aria-label": "Causes" } }, choices.map(([value, text, number]) => {
    const input = el("input", { attrs: { type: "radio", name: "only", checked: value === only } });
    input.addEventListener("change", () => setFilter(value));
    return el("label", {}, input, el("span", { text: `${text} ${number.toLocaleString("en-US")}` }));
  }));
}

/** Draws a cause with its effects. The effects are drawn when it opens. */
function drawGroup(group, result, isOpen) {
  const body = el("div", { class: "compare-body" });
  const node = el("details", { class: "compare-group", attrs: { open: isOpen } },
    el("summary", {}, badge(group.breaking), el("span", {}, group.causes.map((cause, index) => [index > 0 && ", ", outside(cause.place, { class: "mono", limit: 120 })])),
      el("span", { class: "label spread" }, weightText(group))), body);
  const draw = () => {
    if (!node.open || body.firstChild) return;
    append(body, [el("div", { class: "compare-edits" }, group.causes.map(drawCause)), (group.losses ?? []).map((loss) => el("p", {}, icon("warning"), " ", prose(sentence(loss)))),
      group.effects.map((effect) => drawEffect(effect, result)),
      group.effectCount > group.effects.length && el("p", { class: "muted", text: `${count(group.effectCount - group.effects.length, "more kind")} of effects.` })]);
  };
  node.addEventListener("toggle", draw);
  draw();
  return node;
}

function badge(isBreaking) {
  return el("span", { class: "badge", data: { outcome: isBreaking ? "reject" : "navigate" } }, icon(isBreaking ? "warning" : "check"), isBreaking ? "Breaking" : "Compatible");
}

function weightText(group) {
  if (group.weight != null) return `up to ${count(group.weight, "recent decision")}`;
  return group.changes > 0 ? count(group.changes, "change") : "";
}

function drawCause(cause) {
  const line = (mark, text, word) => text != null && el("p", { class: "compare-edit", data: { mark } }, el("span", { class: "visually-hidden", text: word }),
    el("span", { class: "compare-mark", text: mark === "old" ? "−" : "+", attrs: { "aria-hidden": "true" } }), outside(text, { class: "mono", limit: 600 }));
  return [line("old", cause.old, "Removed: "), line("new", cause.new, "Added: ")];
}

/** Draws one effect: the request, and both results side by side. */
function drawEffect(effect, result) {
  const table = memory.table;
  const request = effect.link != null ? tryLink(effect.link, effect.device, table)
    : outside(effect.path != null ? `path ${effect.path}` : effect.route != null ? `route ${effect.route} with ${JSON.stringify(effect.params)}` : JSON.stringify(effect.payload), { class: "mono", limit: 300 });
  return el("div", { class: "compare-effect" },
    el("p", {}, effect.count > 1 && `${count(effect.count, "kind")} of requests, such as `, request, Object.keys(effect.device ?? {}).length > 0 && [" on ", outside(deviceText(effect.device), { limit: 200 })]),
    effect.breaks && el("p", { class: "compare-breaks" }, prose(sentence(effect.breaks))),
    sides(effect, result.old, result.new));
}

/** Draws two decisions side by side, and the values that changed. */
function sides(effect, oldName, newName) {
  return [drawSides(effect, oldName, newName), values(effect)];
}

function values(effect) {
  if (effect.values.length === 0) return null;
  const text = (value) => (value === undefined ? el("span", { class: "muted", text: "absent" }) : outside(JSON.stringify(value), { class: "mono", limit: 200 }));
  const node = el("details", { class: "compare-more" }, el("summary", { text: `${count(effect.valueCount, "changed value")}` }));
  node.addEventListener("toggle", () => {
    if (!node.open || node.children.length > 1) return;
    node.append(tableOf({ isHidden: true, content: "Changed values" }, ["Member", "Served", "Candidate"],
      effect.values.map((value) => [outside(value.member, { class: "mono" }), text(value.old), text(value.new)])));
    if (effect.valueCount > effect.values.length) node.append(el("p", { class: "muted", text: `and ${count(effect.valueCount - effect.values.length, "more value")}` }));
  });
  return node;
}

/** Draws the effect on recorded links. */
function traffic(found) {
  const changed = found.decisions - found.same;
  return el("div", { class: "section" }, el("h2", { text: "On the recorded links" }),
    el("p", {}, changed === 0 ? `None of ${count(found.decisions, "decision")} changes.` : `${changed.toLocaleString("en-US")} of ${count(found.decisions, "decision")} change, ${found.breaking.toLocaleString("en-US")} in a breaking way.`,
      found.unreadable > 0 && ` ${count(found.unreadable, "line")} could not be read as a link or event of these tables.`),
    el("div", { class: "compare-groups" }, found.groups.map((group, index) => {
      const body = el("div", { class: "compare-body" });
      const node = el("details", { class: "compare-group", attrs: { open: index < OPEN } },
        el("summary", {}, badge(group.breaking), " ", outside(group.witness, { class: "mono", limit: 160 }), el("span", { class: "label spread", text: count(group.count, "decision") })), body);
      const draw = () => {
        if (!node.open || body.firstChild) return;
        append(body, [group.breaks && el("p", { class: "compare-breaks" }, prose(sentence(group.breaks))), sides(group)]);
      };
      node.addEventListener("toggle", draw);
      draw();
      return node;
    })));
}

/** Draws what a worker counted for its canary. */
function canary({ canary: found, canaryTable }) {
  return el("div", { class: "section" }, el("h2", { text: "In the worker's canary" }),
    el("p", {}, outside(canaryTable), ` decides for ${found.percent} % of the devices: ${count(found.decided, "decision")}. ${found.different.toLocaleString("en-US")} of ${count(found.compared, "compared decision")} differ.`),
    found.routes.length > 0 && tableOf({ isHidden: true, content: "Differences by route" }, ["Route", "Differences", "First"],
      found.routes.slice(0, 50).map((route) => [outside(route.route), route.count.toLocaleString("en-US"), outside(route.witness, { class: "mono", limit: 200 })])));
}

/** The view. */
export const view = {
  title: "Compare",
  async mount(root, app) {
    await Promise.all([useStyle("compare.css"), useStyle("route.css"), useStyle("phones.css")]);
    let request = null;
    const output = el("div", { attrs: { "aria-live": "polite", "aria-busy": "false" } });
    const setFilter = (only) => {
      const params = app.params();
      if (only) params.set("only", only);
      else params.delete("only");
      app.replace(params);
      show();
    };
    const show = () => {
      clear(output, memory.result && memory.table === app.tableId() ? drawResult(memory.result, app.params(), setFilter) : app.empty(
        "Nothing is compared yet", "Every set of links is compared on every kind of device. Each change comes with a link that shows it."));
    };
    const compare = {
      stop: () => request?.abort(),
      forget() {
        memory.result = null;
        show();
      },
      async start() {
        request?.abort();
        request = new AbortController();
        const { signal } = request;
        memory.table = app.tableId();
        memory.result = null;
        parts.busy(true);
        output.setAttribute("aria-busy", "true");
        const done = app.loading(clear(output), "Comparing. A large table takes up to a minute");
        try {
          const body = { table: memory.table, candidate: memory.candidate, traffic: memory.traffic.trim() === "" ? null : memory.traffic };
          memory.result = await app.api.post("/api/compare", body, signal);
          done();
          show();
          app.announce(output.querySelector("h2")?.textContent ?? "Compared");
        } catch (error) {
          done();
          if (signal.aborted) show();
          else clear(output, app.problem(error, () => compare.start()));
        } finally {
          parts.busy(false);
          output.setAttribute("aria-busy", "false");
        }
      },
    };
    const parts = form(app, compare);
    append(root, [parts.element, output]);
    const step = (by) => () => {
      const all = [...output.querySelectorAll(".compare-group > summary")];
      const at = all.indexOf(document.activeElement);
      all[Math.max(0, Math.min(all.length - 1, at + by))]?.focus();
    };
    const unbind = [app.keys.bind("j", "Next cause", step(1)), app.keys.bind("k", "Previous cause", step(-1))];
    app.keys.describe && unbind.push(app.keys.describe("Ctrl+Enter", "Compare, in the candidate's text"));
    let last = null;
    return {
      update() {
        const key = `${app.tableId()} ${app.params().get("only")}`;
        if (key !== last) show();
        last = key;
        parts.name();
      },
      unmount() {
        request?.abort();
        unbind.forEach((remove) => remove());
      },
    };
  },
};
