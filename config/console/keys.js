// Keys of the page. A view binds keys while it is mounted; `?` shows all that are bound.

import { button, clear, el } from "./dom.js";

const bound = new Map();
const SETTING = "linkd.keys";

/** True if single keys are on. People who speak to their computer turn them off. */
function isOn() {
  try {
    return localStorage.getItem(SETTING) !== "off";
  } catch {
    return true;
  }
}

/**
 * Binds a key: `key` as in KeyboardEvent.key, also several with spaces ("j ArrowDown"). `fn` returns false to let the
 * key through. Keys do nothing while a text is edited, except Escape. The last binding has precedence.
 * Returns a function that unbinds it.
 */
function bind(key, label, fn) {
  const entry = { key, label, fn };
  for (const name of key.split(" ")) bound.set(name, [entry, ...(bound.get(name) ?? [])]);
  return () => {
    for (const name of key.split(" ")) bound.set(name, (bound.get(name) ?? []).filter((other) => other !== entry));
  };
}

/** Names a key that works only inside of a control, so that `?` shows it. Returns a function that removes it. */
function describe(key, label) {
  return bind(key, label, () => false);
}

/** True if the event's target takes text. */
function isEditing(target) {
  return target.matches?.("input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]") ?? false;
}

/** Calls the binding of a pressed key. */
function pressed(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (document.querySelector("dialog[open]")) return;
  if (event.key !== "Escape" && (isEditing(event.target) || !isOn())) return;
  for (const entry of bound.get(event.key) ?? []) {
    if (entry.fn(event) === false) continue;
    event.preventDefault();
    return;
  }
}

const NAMES = {
  ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→", Escape: "Esc", " ": "Space", PageUp: "Page Up",
  PageDown: "Page Down",
};

/** Shows the dialog of all keys. */
function show() {
  let dialog = document.getElementById("keys");
  if (!dialog) {
    dialog = el("dialog", { class: "keys", attrs: { id: "keys", "aria-labelledby": "keys-title" } });
    dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
    document.body.append(dialog);
  }
  const rows = [...new Set([...bound.values()].flat())];
  const box = el("input", { attrs: { type: "checkbox", checked: isOn() } });
  box.addEventListener("change", () => {
    try { localStorage.setItem(SETTING, box.checked ? "on" : "off"); } catch { /* The setting lasts for this page. */ }
  });
  clear(dialog,
    el("h2", { text: "Keys", attrs: { id: "keys-title" } }),
    el("dl", {}, rows.map((row) => el("div", {}, el("dt", {}, caps(row.key)), el("dd", { text: row.label })))),
    el("footer", {}, el("label", { class: "check" }, box, "Single keys are on"),
      button("Close", { class: "button primary", click: () => dialog.close() })));
  dialog.showModal();
}

/** The caps of a binding's keys. */
function caps(key) {
  return key.split(" ").filter((name) => name !== "").map((name) => el("kbd", { text: NAMES[name] ?? name }));
}

/** Starts to listen, and binds `?`. */
function start() {
  document.addEventListener("keydown", pressed);
  bind("?", "Show the keys", show);
}

/** The registry, for views: `bind(key, label, fn)`, `describe(key, label)`. */
export const keys = { bind, describe, show, start };
