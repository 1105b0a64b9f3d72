// The timeline: what was written and learned over time, with a strip of counts above.

import { api, isAborted } from "./api.js";
import { queried, requested } from "./address.js";
import { announce, byId, counted, h, put, sentence, show as showIf } from "./element.js";
import * as hits from "./hits.js";
import * as list from "./list.js";
import { change, go } from "./navigate.js";
import { plain } from "./plain.js";
import { stop as stopSearch } from "./search.js";
import { draw } from "./strip.js";
import { day } from "./when.js";

const LIMIT = 100;
const strip = byId("strip");
const nothing = byId("nothing");
const summary = byId("summary");
const missing = byId("missing");
const click = () => {
  const once = load;
  load = () => {};
  list.touch();
  once();
};
const earlier = h("button", { class: "plain", id: "earlier", type: "button", text: "Show earlier", on: { click } });
let load = () => {};
let running = new AbortController();
let unit = null;
let entries = [];
let hasMore = false;
let shown = null;
let turns = 0;

/// Shows or hides what only the timeline has.
export function toggle(open) {
  showIf(strip, open);
  if (open) return;
  running.abort();
  shown = null;
}

/// Shows the timeline of a place.
export async function show(place) {
  stopSearch();
  running.abort();
  running = new AbortController();
  const { signal } = running;
  if (place !== shown) showIf(missing, false);
  shown = place;
  load = () => {};
  list.forget();
  list.outdated();
  showIf(nothing, false);
  entries = [];
  await Promise.all([counts(place, signal), more(place, signal), leftOut(place, signal)]);
}

/// Counts the turns of conversations, which are left out where no filter asks for them,
/// because they would hide everything else.
async function leftOut(place, signal) {
  const { source, kind } = place.filters;
  turns = 0;
  if (source.length > 0 || kind.length > 0) return;
  try {
    const found = await api("facets", { body: { query: "", ...requested(place.filters), kinds: ["turn"] }, signal });
    turns = found.total;
  } catch {
    // Then it is not said how many they are.
  }
  if (!signal.aborted && entries.length > 0) head();
}

/// Returns the filters of a place as the server takes them.
function asked({ filters }) {
  const parameters = queried(filters);
  parameters.set("everything", "true");
  return parameters;
}

/// Reloads the timeline after documents have changed, unless the user is in it.
export function changed() {
  const inside = list.isTouched() || byId("results").contains(document.activeElement);
  if (shown && !inside) show(shown);
}

async function counts(place, signal) {
  const parameters = asked(place);
  if (unit) parameters.set("unit", unit);
  const part = unit === "day" && !place.filters.after;
  if (unit === "day") parameters.set("from", place.filters.after || "4m");
  try {
    const found = await api(`timeline/counts?${parameters}`, { signal });
    const chosen = (after, before) => go({ ...place, view: "timeline", id: null, in: undefined, filters: { ...place.filters, after, before } });
    const units = (wanted) => {
      unit = wanted;
      counts(place, signal);
    };
    draw(found, place.filters, chosen, units, part ? "Past 4 months" : "Whole time");
  } catch (error) {
    if (!isAborted(error)) put(strip, h("div", { class: "strip-body" }, h("p", { class: "note" }, "The counts could not be loaded: ", sentence(error.message))));
  }
}

/// Lists the latest entries before those that are listed. There may be any number of them
/// on a day, so that they are asked for by the oldest entry, not by its date.
async function more(place, signal) {
  const parameters = asked(place);
  const oldest = entries[entries.length - 1]?.id;
  if (place.filters.after) parameters.set("from", place.filters.after);
  if (place.filters.before) parameters.set("to", place.filters.before);
  if (oldest) {
    parameters.set("around", oldest);
    parameters.set("context", LIMIT);
  } else parameters.set("limit", LIMIT);
  try {
    const { entries: found } = await api(`timeline?${parameters}`, { signal });
    const end = oldest ? found.findIndex(({ anchor }) => anchor) : found.length;
    const added = found.slice(0, end).reverse();
    const focused = missing.contains(document.activeElement);
    entries.push(...added);
    shows(place, signal, added.length >= LIMIT);
    // The button that was pressed is elsewhere by then.
    if (focused && added.length > 0) {
      list.activateId(added[0].id);
      byId("hits").focus({ preventScroll: true });
    }
  } catch (error) {
    if (isAborted(error)) return;
    hits.show([]);
    put(summary);
    const again = () => show(place);
    put(nothing, h("h2", { text: "The timeline could not be loaded" }), h("p", {}, sentence(error.message)),
      h("button", { class: "plain", type: "button", text: "Try again", on: { click: again } }));
    nothing.hidden = false;
  }
}

function shows(place, signal, goesOn) {
  const rows = entries.map((entry) => ({
    ...entry,
    title: plain(entry.title || entry.summary),
    snippet: entry.title ? beyondTitle(entry) : "",
    updated_at: entry.created_at,
  }));
  hits.show(rows, { group: (entry) => day(entry.created_at) });
  list.answered();
  hasMore = goesOn;
  head();
  load = () => more(place, signal);
  // It is one element, so that it keeps the focus while the list is redrawn.
  if (goesOn && earlier.parentNode !== missing) put(missing, earlier);
  showIf(missing, goesOn);
  showIf(nothing, entries.length === 0);
  if (entries.length === 0) put(nothing, h("h2", { text: "Nothing in this period" }), h("p", { text: "Try a longer range, or remove filters." }));
  announce(entries.length > 0 ? counted(entries.length, "document") : "Nothing in this period");
}

/// Says above the list how much of it there is, and what is left out of it.
function head() {
  const { length } = entries;
  const count = length === 0 ? "" : hasMore ? `The latest ${counted(length, "document")}` : counted(length, "document");
  const wanted = () => change({ filters: { ...shown.filters, kind: ["turn"] } });
  put(summary,
    h("p", { class: "count", text: count }),
    turns > 0 ? h("p", { class: "left-out" }, `Without ${counted(turns, "turn")} of conversations. `,
      h("button", { class: "plain", id: "turns", type: "button", text: "Show them", on: { click: wanted } })) : null);
}

/// Returns the summary of an entry without the title that a text often begins with.
function beyondTitle({ title, summary }) {
  const text = summary.replace(/^#+\s+/, "");
  const rest = text.startsWith(title) ? text.slice(title.length) : text;
  return rest.replace(/(^|\s)#+\s+/g, " ").replace(/^[\s…]+/, "");
}
