// The view "Try a link": a link, an event, or a push body, a device, and what happens.

import { ApiError, isAborted } from "./api.js";
import { button, clear, copyButton, el, hiddenIn, icon, shown, useStyle } from "./dom.js";
import { destinationOf, isWaiting } from "./resume.js";
import { fragment } from "./router.js";
import { PATIENCE, waiting } from "./states.js";
import { builder } from "./try-build.js";
import { drawFacts } from "./try-facts.js";
import { devicesIn, factsIn, factsOf, readQuestion, requestBody, sendsFacts, writeQuestion } from "./try-question.js";
import { drawStart } from "./try-start.js";

/** Delays in milliseconds: between requests, before the address is written, before the matrix is asked for. */
const PACE = 12;
const WRITE_DELAY = 100;
const MATRIX_DELAY = 60;
const ANNOUNCE_DELAY = 500;

/** An input that no address holds, with the address that was written instead of it. Back leads to it again. */
let beyond = null;

/** What draws an answer: the module try-result.js, once it is there. */
let [draw, tries] = [null, 0];

/** Loads what draws an answer. A module that could not be fetched is asked for with another address. */
async function loadResult() {
  if (draw) return;
  try {
    const again = tries > 0 ? `?again=${tries}` : "";
    [draw] = await Promise.all([import(`./try-result.js${again}`), useStyle("phones.css")]);
  } catch {
    tries += 1;
    throw new ApiError("unreachable", "The console's server does not answer.",
      "Check that `linkd console` still runs.");
  }
}

/** The first view. */
export const view = {
  title: "Try a link",
  mount(root, app) {
    const page = new TryPage(root, app);
    return { update: (params) => page.update(params), unmount: () => page.unmount() };
  },
};

/** The page's state, and its parts. */
class TryPage {
  constructor(root, app) {
    this.root = root;
    this.app = app;
    this.question = { input: "", device: null, isChosen: false };
    this.table = null;
    this.answer = null;
    this.isBeyond = false;
    this.index = 0;
    this.timers = {};
    this.build();
    this.unbind = [
      app.keys.describe("Enter", "In the input: answer. In the matrix: choose the device"),
      app.keys.describe("ArrowUp ArrowDown ArrowLeft ArrowRight", "Move in the matrix"),
      app.keys.bind("c", "Copy the address", () => this.share.click()),
    ];
    // Whoever leaves the input, the page, or the window may copy the address next.
    this.flush = () => this.writeNow();
    this.root.addEventListener("focusout", this.flush);
    for (const name of ["blur", "pagehide"]) window.addEventListener(name, this.flush);
    document.addEventListener("visibilitychange", this.flush);
  }

  /** Builds the parts that stay. */
  build() {
    this.input = el("textarea", { class: "question", attrs: {
      id: "question", rows: 1, dir: "auto", spellcheck: "false", autocapitalize: "off", autocomplete: "off",
        "data-search": true,
      placeholder: "Paste a link, an event, or a push message", "aria-label": "A link, an event, or a push message",
    } });
    this.input.addEventListener("input", () => this.asked());
    this.input.addEventListener("keydown", (event) => this.pressedInInput(event));
    this.clearButton = button(null, { icon: "close", class: "button quiet round clear", label: "Clear the input",
      click: () => this.ask("") });
    this.facts = el("div", { class: "device" });
    this.share = copyButton(() => {
      this.write();
      return location.href;
    }, "Copy the address");
    this.share.classList.add("share");
    this.notes = el("div", { class: "ask-notes", attrs: { role: "status" } });
    this.problem = el("div");
    this.start = el("div", { class: "start" });
    this.devices = el("div", { class: "devices" });
    this.sentence = el("div", { class: "answer-head" });
    this.phones = el("div", { class: "answer-phones" });
    this.matrix = el("section", { class: "answer-matrix", attrs: { "aria-label": "Versions and platforms" } });
    this.link = el("div", { class: "answer-link" });
    this.code = el("div");
    this.phases = el("div");
    this.json = el("div");
    this.how = el("section", { class: "answer-how" }, el("h2", { text: "How it was decided" }), this.link, this.code,
      this.phases, this.json);
    this.seen = el("div", { class: "seen" }, this.phones, this.matrix, this.how);
    this.result = el("div", { class: "result" }, this.devices, this.sentence, this.seen);
    this.root.append(el("h1", { class: "visually-hidden", text: "Try a link" }),
      el("div", { class: "ask" }, el("div", { class: "question-frame" }, this.input, this.clearButton), this.notes,
        el("div", { class: "device-row" }, this.facts, this.share)),
      this.problem, this.start, this.result);
  }

  /** Takes the question of an address. */
  update(params) {
    const table = this.app.table();
    const facts = factsOf(this.app.info, table);
    const question = readQuestion(params, facts);
    const fresh = this.question.device === null;
    // An input that the address cannot hold stays on the page.
    const isKept = !params.has("input") && (this.isBeyond || beyond?.address === location.hash);
    const kept = this.question.input === "" ? beyond?.input ?? "" : this.question.input;
    this.question = isKept ? { ...question, input: kept } : question;
    this.isBeyond = isKept;
    this.table = table;
    this.factsInUse = facts;
    if (this.input.value !== this.question.input) this.input.value = this.question.input;
    this.showFacts();
    this.changed();
    // Room for the matrix, so that less moves when it comes.
    if (fresh) this.matrix.style.setProperty("min-height", "168px");
    if (fresh && matchMedia("(pointer: fine)").matches) this.input.focus({ preventScroll: true });
  }

  /** Stops what is under way. The address was written when the focus left the input. */
  unmount() {
    this.closed = true;
    for (const name of ["blur", "pagehide"]) window.removeEventListener(name, this.flush);
    document.removeEventListener("visibilitychange", this.flush);
    for (const timer of Object.values(this.timers)) clearTimeout(timer);
    this.request?.abort();
    this.matrixRequest?.abort();
    for (const unbind of this.unbind) unbind();
  }

  /** Runs `fn` later, instead of an earlier one of the same name. */
  later(name, delay, fn) {
    clearTimeout(this.timers[name]);
    this.timers[name] = setTimeout(fn, delay);
  }

  /** The input was edited. */
  asked() {
    const input = this.input.value;
    const [names, named] = [input, this.question.input].map((text) => devicesIn(text).length > 0);
    this.question = { ...this.question, input, isChosen: this.question.isChosen && (named || !names) };
    // The facts of an event are not those of what comes after it.
    if (named && !names) this.showFacts();
    this.changed();
    this.writeLater();
  }

  /** Asks for another input. */
  ask(input) {
    this.input.value = input;
    this.asked();
    this.input.focus();
  }

  /** Enter answers a link; a message may have several lines. */
  pressedInInput(event) {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing
      || this.input.value.trimStart().startsWith("{")) return;
    event.preventDefault();
    this.write();
    this.resolve();
  }

  /** The facts of the device were changed. */
  setDevice(device, redraw = true) {
    this.question = { ...this.question, device, isChosen: true };
    if (redraw) this.showFacts();
    this.changed();
    this.writeLater();
  }

  /** The facts of the device that is answered: those of the controls, or of the event's device. */
  device() {
    const named = sendsFacts(this.question) ? [] : devicesIn(this.question.input);
    return named.length > 0 ? factsIn(named[this.index] ?? named[0]) : this.question.device;
  }

  /** Draws the controls, unless a text among them is edited. */
  showFacts() {
    const active = this.facts.contains(document.activeElement) ? document.activeElement : null;
    const open = this.facts.querySelector("details")?.open;
    drawFacts(this.facts, this.device(), this.factsInUse, (device) => {
      this.setDevice(device, !(document.activeElement?.matches?.(".device input") ?? false));
    });
    if (open) this.facts.querySelector("details")?.setAttribute("open", "");
    if (active?.id) document.getElementById(active.id)?.focus();
  }

  /** Writes the question into the address once the typing pauses. */
  writeLater() {
    this.isUnwritten = true;
    this.later("write", WRITE_DELAY, () => this.write());
  }

  /** Writes what is not written yet. */
  writeNow() {
    if (this.isUnwritten) this.write();
  }

  /** Writes the question into the address, or says that it does not fit. */
  write() {
    if (this.closed) return;
    clearTimeout(this.timers.write);
    this.isUnwritten = false;
    const fits = this.app.replace(writeQuestion(this.question, this.table));
    if (!fits) this.app.replace(writeQuestion({ ...this.question, input: "" }, this.table));
    this.isBeyond = !fits;
    this.share.hidden = !fits || this.question.input.trim() === "";
    beyond = fits ? null : { input: this.question.input, address: location.hash };
    this.showNotes();
  }

  /** Says what the input does not show. */
  showNotes() {
    const hidden = hiddenIn(this.question.input);
    const own = this.question.isChosen ? "These facts are used instead of the event's."
      : "These are the facts of the event.";
    const texts = [
      this.isBeyond && "This input is beyond 8 KiB, so the address does not hold it. It stays on this page only.",
      hidden.length > 0 && `The input has hidden characters: ${hidden.slice(0, 6).join(" ")}`,
    ].filter(Boolean);
    clear(this.notes, texts.map((text) => el("p", { class: "label address-note" }, icon("warning"), text)),
      this.namesDevices() && el("p", { class: "label", text: own }));
  }

  /** True if the input is an event with devices of its own. */
  namesDevices() {
    return this.answer?.kind === "event" && devicesIn(this.question.input).length > 0;
  }

  /** Something of the question changed: show the start, or ask the server. */
  changed() {
    const empty = this.question.input.trim() === "";
    this.grow();
    this.clearButton.hidden = this.question.input === "";
    this.share.hidden = empty || this.isBeyond;
    this.start.hidden = !empty;
    this.result.hidden = empty || this.answer === null;
    if (empty) {
      this.request?.abort();
      this.answer = null;
      clear(this.problem);
      this.showNotes();
      this.showStart();
      return;
    }
    this.later("resolve", PACE, () => this.resolve());
  }

  /** Fits the height of the input to its text. */
  grow() {
    if (CSS.supports("field-sizing", "content")) return;
    this.input.style.setProperty("height", "auto");
    this.input.style.setProperty("height", `${this.input.scrollHeight}px`);
  }

  /** Asks the server. A newer question stops an older one. */
  async resolve() {
    clearTimeout(this.timers.resolve);
    this.request?.abort();
    const request = new AbortController();
    this.request = request;
    this.later("stale", PATIENCE, () => this.result.classList.add("is-stale"));
    const answered = waiting(this.notes.parentElement);
    try {
      const loaded = loadResult().then(() => null, (error) => error);
      const body = requestBody(this.question, this.table);
      const answer = await this.app.api.post("/api/resolve", body, request.signal);
      if (request.signal.aborted) return;
      const failure = await loaded;
      if (failure) throw failure;
      if (request.signal.aborted) return;
      this.answer = answer;
      this.index = Math.min(this.index, Math.max(0, answer.decisions.length - 1));
      clear(this.problem);
      this.show();
      this.later("matrix", MATRIX_DELAY, () => this.askMatrix(body));
    } catch (error) {
      if (!isAborted(error)) clear(this.problem, this.app.problem(error, () => this.resolve()));
    } finally {
      answered();
      if (this.request === request) this.fresh();
    }
  }

  /** The result is that of the question. */
  fresh() {
    clearTimeout(this.timers.stale);
    this.result.classList.toggle("is-stale", this.problem.hasChildNodes());
  }

  /** Asks for the matrix. */
  async askMatrix(body) {
    this.matrixRequest?.abort();
    const request = new AbortController();
    this.matrixRequest = request;
    try {
      const matrix = await this.app.api.post("/api/matrix", body, request.signal);
      if (request.signal.aborted) return;
      this.showMatrix(matrix);
    } catch (error) {
      if (!isAborted(error)) clear(this.matrix, el("p", { class: "label" }, shown(error.message)));
    }
  }

  /** Draws the matrix. The focus stays where it is. */
  showMatrix(matrix) {
    const focused = this.matrix.contains(document.activeElement);
    const usable = matrix.results?.length > 0 && this.answer?.decisions.length > 0;
    this.matrix.hidden = !usable;
    if (!usable) return;
    const body = el("div");
    this.matrix.style.removeProperty("min-height");
    clear(this.matrix, el("h2", { text: "Who sees what" }), body);
    const device = this.device();
    draw.drawMatrix(body, matrix, device, (platform, app) => this.setDevice({ ...device, platform,
      app: app ?? device.app }));
    if (focused) this.matrix.querySelector(".cell[tabindex='0']")?.focus();
  }

  /** Draws the answer. */
  show() {
    const { decisions, deadLetter, micros } = this.answer;
    const item = decisions[this.index];
    this.result.hidden = false;
    this.loosen ??= draw.followTies(this.result);
    this.loosen();
    this.showNotes();
    if (this.namesDevices() && !this.question.isChosen) this.showFacts();
    clear(this.devices, draw.drawDevices(decisions, this.index, (index) => { this.index = index; this.show(); }));
    this.seen.hidden = !item;
    if (!item) {
      const { input } = this.question;
      const segments = deadLetter && draw.letterSegments(deadLetter, input, this.answer.tables ?? []);
      const mended = deadLetter && draw.drawMended(input, (other) => this.address(other));
      clear(this.sentence, segments ? draw.drawDeadLetter(deadLetter, segments)
        : el("h2", { class: "display", text: "No table takes this." }), mended, this.otherTables(mended != null));
      this.say(segments ? draw.sentenceText(segments).replaceAll("`", "") : "No table takes this.");
      return;
    }
    // Of an expired event, everything below the sentence is what it would open.
    const would = item.unexpired;
    const seen = { ...item, ...would };
    const text = this.linkText(seen);
    const ties = draw.tiesOf(seen.explain);
    clear(this.sentence, draw.drawSentence(item), draw.drawSource(item, micros, item.envelope),
      draw.drawSuggestions(seen.explain, text, (other) => this.address(other)), this.otherTables(),
      would && el("p", { class: "banner would", data: { tone: "deferred" } }, icon("clock"),
        el("span", {}, "If it had not expired: ", draw.drawSentence(would, { tag: "span", name: "sentence" }))));
    const drawPhones = (then) => {
      clear(this.phones, draw.drawPhones(seen.decision, { screens: seen.screens, platform: this.device().platform, then }));
      draw.tieScreens(this.phones, ties);
    };
    drawPhones(null);
    this.showThen(seen.decision, drawPhones);
    draw.showLink(this.link, text, seen.explain, ties);
    draw.drawCode(this.code, this.app.api, text);
    clear(this.phases, seen.explain && draw.drawPhases(seen, ties));
    draw.drawJSON(this.json, item);
    this.say(draw.sentenceText(item.sentence));
  }

  /** Draws what a decision that waits opens in the end. A newer answer stops it. */
  async showThen(decision, drawPhones) {
    const { answer, index } = this;
    if (!isWaiting(decision)) return;
    const table = this.table ?? decision.table?.split("@")[0];
    try {
      const then = await destinationOf(this.app.api, decision, this.device(), table, this.request.signal);
      if (this.answer === answer && this.index === index) drawPhones(then);
    } catch (error) {
      // Without the destination, the phone says what the app waits for.
      if (!isAborted(error)) console.error(error);
    }
  }

  /** What to do if no table, or several, take the input: choose one, or correct the link. */
  otherTables(isMended = false) {
    const { tables } = this.app.info;
    if (this.answer.deadLetter?.reason !== "application_unknown" || this.table || tables.length < 2) return null;
    return draw.drawTables(this.answer.tables ?? [], this.question.input.trim(), isMended, (text) => this.address(text),
      tables.map(({ id }) => ({ id, question: writeQuestion(this.question, id) })));
  }

  /** The text of the link that was explained. */
  linkText(item) {
    if (item.link) return item.link;
    if (item.envelope?.link) return item.envelope.link;
    try {
      const { link } = JSON.parse(this.question.input);
      if (typeof link === "string") return link;
    } catch { /* The input is the link itself. */ }
    return this.question.input.trim();
  }

  /** The address of another input with the same device. */
  address(input) {
    return fragment("try", writeQuestion({ ...this.question, input }, this.table));
  }

  /** Says the sentence once the typing pauses. */
  say(text) {
    this.later("say", ANNOUNCE_DELAY, () => this.app.announce(text));
  }

  /** Draws the start: what to do, and examples. */
  showStart() {
    if (this.start.dataset.table === (this.table ?? "") && this.start.hasChildNodes()) return;
    this.start.dataset.table = this.table ?? "";
    const table = this.table ?? this.app.info.tables[0]?.id;
    drawStart(this.start, this.app.info, this.table, (input) => this.address(input),
      table && builder(this.app, table, () => this.device(), (link) => this.ask(link)));
  }
}
