// Requests to the console's server. Every failure is an ApiError with a code, a message, and what to do next.

/** A request that failed: `code`, `message`, `next` (what to do, or null), `status` (0 without an answer). */
export class ApiError extends Error {
  constructor(code, message, next = null, status = 0) {
    super(message);
    this.name = "ApiError";
    this.code = code;
    this.next = next;
    this.status = status;
  }
}

/** True for the error of a request that the page itself gave up. */
export function isAborted(error) {
  return error?.name === "AbortError";
}

/** Time after which a request is given up, in milliseconds. */
const PATIENCE = 15_000;
/** Requests whose answers can take longer, up to the server's own limit. */
const LONG = new Set(["/api/compare", "/api/replay"]);

/** The JSON of a GET. `params` is an object or URLSearchParams. */
async function get(path, params, signal) {
  return send(path + text(params), { signal, headers: { Accept: "application/json" } });
}

/** The JSON of a POST with a JSON body. */
async function post(path, body, signal) {
  const headers = { Accept: "application/json", "Content-Type": "application/json", "X-Linkd-Console": "1" };
  return send(path, { method: "POST", signal, headers, body: JSON.stringify(body) });
}

/** The query of a request, with its question mark, or nothing. */
function text(params) {
  if (!params) return "";
  const query = params instanceof URLSearchParams ? params : new URLSearchParams();
  if (query !== params) {
    for (const [name, value] of Object.entries(params)) {
      for (const item of Array.isArray(value) ? value : [value]) if (item != null && item !== "") query.append(name,
        item);
    }
  }
  const result = query.toString();
  return result === "" ? "" : "?" + result;
}

/** Sends a request and reads its JSON. A request that the server does not answer in time is given up. */
async function send(url, { signal, ...options }) {
  const own = new AbortController();
  const stop = () => own.abort();
  const timer = LONG.has(url) ? 0 : setTimeout(stop, PATIENCE);
  if (signal?.aborted) stop();
  signal?.addEventListener("abort", stop);
  try {
    const response = await fetch(url, { credentials: "same-origin", cache: "no-store", redirect: "error",
      signal: own.signal, ...options });
    const body = await response.text().then(parseJSON).catch((error) => {
      if (isAborted(error)) throw error;
      return null;
    });
    if (response.ok && body !== null) return body;
    throw failure(response.status, body);
  } catch (error) {
    if (error instanceof ApiError || (isAborted(error) && signal?.aborted)) throw error;
    throw new ApiError("unreachable", "The console's server does not answer.",
      "Check that `linkd console` still runs.");
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  }
}

/** An integer beyond those that a number holds exactly. As text, and as JSON, it has all its digits. */
class Integer {
  #digits;

  constructor(digits) {
    this.#digits = digits;
  }

  [Symbol.toPrimitive](hint) {
    return hint === "number" ? Number(this.#digits) : this.#digits;
  }

  toJSON() {
    return JSON.rawJSON(this.#digits);
  }

  toString() {
    return this.#digits;
  }
}

/** The value of a JSON text. Large integers keep their digits where the browser can read and write them. */
export function parseJSON(text) {
  if (!JSON.rawJSON || !/\d{16}/.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_, value, { source }) =>
    typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? new Integer(source) : value);
}

/** The error of an answer that is none. */
export function failure(status, body) {
  const error = body?.error;
  if (error?.message) return new ApiError(error.code ?? "error", error.message, error.next ?? null, status);
  if (status === 401 || status === 403) {
    const next = "Open the address that `linkd console` printed when it started.";
    return new ApiError("token", "This page is not signed in.", next, status);
  }
  return new ApiError("answer", `The console's server answered with status ${status}.`, null, status);
}

/** The server's endpoints, for views. */
export const api = { get, post };
