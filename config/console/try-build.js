// The link builder at the start of "Try a link": a screen and its data become the link that opens it.

import { isAborted, parseJSON } from "./api.js";
import { button, clear, el, icon, shown } from "./dom.js";

/** Creates the builder, which asks for the screens when it is opened. `opened(link)` is called with the link. */
export function builder(app, table, device, opened) {
  const body = el("div", { class: "fold-body" });
  const fold = el("details", { class: "fold" },
    el("summary", {}, icon("next"), "Write the link of a screen"), body);
  fold.addEventListener("toggle", () => fold.open && !body.hasChildNodes() && draw(body, app, table, device, opened));
  return fold;
}

/** Draws the form with the screens of a table. */
async function draw(body, app, table, device, opened) {
  const problem = el("p", { class: "label", attrs: { role: "status" } });
  const say = (error) => {
    if (!isAborted(error)) clear(problem, shown([error.message, error.next].filter(Boolean).join(" ")));
  };
  body.append(problem);
  let map;
  try {
    map = await app.api.get("/api/map", { table });
  } catch (error) {
    say(error);
    return;
  }
  const screens = map.coordinators.flatMap((lane) => lane.screens.map((screen) =>
    ({ name: `${lane.name}/${screen.name}`, needs: screen.needs ?? [] })));
  const select = el("select", { attrs: { "aria-label": "Screen" } }, screens.map(({ name }) =>
    el("option", { text: shown(name), attrs: { value: name } })));
  const data = el("input", { attrs: { "aria-label": "Data of the screen, as JSON", spellcheck: "false",
    autocomplete: "off" } });
  const needed = () => {
    const models = screens.find(({ name }) => name === select.value)?.needs ?? [];
    data.value = JSON.stringify(Object.fromEntries(models.map((model) => [model, {}])));
  };
  select.addEventListener("change", needed);
  needed();
  const form = el("form", { class: "toolbar" }, select, data, button("Write", { attrs: { type: "submit" } }));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    clear(problem);
    try {
      const question = { table, screen: select.value, data: parseJSON(data.value), device: device() };
      opened((await app.api.post("/api/link", question)).link);
    } catch (error) {
      say(error);
    }
  });
  body.prepend(form);
}
