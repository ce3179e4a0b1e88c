// The view "Decisions": what was decided, from the newest on, with filters, and live.

import { button, clear, count, el, icon, outcomeBadge, outside, readable, shown, useStyle } from "./dom.js";
import { fragment } from "./router.js";
import { changed, chips, clearButton, dateTime, drawnAgain, filterLink, filterOf, KINDS, request, shortTime, stateLine,
  timeSwitch } from "./feed-filter.js";
import { feedList } from "./feed-list.js";
import { follow, isNew, rateLine } from "./feed-live.js";
import { prose } from "./states.js";
import { detailText, reasonText, toneOf } from "./words.js";

const OUTCOMES = ["navigate", "external", "deferred", "none", "reject"];
/** Properties that the search field can filter on. */
const FIELDS = ["device", "event", "campaign", "route", "reason", "application", "context.query"];
/** Words for one row of a kind. */
const NOUNS = { dead_letter: "dead letter", problem: "problem", any: "record" };
/** Live rows before the list begins again from the newest. */
const MAX_LIVE = 400;
/** The state of a stream that broke, which is not the reader's. */
const LOST = "lost";

class Decisions {
  constructor(root, app) {
    this.app = app;
    this.filter = null;
    this.top = null;
    this.isPaused = false;
    this.unseen = 0;
    this.rate = rateLine();
    this.message = el("div", { class: "feed-message" });
    this.tools = el("div", { class: "stack" });
    this.chips = el("div", { class: "toolbar", attrs: { role: "group", "aria-label": "Filters" } });
    this.count = el("p", { class: "label num", attrs: { role: "status" } });
    this.pause = button("Pause", { icon: "pause", click: () => this.setPaused(!this.isPaused) });
    this.fresh = button("", { class: "button primary feed-fresh", icon: "next", click: () => this.toTop() });
    this.fresh.hidden = true;
    this.csv = el("a", { class: "button quiet", attrs: { download: "decisions.csv" } }, icon("down"), "CSV");
    this.list = feedList({
      label: "Decisions, newest first", head: head(), draw: (row) => cells(row, this.filter), open: (row) => this.open(row),
      fetch: (position, rows, signal) => this.fetch(position, rows, signal), left: () => this.left(),
      failed: (error) => this.problem(error), moved: (isAtTop) => { if (isAtTop && this.unseen > 0 && !this.isPaused && this.list.selected < 0) this.toTop(); },
    });
    clear(root, el("h1", { class: "visually-hidden", text: "Decisions" }), this.tools, this.chips,
      el("div", { class: "toolbar feed-bar" }, this.count, el("span", { class: "spread" }), this.rate.node, this.pause, this.csv),
      this.message, el("div", { class: "feed-frame" }, this.fresh, this.list.node));
    root.addEventListener("click", () => this.keepPlace(), true);
    this.unbind = [
      app.keys.bind("p", "Pause or continue", () => this.setPaused(!this.isPaused)),
      app.keys.bind("t", "Newest", () => this.toTop()),
      app.keys.describe("ArrowUp ArrowDown", "Move in the list"), app.keys.describe("Enter", "Open the chosen decision"),
      app.keys.describe("ArrowLeft ArrowRight", "Move between the links of a row"),
    ];
  }

  update(params) {
    const filter = filterOf(params);
    if (this.filter && JSON.stringify(filter) === JSON.stringify(this.filter)) return;
    this.filter = filter;
    this.stop?.();
    this.stop = this.waiting = this.isNew = null;
    this.rate.reset();
    const isSearch = document.activeElement?.matches(".feed-search");
    drawnAgain(this.chips, () => drawnAgain(this.tools, () => this.drawTools()), () => this.field);
    if (isSearch && !this.list.node.hidden) this.list.node.focus({ preventScroll: true });
    this.csv.href = `/api/decisions.csv?${request(filter)}`;
    this.app.title(filter.kind ? KINDS[filter.kind] ?? "Decisions" : "Decisions");
    this.load();
  }

  drawTools() {
    const go = (changes) => this.app.go("decisions", changed(this.filter, changes));
    const outcomes = [null, ...OUTCOMES].map((outcome) => {
      const input = el("input", { attrs: { type: "radio", name: "outcome", checked: (this.filter.outcome ?? null) === outcome } });
      input.addEventListener("change", () => go({ outcome }));
      return el("label", {}, input, el("span", { text: outcome ?? "all" }));
    });
    clear(this.tools, el("div", { class: "toolbar" }, this.searchField(go),
      el("span", { class: "segmented", attrs: { role: "radiogroup", "aria-label": "Outcome" } }, outcomes), timeSwitch(this.filter, go)));
    const own = chips(this.filter, go);
    clear(this.chips, own, own.length > 1 && clearButton(() => this.app.go("decisions", {})));
    this.chips.hidden = own.length === 0;
  }

  /** A field that filters on a property, or opens the decision whose id is pasted. */
  searchField(go) {
    const select = el("select", { attrs: { "aria-label": "Property" } }, FIELDS.map((name) => el("option", { text: name, attrs: { value: name } })));
    const field = this.field = el("input", { class: "field feed-search", attrs: { type: "search", placeholder: "Id of a device, or of a decision", "aria-label": "Value", "data-search": "", maxlength: 300 } });
    const form = el("form", { class: "toolbar", attrs: { role: "search" } }, el("span", { class: "select" }, select, icon("down")), field);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const text = field.value.trim();
      if (text === "") return;
      if (/^[A-Za-z0-9._-]+-\d+-\d+-\d+(~\d+)?$/.test(text) && select.value === "device") this.app.go("decision", { id: text });
      else go({ [select.value]: text });
    });
    return form;
  }

  /** Reads the first rows. `keep` leaves the list where it is. */
  async load(keep = false) {
    this.request?.abort();
    const own = this.request = new AbortController();
    // Rows that arrive meanwhile can be later than those of the answer.
    this.waiting ??= { rows: [], dropped: 0 };
    this.isFailed = false;
    const done = keep ? () => {} : this.app.loading(clear(this.message), "Reading decisions");
    if (!keep) this.list.node.classList.add("is-stale");
    try {
      const answer = await this.app.api.get("/api/decisions", request(this.filter, { limit: 100 }), own.signal);
      if (own !== this.request) return;
      this.top = answer.top;
      this.unseen = 0;
      const isBack = !keep && history.state != null;
      this.list.reset(answer.rows, answer.total, keep);
      this.isNew = isNew(answer.after);
      if (isBack) this.goBack(answer.total);
      this.show(answer);
      if (!this.stop) this.listen(answer.after);
      if (!keep) this.app.announce(count(answer.total, NOUNS[this.filter.kind] ?? "decision"));
    } catch (error) {
      if (own === this.request && error?.name !== "AbortError") {
        this.problem(error);
        this.isFailed = !keep && error.status === 0;
        // A request that the server refuses, such as one with a wrong time, is not answered by waiting.
        if (!this.stop && (error.status === 0 || error.status >= 500)) this.listen(null);
      }
    } finally {
      done();
      if (own === this.request) this.loaded();
    }
  }

  /** The request has ended: the rows that have arrived meanwhile are shown. */
  loaded() {
    this.list.node.classList.remove("is-stale");
    const { rows, dropped } = this.waiting ?? { rows: [], dropped: 0 };
    this.waiting = null;
    if (rows.length > 0 || dropped > 0) this.arrive(rows, dropped);
  }

  /** Writes the place in the list and the row with the focus into the history, so that the way back leads there. */
  keepPlace() {
    const { first, selected, count: rows } = this.list;
    history.replaceState(first > 0.5 || selected >= 0 ? { first, selected, rows } : null, "");
  }

  /** Goes to the place of the history, once. Rows that came since then are above it. */
  goBack(total) {
    const place = history.state;
    if (!Number.isFinite(place?.first)) return;
    history.replaceState(null, "");
    const more = Math.max(0, total - place.rows);
    this.list.goTo(place.first + more);
    if (place.selected >= 0) this.list.focusAt(place.selected + more);
  }

  async fetch(position, limit, signal) {
    const answer = await this.app.api.get("/api/decisions", request(this.filter, { limit, position, top: this.top }), signal);
    return answer.rows;
  }

  show(answer) {
    this.truncated = answer.truncated ? answer.from : null;
    this.showState(answer.state);
    this.showCount();
  }

  showState(state) {
    const line = stateLine(this.app, state);
    const key = line?.textContent ?? "";
    if (key === this.stateText && this.message.childElementCount > 0 === (key !== "")) return;
    // Rows that were read while the reader was loading, or that could not be fetched during an outage, are seen now.
    if (this.phase && this.phase !== "live" && state.phase === "live") this.load(true);
    this.phase = state.phase;
    this.stateText = key;
    clear(this.message, line);
    this.list.resize();
    this.showCount();
  }

  showCount() {
    const rows = this.list.count;
    const from = this.truncated == null ? "" : ` since ${dateTime(this.truncated)}; older ones are not indexed`;
    clear(this.count, `${count(rows, NOUNS[this.filter.kind] ?? "decision")}${from}`);
    const hasFocus = this.list.node.contains(document.activeElement);
    this.list.node.hidden = rows === 0;
    if (hasFocus && rows === 0) this.field.focus({ preventScroll: true });
    this.fresh.hidden = this.unseen === 0;
    if (this.unseen > 0) clear(this.fresh, icon("back", { class: "up" }), `${count(this.unseen, "new decision")}`);
    if (rows > 0 || this.phase === "loading" || this.phase === "connecting") return this.empty?.remove();
    this.empty?.remove();
    const isFiltered = Object.keys(this.filter).length > 0;
    this.empty = this.app.empty(isFiltered ? "Nothing matches" : "Nothing was decided yet",
      isFiltered ? `No record in the index has all of these values.${this.hint}` : "New decisions appear here as a worker makes them.",
      isFiltered && clearButton(() => this.app.go("decisions", {})));
    this.message.after(this.empty);
  }

  /** What to look at in a device's id of which nothing is found. */
  get hint() {
    const { device } = this.filter;
    return device != null && device !== device.toLowerCase().trim() ? " Ids are compared exactly, with their case." : "";
  }

  problem(error) {
    this.stateText = null;
    clear(this.message, this.app.problem(error, () => this.load()));
  }

  /** Follows new rows after those of an answer, unless the time has an end. */
  listen(after) {
    const canFollow = this.filter.to == null;
    this.pause.hidden = this.rate.node.hidden = !canFollow;
    if (!canFollow) return;
    const { from, to, ...filter } = this.filter;
    this.stop = follow(request(filter), after, {
      rows: (rows, dropped) => this.arrive(rows, dropped),
      rate: (rate) => {
        this.connected(true);
        this.rate.add(rate.matched);
        // The server answers again, so what could not be read is read.
        if (this.isFailed) this.load();
        else this.showState(rate.state);
      },
      state: (isOpen, refusal) => this.connected(isOpen, refusal),
    });
  }

  /** The stream opened, or broke: then the rate is unknown, and new rows do not arrive. */
  connected(isOpen, refusal) {
    if (isOpen) this.lostAt = null;
    else this.lostAt ??= Date.now();
    if (!isOpen) this.rate.lost(refusal ? "not live" : undefined);
    if (!isOpen) return this.showLost(refusal);
    if (this.stateText !== LOST) return;
    this.stateText = null;
    clear(this.message);
    this.list.resize();
  }

  /** Says why new decisions do not arrive: the server refuses the stream, or does not answer. */
  showLost(refusal) {
    if (this.isFailed) return;
    this.stateText = LOST;
    if (refusal) {
      const next = refusal.next ? ` Next: ${refusal.next}.` : "";
      clear(this.message, this.app.stale(`New decisions do not appear by themselves: ${refusal.message}.${next}`,
        button("Read again", { click: () => this.load() })));
    } else clear(this.message, this.app.stale(`New decisions have not arrived since ${shortTime(this.lostAt)}: the console's server does not answer. It is asked again by itself.`));
    this.list.resize();
  }

  arrive(all, dropped) {
    if (this.waiting) {
      const kept = all.slice(0, MAX_LIVE - this.waiting.rows.length);
      this.waiting.rows.push(...kept);
      this.waiting.dropped += dropped + all.length - kept.length;
      return;
    }
    const rows = all.filter(this.isNew ?? (() => true));
    if (rows.length === 0 && dropped === 0) return;
    if (this.isPaused || !this.list.isAtTop || this.list.selected >= 0) {
      this.unseen += rows.length + dropped;
      return this.showCount();
    }
    // A list with a gap begins again, at most once a second.
    if (dropped > 0 || this.list.head.length + rows.length > MAX_LIVE) return this.again();
    this.list.prepend(rows.toReversed());
    this.showCount();
  }

  again() {
    if (this.timer) return;
    this.timer = setTimeout(() => {
      this.timer = 0;
      if (!this.isPaused) this.load(true);
    }, 1000);
  }

  /** The focus has left the list: what came since then is shown, unless it is paused. */
  left() {
    if (this.unseen > 0 && !this.isPaused && this.list.isAtTop) this.load(true);
  }

  toTop() {
    history.replaceState(null, "");
    this.list.selected = -1;
    this.list.first = 0;
    this.setPaused(false);
    this.load();
  }

  setPaused(isPaused) {
    if (isPaused === this.isPaused) return;
    this.isPaused = isPaused;
    clear(this.pause, icon(isPaused ? "play" : "pause"), isPaused ? "Continue" : "Pause");
    this.app.announce(isPaused ? "Paused" : "New decisions are shown");
    if (!isPaused && this.unseen > 0) this.load();
  }

  open(row) {
    this.keepPlace();
    if (row.kind === "decision") this.app.go("decision", { topic: row.topic, partition: row.partition, offset: row.offset });
    else if (row.event) this.app.go("decisions", changed({}, { kind: "any", event: row.event }));
  }

  unmount() {
    this.waiting = null;
    this.request?.abort();
    clearTimeout(this.timer);
    this.stop?.();
    this.list.close();
    for (const unbind of this.unbind) unbind();
  }
}

/** The headers of the columns. */
function head() {
  return el("div", { class: "feed-row feed-head", attrs: { role: "row", "aria-rowindex": 1 } },
    ["Time", "Outcome", "Route or reason", "Device", "Campaign", "What it became"].map((text) => el("span", { class: "label", text, attrs: { role: "columnheader" } })));
}

/** The cells of a row. Every value that can be filtered on is a link. */
function cells(row, filter) {
  const isLetter = row.kind === "dead_letter";
  const time = row.kind === "decision"
    ? el("a", { class: "value num", text: shortTime(row.time), title: dateTime(row.time), attrs: { href: fragment("decision", { topic: row.topic, partition: row.partition, offset: row.offset }) } })
    : el("span", { class: "num", text: shortTime(row.time), title: dateTime(row.time) });
  const outcome = isLetter
    ? el("a", { class: "value", attrs: { href: fragment("decisions", changed(filter, { kind: "dead_letter" })) } }, el("span", { class: "badge", data: { outcome: "reject" } }, icon("warning"), "dead letter"))
    : row.outcome && el("a", { class: "value", attrs: { href: fragment("decisions", changed(filter, { outcome: row.outcome })) } }, outcomeBadge(row.outcome, undefined, toneOf(row)));
  const why = [
    row.route && filterLink("route", row.route, filter),
    row.reason && [row.route && ", ", filterLink("reason", row.reason, filter), el("span", { class: "muted", text: ` ${reasonText(row.reason)}` })],
  ];
  const device = row.device != null ? filterLink("device", row.device, filter)
    : row.user != null && el("span", {}, "user ", outside(row.user, { limit: 120 }));
  return [time, outcome, why, device,
    row.campaign && filterLink("campaign", row.campaign, filter), target(row)].map((content, index) =>
    el("span", { class: `feed-cell cell-${index}`, attrs: { role: "gridcell" } }, content || (index === 5 ? null : el("span", { class: "muted", text: "–", attrs: { "aria-label": "none" } }))));
}

/** What a row became, in the last cell. */
function target(row) {
  if (row.partial) return el("span", { class: "muted", text: "the record cannot be read now" });
  if (row.missing) return el("span", { class: "muted", text: "the record no longer exists" });
  const detail = row.detail && el("span", { class: "muted", title: shown(row.detail, 400) }, " ", outside(detailText(row.detail), { limit: 80 }));
  if (row.kind !== "dead_letter") return [row.target && outside(readable(row.target), { limit: 160, class: "mono", title: shown(row.target, 512) }), detail];
  const source = row.source ? `from ${shown(row.source.topic, 80)}-${row.source.partition}-${row.source.offset}${row.source.item != null ? `.${row.source.item}` : ""}` : "";
  return [row.detail && prose(row.detail), row.pointer && el("code", {}, " ", outside(row.pointer, { limit: 80 })),
    el("span", { class: "muted" }, ` ${[row.stage, source].filter(Boolean).join(", ")}`)];
}

export const view = {
  title: "Decisions",
  async mount(root, app) {
    await useStyle("feed.css");
    if (!app.info.kafka) {
      clear(root, el("h1", { class: "visually-hidden", text: "Decisions" }), app.empty("No broker", "Start the console with `--bootstrap` to see decisions."));
      return { update() {}, unmount() {} };
    }
    return new Decisions(root, app);
  },
};
