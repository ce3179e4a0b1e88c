// The members of a decision that was read from a record. Anybody can write a record, so nothing is sure about them.

const TEXTS = ["event", "device", "user", "table", "route", "outcome", "mode", "path", "url", "reason", "detail", "guard",
  "notice", "decision", "supersedes"];

/**
 * The decision with those members that have their types, and `wrong`, the names of the others. What a view draws is
 * taken from it; the record's own JSON is shown beside it.
 */
export function decisionOf(value) {
  const wrong = [];
  if (!isObject(value)) return { wrong: ["decision"] };
  const decision = { ...value };
  const check = (name, isRight) => {
    if (decision[name] == null || isRight(decision[name])) return;
    wrong.push(name);
    delete decision[name];
  };
  for (const name of TEXTS) check(name, isText);
  for (const name of ["via", "notes"]) check(name, (list) => Array.isArray(list) && list.every(isText));
  check("context", (context) => isObject(context) && [context.push, context.query].every((part) => part == null || isObject(part)));
  check("facts", isObject);
  check("resume", isObject);
  check("stack", (stack) => Array.isArray(stack) && stack.every(isEntry));
  const needsStack = decision.outcome === "navigate" || decision.outcome === "deferred";
  if (needsStack && decision.stack == null && !wrong.includes("stack")) wrong.push("stack");
  if (decision.resume) decision.resume = resumeOf(decision.resume, wrong);
  const push = decision.context?.push;
  if (push && push.campaign != null && !isText(push.campaign)) {
    wrong.push("context.push.campaign");
    decision.context = { ...decision.context, push: { ...push, campaign: null } };
  }
  const query = decision.context?.query;
  if (query && !Object.values(query).every(isText)) {
    wrong.push("context.query");
    decision.context = { ...decision.context, query: null };
  }
  return { ...decision, wrong };
}

/** True for an entry of a stack that can be drawn. */
function isEntry(entry) {
  return isObject(entry) && isText(entry.coordinator) && isText(entry.screen)
    && (entry.view == null || isText(entry.view)) && (entry.present == null || isText(entry.present))
    && (entry.data == null || (isObject(entry.data) && Object.values(entry.data).every(isObject)));
}

/** What waits, without members of wrong types. */
function resumeOf(resume, wrong) {
  const result = { ...resume };
  for (const name of ["claim", "link", "path", "route"]) {
    if (result[name] == null || isText(result[name])) continue;
    wrong.push(`resume.${name}`);
    delete result[name];
  }
  if (result.ttl != null && !Number.isFinite(result.ttl)) {
    wrong.push("resume.ttl");
    delete result.ttl;
  }
  return result;
}

function isText(value) {
  return typeof value === "string";
}

/** True for an object of JSON. A large integer is an object too, but has another prototype. */
function isObject(value) {
  return value !== null && typeof value === "object" && Object.getPrototypeOf(value) === Object.prototype;
}
