// Phones that show what a decision opens.

import { el } from "./dom.js";

/** Draws the phones of a decision's JSON. Replaced by the drawn ones in the next commit. */
export function drawPhones(decision, options = {}) {
  return el("p", { class: "muted", text: decision.path ?? decision.url ?? decision.reason ?? "" });
}
