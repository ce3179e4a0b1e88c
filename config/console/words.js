// Words for the codes of a decision, as people read them.

/** Outcomes, as the beginning of a sentence. */
export const OUTCOMES = {
  __proto__: null, navigate: "Opens a screen", external: "Opens outside", deferred: "Waits", none: "Opens nothing", reject: "Rejected",
};

/** Reasons of a failure, or of nothing to do, as a clause. */
export const REASONS = {
  __proto__: null, budget: "a limit on the link or the stack is exceeded",
  bad_encoding: "the link has forbidden bytes, or a malformed escape",
  scheme: "the scheme is not in the table",
  host: "the host is not in the table",
  empty_segment: "the path has an empty segment",
  dot_segment: "the path has a segment `.` or `..`",
  no_route: "no route matches",
  redirect_limit: "a route redirects for the second time",
  excluded: "the route is excluded",
  external_refused: "the link may not open outside the app",
  unknown_screen: "the path names no screen",
  unsupported: "the app has no such screen in this version",
  param_invalid: "a value does not fit its field",
  param_missing: "a required value is missing",
  presentation: "the screens cannot be presented in this order",
  no_link: "there is no link",
  internal: "the table could not decide",
  expired: "the event has expired",
  open_app: "the message only opens the app",
  needs_resolution: "a short link, whose destination only its platform knows",
};

/** Ways a screen is presented, as a caption. */
export const PRESENTATIONS = { __proto__: null, push: "pushed", sheet: "sheet", cover: "cover", alert: "alert" };

/** Platforms with their usual names. */
export const PLATFORMS = {
  __proto__: null, ios: "iOS", ipados: "iPadOS", macos: "macOS", android: "Android", web: "Web", windows: "Windows", watchos: "watchOS",
  tvos: "tvOS", visionos: "visionOS",
};

/** The clause of a reason. An unknown reason is its code. */
export function reasonText(reason) {
  return REASONS[reason] ?? String(reason).replace(/_/g, " ");
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
