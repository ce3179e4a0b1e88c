// The matrix: app versions that matter, across platforms. Each cell is the outcome.

import { clear, count, el, icon, outside, shown } from "./dom.js";
import { topScreen } from "./phones.js";
import { sentenceText } from "./try-answer.js";
import { compareVersions } from "./try-question.js";
import { detailText, platformName, reasonText, toneOf } from "./words.js";

/** Draws the matrix into `root`. `choose(platform, version)` is called by a click or Enter. */
export function drawMatrix(root, matrix, device, choose) {
  const { platforms, versions, results, cells, devices } = matrix;
  const order = versions.map((_, index) => index).reverse();
  const current = position(matrix, device);
  const words = wordsOf(results);
  const grid = el("table", { class: "matrix", attrs: { role: "grid",
    "aria-label": "Result by app version and platform" } },
    el("thead", {}, el("tr", {}, el("td", { class: "label", text: "App" }), platforms.map((name) =>
      el("th", { text: shown(platformName(name)), attrs: { scope: "col" } })))),
    el("tbody", {}, order.map((v) => el("tr", {}, el("th", { attrs: { scope: "row" } }, outside(versions[v].label)),
      platforms.map((platform, p) => cell(results[cells[p][v]], words[cells[p][v]],
        p === current.platform && v === current.version,
        () => choose(platform, versions.length > 1 ? versions[v].version : null),
        `${platformName(platform)}, app ${versions[v].label}`, devices?.[p][v]))))));
  const kinds = new Set(results.map(({ sentence }) => sentenceText(sentence))).size;
  clear(root, grid, el("p", { class: "label", text: summary(kinds, matrix) }));
  moveByArrows(grid, current.platform >= 0 && current.version >= 0);
}

/** How many results there are. */
function summary(kinds, { versions, truncated, others }) {
  const more = (truncated ? " The table tells more versions apart." : "")
    + (others > 0 ? ` ${count(others, "more device")} of other platforms, or without a known version.` : "");
  if (kinds > 1) return `${count(kinds, "different result")}.${more}`;
  return (versions.length > 1 ? "The same on every platform and version." : "The same on every platform.") + more;
}

/** A few words for each result, and a second line for those whose words another result has too. */
function wordsOf(results) {
  const list = results.map(({ decision, sentence }) => ({
    words: decision ? topScreen(decision) : "Not readable", sentence: sentenceText(sentence),
  }));
  return list.map(({ words, sentence }, index) => {
    const isShared = list.some((other) => other.words === words && other.sentence !== sentence);
    return { words, sentence, more: isShared ? difference(results[index], words) : "" };
  });
}

/** What tells a result from others with the same words: its reason, or the rest of its sentence. */
function difference({ decision, sentence }, words) {
  if (decision?.reason) {
    return reasonText(decision.reason) + (decision.detail ? ` (${detailText(decision.detail)})` : "");
  }
  const text = sentence.map((part) => part.text).join("");
  return text.slice(text.indexOf(words) < 0 ? 0 : text.indexOf(words) + words.length).trim();
}

/** The cell of a device: -1 for what it does not state. */
function position({ platforms, versions }, device) {
  let version = device.app === "" && versions.length > 1 ? -1 : 0;
  if (version === 0) versions.forEach((item, index) => { if (item.from
    && compareVersions(item.from, device.app) <= 0) version = index; });
  return { platform: platforms.indexOf(device.platform), version };
}

/** One cell. `devices` is the number of devices of a census, or undefined. */
function cell(result, { words, sentence, more }, isCurrent, choose, where, devices) {
  const number = devices === undefined ? "" : count(devices, "device");
  const name = `${where}: ${sentence}${isCurrent ? " This device." : ""}${number && ` ${number}.`}`;
  return el("td", { attrs: { role: "gridcell", "aria-selected": String(isCurrent) } },
    el("button", {
      class: "cell", data: { outcome: result.decision ? result.outcome : "reject", tone: result.decision && toneOf(result.decision) }, title: shown(sentence),
        on: { click: choose },
      attrs: { type: "button", tabindex: "-1", "aria-label": shown(name) },
    }, icon(result.decision ? toneOf(result.decision) : "warning"), el("span", { class: "cell-text" },
      el("bdi", {}, breakable(shown(words, 60))), more !== "" && el("small", {}, outside(more, { limit: 80 })),
      number !== "" && el("small", { text: number }))));
}

/** A text that may break after its periods, as hosts do. */
function breakable(text) {
  return text.split(/(?<=\.)/).map((piece, index) => (index > 0 ? [el("wbr"), piece] : piece));
}

/** Arrow keys move in the grid; one cell is in the tab order. */
function moveByArrows(grid, hasCurrent) {
  const rows = [...grid.tBodies[0].rows].map((row) => [...row.querySelectorAll(".cell")]);
  const start = hasCurrent ? grid.querySelector("[aria-selected='true'] .cell") : rows[0]?.[0];
  start?.setAttribute("tabindex", "0");
  grid.addEventListener("keydown", (event) => {
    const y = rows.findIndex((row) => row.includes(event.target));
    if (y < 0) return;
    const x = rows[y].indexOf(event.target);
    const moves = { ArrowUp: [y - 1, x], ArrowDown: [y + 1, x], ArrowLeft: [y, x - 1], ArrowRight: [y, x + 1],
      Home: [y, 0], End: [y, rows[y].length - 1] };
    const to = moves[event.key];
    if (!to) return;
    event.preventDefault();
    const next = rows[to[0]]?.[to[1]];
    if (!next) return;
    event.target.setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    next.focus();
  });
}
