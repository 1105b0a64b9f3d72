// Reads and writes the address: which view, which query, which filters. Everything is in
// the fragment, which browsers send to no server.

export const LISTS = ["source", "tag", "kind", "project"];
export const DATES = ["after", "before"];
const VIEWS = ["timeline", "status"];

/// Returns a place without query and filters.
export function start(view = "search") {
  return { view, id: null, line: null, query: "", filters: noFilters() };
}

export function noFilters() {
  return { source: [], tag: [], kind: [], project: [], after: "", before: "" };
}

/// Returns the code of a sign-in link; null if a fragment is none.
export function codeIn(fragment) {
  const code = /^#code=([^&]+)/.exec(fragment)?.[1];
  return code ? decoded(code) : null;
}

/// Reads a fragment. What it does not understand it ignores.
export function parse(fragment) {
  const text = fragment.replace(/^#\/?/, "");
  const [path, search = ""] = split(text);
  const place = start();
  const [first, ...rest] = path.split("/");
  if (VIEWS.includes(first)) place.view = first;
  else if (first === "note" && rest.length > 0) {
    place.view = "note";
    place.id = decoded(rest.join("/"));
  }
  const parameters = new URLSearchParams(search);
  place.query = parameters.get("q") ?? "";
  for (const name of LISTS) place.filters[name] = [...new Set(parameters.getAll(name))];
  for (const name of DATES) place.filters[name] = parameters.get(name) ?? "";
  const line = Number.parseInt(parameters.get("line") ?? "", 10);
  if (place.view === "note" && line > 0) place.line = line;
  if (place.view === "note" && parameters.get("in") === "timeline") place.in = "timeline";
  if (place.query && parameters.has("exact")) place.exact = true;
  return place;
}

/// Writes a place as a fragment.
export function format(place) {
  const parameters = new URLSearchParams();
  if (place.line && place.view === "note") parameters.set("line", place.line);
  if (place.in && place.view === "note") parameters.set("in", place.in);
  if (place.query) parameters.set("q", place.query);
  if (place.query && place.exact) parameters.set("exact", "");
  for (const name of LISTS) {
    for (const value of place.filters[name]) parameters.append(name, value);
  }
  for (const name of DATES) {
    if (place.filters[name]) parameters.set(name, place.filters[name]);
  }
  const view = VIEWS.includes(place.view) ? place.view : "";
  const path = place.view === "note" ? `note/${encodeURIComponent(place.id)}` : view;
  const search = parameters.toString();
  return `#/${path}${search ? `?${search}` : ""}`;
}

/// Reports whether two places list the same: the same query and filters in the same list.
export function sameList(one, other) {
  const list = (place) => {
    const timeline = place.view === "timeline" || place.in === "timeline";
    return format({ ...place, view: timeline ? "timeline" : "search" });
  };
  return list(one) === list(other);
}

/// Reports whether any filter is set.
export function isFiltered(filters) {
  return LISTS.some((name) => filters[name].length > 0) || DATES.some((name) => filters[name]);
}

/// Returns filters as the body of a request has them.
export function requested(filters) {
  const body = {};
  for (const name of LISTS) {
    if (filters[name].length > 0) body[`${name}s`] = filters[name];
  }
  for (const name of DATES) {
    if (filters[name]) body[name] = filters[name];
  }
  return body;
}

/// Returns filters as the query of a path has them.
export function queried(filters) {
  const parameters = new URLSearchParams();
  for (const name of LISTS) {
    for (const value of filters[name]) parameters.append(name, value);
  }
  return parameters;
}

function split(text) {
  const at = text.indexOf("?");
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
