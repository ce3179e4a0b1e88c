// Words for the codes of a decision and of a dead letter, as people read them. The page has no others.

/** Outcomes, as the beginning of a sentence. */
export const OUTCOMES = {
  __proto__: null, navigate: "Opens a screen", external: "Opens outside", deferred: "Waits", none: "Opens nothing",
  reject: "Rejected",
};

/** The tone of a decision: its outcome, or "fallback" if a fallback rule opened something after a failure. */
export function toneOf({ outcome, reason }) {
  return reason != null && (outcome === "navigate" || outcome === "external") ? "fallback" : outcome;
}

/** Reasons of a failure, of nothing to do, and of a dead letter, as a clause. */
export const REASONS = {
  __proto__: null,
  budget: "the link or the stack is larger than a limit",
  bad_encoding: "the link is not encoded correctly",
  scheme: "the table does not list the link's scheme",
  host: "the table does not list the link's host",
  empty_segment: "the path has an empty segment",
  dot_segment: "the path has a segment of dots",
  no_route: "no route matches the link",
  redirect_limit: "the redirects do not end",
  excluded: "the route is excluded",
  external_refused: "the table does not allow this URL outside the app",
  unknown_screen: "the link names a screen that does not exist",
  unsupported: "this device does not have the screen",
  param_invalid: "a parameter has a wrong value",
  param_missing: "a parameter is missing",
  presentation: "the screen cannot be presented there",
  no_link: "the message contains neither a link nor a route",
  internal: "an internal error occurred",
  expired: "the event has expired",
  open_app: "the button only opens the app",
  needs_resolution: "the link is a short link, which only its platform can resolve",
  no_device: "the registry knows no device of the user",
  // Dead letters
  null_value: "the record has no value",
  empty_value: "the record's value is empty",
  oversize_input: "the record is larger than the limit",
  not_utf8: "the record is not UTF-8 text",
  bad_json: "the record is neither a readable event nor a link",
  schema_unsupported: "the record has a format that is not read",
  encoding_unsupported: "the record is compressed",
  ambiguous_event: "the event has two requests, or states its device twice",
  missing_link: "the event does not state what to open",
  missing_device: "the event has no device, and its record has no key",
  bad_device: "a device has no valid id",
  too_many_devices: "the event has too many devices",
  too_many_values: "the payload has too many values to read all of it",
  application_unknown: "no table, or more than one, takes the event",
  batch_unsupported: "the record has several messages",
  untargetable: "the message goes to an audience, not to a device",
  crash_loop: "resolving the record ended the worker three times",
  oversize_output: "a decision is larger than a limit",
  refused_output: "the broker refuses the decisions",
};

/** Ways a screen is presented, as a caption. */
export const PRESENTATIONS = { __proto__: null, push: "pushed", sheet: "sheet", cover: "cover", alert: "alert" };

/** Platforms with their usual names. */
export const PLATFORMS = {
  __proto__: null, ios: "iOS", ipados: "iPadOS", macos: "macOS", android: "Android", web: "Web", windows: "Windows",
  watchos: "watchOS", tvos: "tvOS", visionos: "visionOS",
};

/** The clause of a reason. An unknown reason is its code. */
export function reasonText(reason) {
  return REASONS[reason] ?? String(reason ?? "unknown").replace(/_/g, " ");
}

/** The clause of a value of a property, or nothing if the value says enough. */
export function clauseOf(property, value) {
  return property === "reason" ? REASONS[value] ?? "" : "";
}

/** The detail of a decision for people, who count from 1: `segment 0` is the 1st segment. */
export function detailText(detail) {
  const index = /^segment (\d{1,4})$/.exec(detail)?.[1];
  return index == null ? detail : `${ordinal(Number(index) + 1)} segment`;
}

/** A number with its ending: "1st", "2nd", "11th". */
function ordinal(number) {
  const ending = number % 100 >= 11 && number % 100 <= 13 ? "th" : ["th", "st", "nd", "rd"][number % 10] ?? "th";
  return number + ending;
}

/** The name of a platform. */
export function platformName(platform) {
  return PLATFORMS[String(platform).toLowerCase()] ?? platform;
}

/** A time in seconds, such as "15 minutes". */
export function ttlText(seconds) {
  const units = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
  const [unit, size] = units.find(([, size]) => seconds >= size && seconds % size === 0) ?? units[3];
  const number = seconds / size;
  return `${number.toLocaleString("en-US")} ${unit}${number === 1 ? "" : "s"}`;
}
