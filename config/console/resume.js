// What a deferred request opens once the device has the claim that it waits for.

import { decisionOf } from "./decision-members.js";
import { sentFacts } from "./try-question.js";

/** The members of a request in `resume`. */
const REQUEST = ["link", "path", "mode", "route", "params", "payload", "payloadType", "action"];

/** True if a decision waits for a claim and has the request that is resolved then. */
export function isWaiting(decision) {
  return decision.outcome === "deferred" && typeof decision.resume?.claim === "string";
}

/** The decision, with its screens, of the request that waits, for the same device with the claim. Null if there is none. */
export async function destinationOf(api, given, device, table, signal) {
  const { resume } = decisionOf(given);
  const request = Object.fromEntries(REQUEST.filter((name) => resume[name] != null).map((name) => [name, resume[name]]));
  const claims = [...new Set([...(device.claims ?? []), resume.claim])];
  const facts = sentFacts({ ...device, claims });
  const body = { input: JSON.stringify(request), device: facts, ...(table ? { table } : {}) };
  const { decisions } = await api.post("/api/resolve", body, signal);
  return decisions[0] ?? null;
}
