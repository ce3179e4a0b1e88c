// The replay of dead letters: the reasons to tick, a dry run with its summary, and the replay of the same dead letters.

import { button, clear, count, el, outside, shown } from "./dom.js";
import { dateTime, namesOf } from "./feed-filter.js";
import { isAborted } from "./api.js";
import { reasonText } from "./words.js";

/** Filters of a list that a replay can choose by. */
const CHOICES = ["kind", "reason", "from", "to"];

/** Draws the panel into `root` for the dead letters of a filter. Call the result to stop. */
export function drawReplay(root, app, filter) {
  const topic = el("input", { class: "field", attrs: { id: "replay-topic", placeholder: "the setting input", maxlength: "249", spellcheck: "false" } });
  const reasons = el("div", { class: "section" });
  const result = el("div", { class: "section", attrs: { role: "status" } });
  const dryRun = button("Dry run", { class: "button", click: () => run(null) });
  const others = Object.keys(filter).filter((name) => !CHOICES.includes(name));
  const times = { from: time(filter.from), to: time(filter.to) };
  const stop = new AbortController();
  const ticked = () => [...reasons.querySelectorAll("input:checked")].map((node) => node.value);
  const ticks = () => {
    dryRun.disabled = ticked().length === 0;
    clear(result);
  };

  async function load() {
    const done = app.loading(clear(reasons), "Looking at the dead letters");
    dryRun.disabled = true;
    try {
      const answer = await app.api.get("/api/replay/reasons", times, stop.signal);
      done();
      clear(reasons, answer.reasons.length === 0 ? el("p", { text: "There are no dead letters to replay." }) : reasonTable(answer.reasons, filter, ticks));
      ticks();
    } catch (error) {
      done();
      if (!isAborted(error)) clear(reasons, app.problem(error, load));
    }
  }

  async function run(ticket) {
    dryRun.disabled = true;
    const done = app.loading(clear(result), ticket ? "Replaying" : "Choosing dead letters");
    try {
      const choice = { topic: topic.value.trim(), since: times.from, until: times.to };
      const given = Object.fromEntries(Object.entries(choice).filter(([, value]) => value));
      const answer = await app.api.post("/api/replay", { ...given, reasons: ticked(), ...(ticket && { ticket }) });
      const all = summed(answer);
      clear(result, summary(answer, all), answer.ticket && confirmation(all, () => run(answer.ticket)));
      app.announce(answer.dryRun ? "The dry run has ended." : "The replay has ended.");
    } catch (error) {
      clear(result, app.problem(error, () => run(null)));
    } finally {
      done();
      dryRun.disabled = ticked().length === 0;
    }
  }

  clear(root, el("h2", { text: "Replay", attrs: { id: "replay-title" } }),
    el("p", { class: "muted", text: `Sends the dead letters of the ticked reasons to their input again, each once${words(filter)}. Correct the cause first. A dry run comes before the replay.` }),
    others.length > 0 && el("p", { class: "muted", text: `A replay chooses by reason and time. These filters are not used: ${namesOf(others)}.` }),
    reasons,
    el("p", { class: "toolbar" }, el("label", { class: "label", text: "Input topic", attrs: { for: "replay-topic" } }), topic, dryRun), result);
  load();
  return () => stop.abort();
}

/** A time of a filter as the server reads it: a span such as 24h, or ISO 8601. */
function time(value) {
  return /^\d{1,14}$/.test(value ?? "") ? new Date(Number(value)).toISOString() : value;
}

/** The times of the choice in words. */
function words(filter) {
  const text = (value) => (/^\d{5,14}$/.test(value) ? dateTime(Number(value)) : shown(value, 40));
  return (filter.from ? `, from ${text(filter.from)} on` : "") + (filter.to ? `, until ${text(filter.to)}` : "");
}

/** The reasons as a table. Those of the filter are ticked, or those of which a part would be decided now. */
function reasonTable(rows, filter, changed) {
  const body = rows.map((row) => {
    const isTicked = filter.reason == null ? row.checked === 0 || row.fails < row.checked : row.reason === filter.reason;
    const box = el("input", { attrs: { type: "checkbox", value: row.reason, checked: isTicked, "aria-label": `Replay ${shown(row.reason, 64)}` } });
    box.addEventListener("change", changed);
    return el("tr", {}, el("td", {}, box),
      el("td", {}, outside(row.reason, { limit: 64 }), el("span", { class: "muted", text: ` ${reasonText(row.reason)}` })),
      el("td", { class: "num", text: row.total.toLocaleString("en-US") }), el("td", {}, again(row)));
  });
  return el("div", { class: "figures" }, el("table", { class: "table replay-reasons" },
    el("thead", {}, el("tr", {}, ["Replay", "Reason", "Dead letters", "With the tables of this console"].map((text, index) =>
      el("th", { class: index === 2 ? "num" : "", text, attrs: { scope: "col" } })))), el("tbody", {}, body)));
}

/** What would become of the dead letters of a reason that were looked at. */
function again({ total, checked, fails, cause }) {
  const sample = checked < total ? ` of the newest ${checked.toLocaleString("en-US")}` : "";
  if (checked === 0) return el("span", { class: "muted", text: "they cannot be read now" });
  if (fails === 0) return el("span", { text: sample ? `none${sample} would fail again` : "none would fail again" });
  const why = cause && [": ", outside(cause, { limit: 64 })];
  const number = fails === checked ? "all" : fails.toLocaleString("en-US");
  return el("b", {}, `${number}${sample} would fail again`, why);
}

/** The sums of the summaries of all reasons. */
function summed({ results }) {
  const all = results.map(({ summary }) => summary).filter(Boolean);
  const sum = (pick) => all.reduce((total, summary) => total + (pick(summary) ?? 0), 0);
  const isChecked = all.every((summary) => summary.order?.later != null);
  return {
    isComplete: all.length === results.length, topic: all[0]?.topic, chosen: sum((one) => one.chosen),
    toReplay: sum((one) => one.to_replay), replayed: sum((one) => one.replayed), toPark: sum((one) => one.to_park),
    parked: sum((one) => one.parked), before: sum((one) => one.already_replayed),
    later: isChecked ? sum((one) => one.order.later) : null,
  };
}

/** The summary of the command, and its messages. */
function summary({ dryRun, results }, all) {
  const facts = all.topic == null ? [] : [
    ["Topic", outside(all.topic)], ["Chosen", count(all.chosen, "dead letter")],
    [dryRun ? "To replay" : "Replayed", String(dryRun ? all.toReplay : all.replayed)],
    [dryRun ? "To park" : "Parked", String(dryRun ? all.toPark : all.parked)],
    ["Replayed before", String(all.before)],
    ["Devices with later decisions", all.later == null ? "not checked" : String(all.later)],
  ];
  const isEnded = results.some(({ code }) => code == null);
  const lines = results.flatMap(({ reason, messages }) => messages.map((line) => [reason, line]));
  return [
    el("dl", { class: "facts" }, facts.map(([name, value]) => [el("dt", { text: name }), el("dd", {}, value)])),
    isEnded && el("p", { text: "The replay was ended after 50 s. Nothing is lost: a new dry run and replay continue it." }),
    lines.length > 0 && el("ul", { class: "errors" }, lines.slice(0, 20).map(([reason, line]) =>
      el("li", {}, results.length > 1 && el("span", { class: "muted" }, outside(reason, { limit: 64 }), ": "), outside(line, { limit: 600 })))),
  ];
}

/** The question after a dry run. */
function confirmation(all, replay) {
  const number = all.toReplay + all.toPark;
  if (number === 0) return el("p", { text: "There is nothing to replay." });
  return el("p", { class: "toolbar" }, button(`Replay ${count(number, "dead letter")}`, { class: "button primary", click: replay }));
}
