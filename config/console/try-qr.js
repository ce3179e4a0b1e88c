// The QR code of the tried link, which is drawn when it is asked for.

import { ApiError, isAborted } from "./api.js";
import { clear, el, icon, shown, svg } from "./dom.js";

/** The largest link that a code holds, in bytes. */
const MAX_BYTES = 2953;

/** Draws a fold with the code of a link into `root`. An open fold stays open, and has the code of the newest link. */
export function drawCode(root, api, text) {
  const isOpen = root.querySelector("details")?.open === true;
  const image = el("div", { class: "qr" });
  const fold = el("details", { class: "fold", attrs: { open: isOpen } },
    el("summary", {}, icon("next"), "QR code"), image);
  fold.addEventListener("toggle", () => fold.open && !image.hasChildNodes() && fetchCode(image, api, text));
  clear(root, fold);
}

/** Asks for a code and draws it. The answer for a link that is gone is dropped with its node. */
async function fetchCode(image, api, text) {
  try {
    if (new TextEncoder().encode(text).length > MAX_BYTES) {
      throw new ApiError("text", `The link has more than ${MAX_BYTES} bytes.`, "A QR code holds no more.");
    }
    const { size, path } = await api.post("/api/qr", { text });
    clear(image, svg("svg", { viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": "QR code of the link",
      "shape-rendering": "crispEdges" }, svg("rect", { width: size, height: size, fill: "#fff" }),
    svg("path", { d: path, fill: "#000" })));
  } catch (error) {
    if (!isAborted(error)) clear(image, el("p", { class: "label" }, shown(error.message)));
  }
}
