// The device's facts as small controls.

import { clear, el, icon, shown } from "./dom.js";
import { TEXT_FACTS } from "./try-question.js";
import { platformName } from "./words.js";

const PLATFORM_CHOICES = ["ios", "android", "web"];
const NAMES = { app: "App version", os: "OS version", locale: "Locale", region: "Region" };
const SHAPES = { app: "6.1.0", os: "18.2", locale: "en-GB", region: "GB" };

/** Draws the controls into `root`. `changed(device)` is called with the new facts. */
export function drawFacts(root, device, facts, changed) {
  const set = (name, value) => changed({ ...device, [name]: value });
  const rare = TEXT_FACTS.filter((name) => !["platform", "app"].includes(name) && !isUsed(name, device, facts));
  const usual = TEXT_FACTS.filter((name) => name !== "platform" && !rare.includes(name));
  clear(root,
    platformControl(device, facts, (value) => set("platform", value)),
    usual.map((name) => textControl(name, device[name], choices(name, facts), (value) => set(name, value))),
    toggles("Claims", "claims", device, facts.claims, set),
    toggles("Capabilities", "capabilities", device, facts.capabilities, set),
    Object.entries(facts.attributes).map(([name, values]) =>
      textControl(name, device.attributes[name] ?? "", values, (value) =>
        changed({ ...device, attributes: { ...device.attributes, [name]: value } }))),
    rare.length > 0 && el("details", { class: "more-facts" },
      el("summary", { class: "button quiet" }, icon("more"), "More"),
      el("div", { class: "facts-more" }, rare.map((name) => textControl(name, device[name], choices(name, facts),
        (value) => set(name, value))))));
}

/** True if a fact is stated, or if the tables' conditions use it. */
function isUsed(name, device, facts) {
  return device[name] !== "" || choices(name, facts).length > 0;
}

/** The values of a fact that the tables tell apart. */
function choices(name, facts) {
  return { app: facts.versions, locale: facts.locales, region: facts.regions }[name] ?? [];
}

/** The platform as a segmented control. */
function platformControl(device, facts, set) {
  const known = [...new Set([...PLATFORM_CHOICES, ...facts.platforms, device.platform])].filter((name) => name !== "");
  return el("fieldset", { class: "segmented" }, el("legend", { class: "visually-hidden", text: "Platform" }),
    [...known, ""].map((name) => {
      const input = el("input", { attrs: { type: "radio", name: "platform", value: name,
        checked: name === device.platform } });
      input.addEventListener("change", () => set(name));
      return el("label", {}, input, el("span", { text: name === "" ? "Not stated" : shown(platformName(name)) }));
    }));
}

/** A fact as text, with the values that matter as suggestions. */
function textControl(name, value, values, set) {
  const id = "fact-" + name.replace(/[^a-z0-9]/gi, "-");
  const input = el("input", { class: "field", attrs: {
    id, type: "text", value, size: 9, maxlength: 256, placeholder: SHAPES[name] ?? "not stated", autocomplete: "off",
    spellcheck: "false", autocapitalize: "off", list: values.length > 0 ? id + "-list" : null,
  } });
  input.addEventListener("input", () => set(input.value.trim()));
  return el("div", { class: "fact" }, el("label", { class: "label", text: NAMES[name] ?? shown(name),
    attrs: { for: id } }), input,
    values.length > 0 && el("datalist", { attrs: { id: id + "-list" } },
      values.map((item) => el("option", { attrs: { value: item } }))));
}

/** A list of facts as switches. */
function toggles(label, list, device, known, set) {
  const names = [...new Set([...known, ...device[list]])];
  if (names.length === 0) return null;
  return el("div", { class: "fact", attrs: { role: "group", "aria-label": label } },
    el("span", { class: "label", text: label }),
    names.map((name) => {
      const on = device[list].includes(name);
      const node = el("button", { class: "chip toggle", attrs: { type: "button", "aria-pressed": String(on) } },
        on ? icon("check") : null, el("bdi", { text: shown(name) }));
      node.addEventListener("click", () => {
        set(list, on ? device[list].filter((item) => item !== name) : [...device[list], name]);
        document.querySelectorAll(`[aria-label="${label}"] .toggle`)[names.indexOf(name)]?.focus();
      });
      return node;
    }));
}
