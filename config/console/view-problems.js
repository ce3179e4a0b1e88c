// The view "What goes wrong": rejections and dead letters over time, and the state of the worker.

import { clear, count, duration, el, icon, link, outside, useStyle } from "./dom.js";
import { colorsOf, drawChart, drawFigures, drawLegend } from "./feed-chart.js";
import { drawReplay } from "./problems-replay.js";
import { changed, chips, clearButton, dateTime, drawnAgain, filterOf, request, shortTime, stateLine, timeSwitch } from "./feed-filter.js";
import { waiting } from "./states.js";
import { clauseOf } from "./words.js";

/** Properties by which records are stacked, with their words. */
const GROUPS = { __proto__: null, reason: "Reason", application: "Application", campaign: "Campaign", table: "Table", outcome: "Outcome", route: "Route" };
/** Kinds of records, with their words. */
const KINDS = { __proto__: null, problem: "Rejections and dead letters", dead_letter: "Dead letters", any: "All records" };
/** Time between two readings, in milliseconds. */
const PACE = 5000;
/** The longest time for which the chart stays as it is while it is in use, in milliseconds. */
const HOLD = 25_000;

class Problems {
  constructor(root, app) {
    this.app = app;
    this.root = root;
    this.tools = el("div", { class: "toolbar" });
    this.chips = el("div", { class: "toolbar", attrs: { role: "group", "aria-label": "Filters" } });
    this.message = el("div", { class: "feed-message" });
    this.lead = el("p", { class: "problems-lead wrap", attrs: { role: "status" } });
    this.chart = el("div", { class: "problems-chart" });
    this.legend = el("ul", { class: "legend", attrs: { "aria-label": "Legend" } });
    this.figures = el("div", {});
    this.worker = el("section", { class: "section", attrs: { "aria-label": "Worker" } });
    this.replay = el("section", { class: "section", attrs: { "aria-label": "Replay", hidden: !app.info.allowReplay } });
    this.replay.hidden = !app.info.allowReplay;
    clear(root, el("h1", { class: "visually-hidden", text: "What goes wrong" }),
      el("div", { class: "stack" }, this.tools, this.chips), this.message, this.lead, this.chart, this.legend,
      el("details", { class: "fold" }, el("summary", {}, icon("next"), "Figures"), this.figures), this.worker, this.replay);
    this.colors = {};
    for (const node of this.inUse) {
      for (const type of ["pointerleave", "focusout"]) node.addEventListener(type, () => setTimeout(() => this.release()));
    }
    this.observer = new ResizeObserver(() => this.answer && this.draw());
    this.observer.observe(this.chart);
    this.seen = () => { if (!document.hidden) this.refresh(); };
    document.addEventListener("visibilitychange", this.seen);
    this.timer = setInterval(() => { if (!document.hidden) this.refresh(); }, PACE);
  }

  update(params) {
    this.by = GROUPS[params.get("by")] ? params.get("by") : "reason";
    this.filter = filterOf(params);
    this.later = null;
    drawnAgain(this.chips, () => drawnAgain(this.tools, () => this.drawTools()), () => this.tools.querySelector("select"));
    if (this.app.info.allowReplay) {
      this.stopReplay?.();
      this.stopReplay = drawReplay(this.replay, this.app, this.filter);
    }
    this.load(true);
    this.loadWorker();
  }

  /** The parts that stay as they are while the pointer is over one of them, or the focus in it. */
  get inUse() { return [this.chart, this.legend, this.figures]; }

  /** True while the chart is in use, for a bounded time. */
  get isHeld() {
    return this.inUse.some((node) => node.matches(":hover, :focus-within")) && Date.now() - this.drawnAt < HOLD;
  }

  /** Draws the answer that came while the chart was in use. */
  release() {
    if (this.later && !this.isHeld) this.show(this.later);
  }

  /** The filter of records, which always has a kind. */
  get records() { return { kind: "problem", ...this.filter }; }

  go(changes) { this.app.go("problems", changed({ ...this.filter, by: this.by }, changes)); }

  drawTools() {
    const groups = Object.entries(GROUPS).map(([by, text]) => {
      const input = el("input", { attrs: { type: "radio", name: "by", checked: by === this.by } });
      input.addEventListener("change", () => this.go({ by }));
      return el("label", {}, input, el("span", { text }));
    });
    const kind = el("select", { attrs: { "aria-label": "Records" } }, Object.entries(KINDS).map(([value, text]) =>
      el("option", { text, attrs: { value, selected: value === (this.filter.kind ?? "problem") } })));
    kind.addEventListener("change", () => this.go({ kind: kind.value === "problem" ? null : kind.value }));
    clear(this.tools, el("span", { class: "select" }, kind, icon("down")), timeSwitch(this.filter, (changes) => this.go(changes)),
      el("span", { class: "segmented spread", attrs: { role: "radiogroup", "aria-label": "By" } }, groups));
    const { kind: _, ...rest } = this.filter;
    const own = chips(rest, (changes) => this.go(changes));
    clear(this.chips, own, own.length > 1 && clearButton(() => this.app.go("problems", { by: this.by, kind: this.filter.kind })));
    this.chips.hidden = own.length === 0;
  }

  refresh() {
    if (this.filter.to == null) this.load(false);
    this.loadWorker();
  }

  async load(isNew) {
    if (!isNew && this.request) return;
    this.request?.abort();
    const own = this.request = new AbortController();
    const isBroken = this.message.querySelector(".broken") !== null;
    const done = isNew ? this.app.loading(clear(this.message), "Counting") : isBroken ? () => {} : waiting(this.message);
    try {
      const answer = await this.app.api.get("/api/chart", request(this.records, { by: this.by, top: 8 }), own.signal);
      if (own !== this.request) return;
      done();
      clear(this.message, stateLine(this.app, answer.state));
      if (!isNew && this.isHeld) this.later = answer;
      else this.show(answer);
      if (isNew) this.app.announce(this.lead.textContent);
    } catch (error) {
      if (own === this.request && error?.name !== "AbortError") clear(this.message, this.app.problem(error, () => this.load(true)));
    } finally {
      done();
      if (own === this.request) this.request = null;
    }
  }

  /** Shows an answer. A value keeps its color as long as the view is open. */
  show(answer) {
    this.later = null;
    this.drawnAt = Date.now();
    const known = this.colors[answer.by] ??= new Map();
    this.answer = { ...answer, colors: colorsOf(known, answer.groups) };
    this.draw();
  }

  draw() { this.keepFocus(() => this.drawAnswer()); }

  /** Draws something. The focus stays where it is, also while the figures change. */
  keepFocus(draw) {
    const controls = () => [...this.root.querySelectorAll("a, button, [tabindex]")];
    const index = controls().indexOf(document.activeElement);
    draw();
    if (index >= 0 && document.activeElement === document.body) controls()[index]?.focus({ preventScroll: true });
  }

  drawAnswer() {
    const { answer } = this;
    const isEmpty = answer.total === 0;
    for (const node of [this.legend, this.figures.parentElement]) node.hidden = isEmpty;
    const noun = { problem: "problem", dead_letter: "dead letter", any: "record" }[this.records.kind] ?? "record";
    const since = shortTime(answer.start);
    if (isEmpty) {
      clear(this.lead);
      const isFiltered = Object.keys(this.filter).some((name) => !["kind", "from", "to"].includes(name));
      return clear(this.chart, this.app.empty(isFiltered ? "Nothing matches" : "Nothing went wrong",
        isFiltered ? "No record in the index has all of these values." : `No ${noun} since ${dateTime(Math.max(answer.start, answer.from))}.`,
        isFiltered && clearButton(() => this.app.go("problems", {}))));
    }
    clear(this.lead, el("b", { text: count(answer.total, noun) }), ` since ${since}`, this.most(answer), ". ",
      link("decisions", changed(this.records, {}), "Show the records"));
    drawChart(this.chart, answer, this.records);
    const legend = JSON.stringify([answer.by, answer.groups, answer.colors, this.filter]);
    if (legend !== this.legendKey) drawLegend(this.legend, answer, this.filter, (changes) => this.go(changes));
    this.legendKey = legend;
    drawFigures(this.figures, answer, this.records);
  }

  /** The most frequent value in words, of the records that have one if most have none. */
  most({ total, groups }) {
    const none = groups.find((group) => group.value === "")?.total ?? 0;
    const first = groups.find((group) => group.value);
    if (none === total) return `: all have no ${this.by}`;
    if (!first) return "";
    const isRest = none > first.total;
    const whole = isRest ? total - none : total;
    const clause = clauseOf(this.by, first.value);
    const which = first.total === whole ? "all of them" : 2 * first.total > whole ? "most of them" : "most often";
    return [isRest ? `: ${share(none, total)} have no ${this.by}; of the rest, ` : ", ", total > 1 && `${which} `,
      clause && `because ${clause}: `,
      link("decisions", changed(this.records, { [this.by]: first.value }), outside(first.value, { limit: 80 })),
      first.total < whole && ` (${share(first.total, whole)})`];
  }

  async loadWorker() {
    if (!this.app.info.worker) return clear(this.worker);
    if (this.workerRequest) return;
    const own = this.workerRequest = new AbortController();
    const title = el("h2", { text: "Worker", attrs: { id: "worker-title" } });
    try {
      const answer = await this.app.api.get("/api/worker", null, own.signal);
      if (own === this.workerRequest) this.keepFocus(() => clear(this.worker, title, workerPanel(answer)));
    } catch (error) {
      if (own === this.workerRequest && error?.name !== "AbortError") clear(this.worker, title, this.app.problem(error, () => this.loadWorker()));
    } finally {
      if (own === this.workerRequest) this.workerRequest = null;
    }
  }

  unmount() {
    this.later = null;
    this.stopReplay?.();
    this.request?.abort();
    this.workerRequest?.abort();
    clearInterval(this.timer);
    this.observer.disconnect();
    document.removeEventListener("visibilitychange", this.seen);
  }
}

/** A part of a whole in percent, which is 100 only for all. */
function share(part, whole) {
  return `${Math.min(99, Math.round((100 * part) / whole))}\u00a0%`;
}

/** The worker's own state: readiness, rate, lag, and last errors. */
function workerPanel({ address, status }) {
  const lanes = status.lanes ?? [];
  const partitions = lanes.flatMap((lane) => lane.partitions ?? []);
  const lag = partitions.reduce((sum, partition) => sum + (partition.lag ?? 0), 0);
  const sum = (name) => lanes.reduce((total, lane) => total + (lane[name] ?? 0), 0);
  const errors = lanes.flatMap((lane) => (lane.last_errors ?? []).map((error) => ({ lane: lane.lane, error })));
  const facts = [
    ["State", [el("span", { class: "badge", data: { outcome: status.ready ? "navigate" : "reject" } }, icon(status.ready ? "check" : "warning"), status.ready ? "ready" : "not ready"),
      (status.not_ready ?? []).length > 0 && el("span", { class: "muted" }, " ", outside(status.not_ready.join(", "), { limit: 300 }))]],
    ["Address", outside(address)],
    ["Instance", outside(status.instance, { limit: 120 })],
    ["Rate", `${(status.rates?.records_per_s ?? 0).toLocaleString("en-US", { maximumFractionDigits: 1 })} records a second`],
    ["Lag", count(lag, "record")],
    ["Since its start", `${count(sum("records"), "record")}, ${count(sum("decisions"), "decision")}, ${count(sum("dead_letters"), "dead letter")}`],
    ["Tables", (status.tables ?? []).map((table) => outside(`${table.id}@${table.version}+${String(table.hash).slice(0, 8)}`, { limit: 120 })).flatMap((node, index) => (index > 0 ? [", ", node] : [node]))],
  ];
  return [
    el("dl", { class: "facts" }, facts.map(([name, value]) => [el("dt", { text: name }), el("dd", {}, value)])),
    lanes.length > 0 && el("div", { class: "figures", attrs: { tabindex: "0", role: "region", "aria-label": "Lanes" } }, el("table", { class: "table" },
      el("thead", {}, el("tr", {}, ["Lane", "State", "Partitions", "Lag", "Last commit"].map((text, index) => el("th", { class: index > 1 ? "num" : "", text, attrs: { scope: "col" } })))),
      el("tbody", {}, lanes.map((lane) => el("tr", {}, el("td", { class: "num", text: String(lane.lane) }), el("td", {}, outside(lane.state)),
        el("td", { class: "num", text: String((lane.partitions ?? []).length) }),
        el("td", { class: "num", text: (lane.partitions ?? []).reduce((total, partition) => total + (partition.lag ?? 0), 0).toLocaleString("en-US") }),
        el("td", { class: "num", text: lane.last_commit_ms == null ? "none" : `${duration(lane.last_commit_ms * 1000)} ago` })))))),
    errors.length > 0 && [el("h3", { text: "Last errors" }), el("ul", { class: "errors" }, errors.slice(0, 20).map(({ lane, error }) =>
      el("li", {}, el("span", { class: "muted", text: `lane ${lane}: ` }), el("b", {}, outside(error.code ?? error.event ?? "error", { limit: 80 })), " ",
        outside(error.message ?? "", { limit: 400 }), error.age_ms != null && el("span", { class: "muted", text: `, ${duration(error.age_ms * 1000)} ago` }))))],
  ];
}

export const view = {
  title: "What goes wrong",
  async mount(root, app) {
    await useStyle("feed.css");
    await useStyle("try.css");
    if (!app.info.kafka) {
      clear(root, el("h1", { class: "visually-hidden", text: "What goes wrong" }), app.empty("No broker", "Start the console with `--bootstrap` to see what goes wrong."));
      return { update() {}, unmount() {} };
    }
    return new Problems(root, app);
  },
};
