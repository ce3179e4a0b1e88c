// The address's fragment: `#/VIEW?name=value&…`. It holds the whole question, so an address can be sent.

/** Size limit of a fragment, in bytes. A longer question stays on the page only. */
export const FRAGMENT_LIMIT = 8192;

/** Query parameters of an object or URLSearchParams. Null, false, and empty values are left out; lists repeat. */
export function query(params) {
  if (params instanceof URLSearchParams) return params;
  const result = new URLSearchParams();
  for (const [name, value] of Object.entries(params ?? {})) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item != null && item !== "" && item !== false) result.append(name, item === true ? "1" : String(item));
    }
  }
  return result;
}

/** The fragment of a view with parameters, beginning with `#/`. */
export function fragment(view, params) {
  const text = query(params).toString().replace(/\+/g, "%20");
  return "#/" + view + (text === "" ? "" : "?" + text);
}

/** The view and the parameters of a fragment. A fragment without a view is the first view. */
export function parse(hash, first) {
  const text = hash.replace(/^#\/?/, "");
  const mark = text.indexOf("?");
  const view = mark < 0 ? text : text.slice(0, mark);
  return { view: view === "" ? first : view, params: new URLSearchParams(mark < 0 ? "" : text.slice(mark + 1)) };
}
