// New decisions as they arrive, and the line of their rate.

import { failure } from "./api.js";
import { clear, el, svg } from "./dom.js";

/** Silence after which a stream counts as broken, in milliseconds. The server sends a rate each second. */
const SILENCE = 6000;
/** Shown before the first rate. */
const NO_RATE = "–";
/** Seconds that the rate line shows. */
const SECONDS = 120;

/**
 * Listens to new rows. A hidden tab closes its stream, and a visible one continues after the last event.
 * `on.rows(rows, dropped)`, `on.rate(rate)`, `on.state(isOpen, refusal)`, where `refusal` is the ApiError of a server that
 * answers without a stream. `after` is where it begins, or null for now. Call the
 * result to stop.
 */
export function follow(params, after, on) {
  let source = null;
  let last = after;
  const open = () => {
    if (source || document.hidden) return;
    const query = new URLSearchParams(params);
    if (last) query.set("after", last);
    source = new EventSource(`/api/decisions/live?${query}`);
    alive();
    source.addEventListener("rows", (event) => {
      alive();
      last = event.lastEventId || last;
      const { rows, dropped } = JSON.parse(event.data);
      on.state(true);
      if (rows.length > 0 || dropped > 0) on.rows(rows, dropped);
    });
    source.addEventListener("rate", (event) => {
      alive();
      on.rate(JSON.parse(event.data));
    });
    source.addEventListener("error", () => {
      // A browser does not try again after an answer that is no stream.
      if (source?.readyState !== EventSource.CLOSED) return on.state(false);
      const { url } = source;
      close();
      timer = setTimeout(open, 5000);
      refusalOf(url).then((refusal) => { if (!source && refusal !== undefined) on.state(false, refusal); });
    });
  };
  let timer = 0;
  let watch = 0;
  const alive = () => {
    clearTimeout(watch);
    watch = setTimeout(() => on.state(false), SILENCE);
  };
  const close = () => {
    clearTimeout(timer);
    clearTimeout(watch);
    source?.close();
    source = null;
  };
  const seen = () => (document.hidden ? close() : open());
  document.addEventListener("visibilitychange", seen);
  window.addEventListener("pagehide", close);
  open();
  return () => {
    document.removeEventListener("visibilitychange", seen);
    window.removeEventListener("pagehide", close);
    close();
  };
}

/** The error with which the server refuses a stream, which a browser does not tell. Null without an answer, undefined if
 * the server would not refuse it now. */
async function refusalOf(url) {
  const own = new AbortController();
  try {
    const response = await fetch(url, { credentials: "same-origin", cache: "no-store", signal: own.signal });
    return response.ok ? undefined : failure(response.status, await response.json().catch(() => null));
  } catch {
    return null;
  } finally {
    own.abort();
  }
}

/** True for rows that are not among the records before a vector of offsets. Without a vector, all rows are new. */
export function isNew(vector) {
  const next = new Map((vector ?? "").split(",").filter(Boolean).map((part) => part.split(":")));
  return ({ cursor, offset }) => offset >= Number(next.get(cursor.split(".").slice(1, 3).join(".")) ?? 0);
}

/** A line of the rate of the last two minutes. `add(rate)` adds a second, `reset()` begins again. */
export function rateLine() {
  const line = svg("polyline", { class: "rate-line", points: "" });
  const area = svg("polygon", { class: "rate-area", points: "" });
  const picture = svg("svg", { class: "rate", viewBox: `0 0 ${SECONDS} 24`, preserveAspectRatio: "none", "aria-hidden": "true" }, area, line);
  const text = el("span", { class: "num", text: NO_RATE });
  const node = el("div", { class: "rate-box", title: `Matching decisions a second, for ${SECONDS} seconds` }, picture, text);
  const values = [];
  let hasBegun = false;
  return {
    node,
    lost(words = "no connection") {
      hasBegun = false;
      clear(text, words);
    },
    reset() {
      hasBegun = false;
      values.length = 0;
      line.setAttribute("points", "");
      area.setAttribute("points", "");
      clear(text, NO_RATE);
    },
    add(rate) {
      // The first rate of a stream is of no time, so it says nothing.
      if (!hasBegun) {
        hasBegun = true;
        return void clear(text, NO_RATE);
      }
      values.push(rate);
      if (values.length > SECONDS) values.shift();
      const most = Math.max(1, ...values);
      const points = values.map((value, index) => `${SECONDS - values.length + index + 1},${(23 - (22 * value) / most).toFixed(1)}`);
      line.setAttribute("points", points.join(" "));
      area.setAttribute("points", points.length > 0 ? `${SECONDS - values.length + 1},24 ${points.join(" ")} ${SECONDS},24` : "");
      clear(text, `${rate >= 10 ? Math.round(rate).toLocaleString("en-US") : rate.toFixed(1)} a second`);
    },
  };
}
