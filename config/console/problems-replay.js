// The replay of dead letters: a dry run, its summary, and then the replay of the same dead letters.

import { button, clear, count, el, outside, shown } from "./dom.js";
import { dateTime, namesOf } from "./feed-filter.js";
import { reasonText } from "./words.js";

/** Filters of a list that a replay can choose by. */
const CHOICES = ["kind", "reason", "from", "to"];

/** Draws the panel into `root` for the dead letters of a filter. */
export function drawReplay(root, app, filter) {
  const topic = el("input", { class: "field", attrs: { id: "replay-topic", placeholder: "the setting input", maxlength: "249", spellcheck: "false" } });
  const result = el("div", { class: "section", attrs: { role: "status" } });
  const dryRun = button("Dry run", { class: "button", click: () => run(null) });
  const others = Object.keys(filter).filter((name) => !CHOICES.includes(name));

  async function run(ticket) {
    dryRun.disabled = true;
    const done = app.loading(clear(result), ticket ? "Replaying" : "Choosing dead letters");
    try {
      const answer = await app.api.post("/api/replay", { ...choice(filter, topic.value.trim()), ...(ticket && { ticket }) });
      clear(result, summary(answer), answer.ticket && confirmation(answer, () => run(answer.ticket)));
      app.announce(answer.dryRun ? "The dry run has ended." : "The replay has ended.");
    } catch (error) {
      clear(result, app.problem(error, () => run(null)));
    } finally {
      done();
      dryRun.disabled = false;
    }
  }

  clear(root, el("h2", { text: "Replay", attrs: { id: "replay-title" } }),
    el("p", { class: "muted", text: `Sends dead letters to their input again, each once: ${words(filter)}. Correct the cause first. A dry run comes before the replay.` }),
    others.length > 0 && el("p", { class: "muted", text: `A replay chooses by reason and time. These filters are not used: ${namesOf(others)}.` }),
    el("p", { class: "toolbar" }, el("label", { class: "label", text: "Input topic", attrs: { for: "replay-topic" } }), topic, dryRun), result);
}

/** The members of a request for the dead letters of a filter. */
function choice(filter, topic) {
  return Object.fromEntries(Object.entries({ topic, reason: filter.reason, since: time(filter.from), until: time(filter.to) })
    .filter(([, value]) => value));
}

/** A time of a filter as the server reads it: a span such as 24h, or ISO 8601. */
function time(value) {
  return /^\d{1,14}$/.test(value ?? "") ? new Date(Number(value)).toISOString() : value;
}

/** The choice in words. */
function words(filter) {
  const reason = filter.reason ? `those with the reason ${shown(filter.reason, 80)} (${reasonText(filter.reason)})` : "all";
  const text = (value) => (/^\d{5,14}$/.test(value) ? dateTime(Number(value)) : shown(value, 40));
  return reason + (filter.from ? `, from ${text(filter.from)} on` : "") + (filter.to ? `, until ${text(filter.to)}` : "");
}

/** The summary of the command, and its messages. */
function summary({ dryRun, code, summary, messages }) {
  const facts = summary == null ? [] : [
    ["Topic", outside(summary.topic)], ["Chosen", count(summary.chosen, "dead letter")],
    [dryRun ? "To replay" : "Replayed", String(dryRun ? summary.to_replay : summary.replayed)],
    [dryRun ? "To park" : "Parked", String(dryRun ? summary.to_park : summary.parked)],
    ["Replayed before", String(summary.already_replayed)],
    ["Devices with later decisions", summary.order?.later == null ? "not checked" : String(summary.order.later)],
  ];
  const failed = code == null ? "The replay was ended after 50 s. Nothing is lost: a new dry run and replay continue it." : null;
  return [
    el("dl", { class: "facts" }, facts.map(([name, value]) => [el("dt", { text: name }), el("dd", {}, value)])),
    failed && el("p", { text: failed }),
    messages.length > 0 && el("ul", { class: "errors" }, messages.slice(0, 20).map((line) => el("li", {}, outside(line, { limit: 600 })))),
  ];
}

/** The question after a dry run. */
function confirmation({ summary }, replay) {
  const all = summary.to_replay + summary.to_park;
  if (all === 0) return el("p", { text: "There is nothing to replay." });
  return el("p", { class: "toolbar" }, button(`Replay ${count(all, "dead letter")}`, { class: "button primary", click: replay }));
}
