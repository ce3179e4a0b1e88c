// The view "Try a link".

import { el } from "./dom.js";

/** The first view. */
export const view = {
  title: "Try a link",
  mount(root) {
    root.append(el("h1", { class: "display", text: "Try a link" }));
    return {};
  },
};
