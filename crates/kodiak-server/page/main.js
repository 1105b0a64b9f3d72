// Starts the page, and leads from the address to the views and back.

import { format, noFilters, parse, sameList } from "./address.js";
import { on } from "./bus.js";
import { byId } from "./element.js";
import { listen } from "./events.js";
import { onFilters, showFilters } from "./filters.js";
import { bindKeys } from "./keys.js";
import * as list from "./list.js";
import { go, onRoute } from "./navigate.js";
import * as reading from "./reading.js";
import { again, search } from "./search.js";
import { signIn } from "./signin.js";
import * as status from "./status.js";
import * as timeline from "./timeline.js";
import { bindWriting } from "./writing.js";

const field = byId("query");
let place = parse(location.hash);
let listed = null;
let saving;

/// Shows what a place asks for.
function show(next, { typed = false } = {}) {
  const before = place;
  place = next;
  const inTimeline = next.view === "timeline" || next.in === "timeline";
  document.body.dataset.view = next.view === "status" ? "status" : inTimeline ? "timeline" : "search";
  for (const [id, now] of [["go-timeline", inTimeline], ["go-status", next.view === "status"]]) {
    if (now) byId(id).setAttribute("aria-current", "page");
    else byId(id).removeAttribute("aria-current");
  }
  if (next.view === "search") document.title = next.query.trim() ? `${next.query.trim()} – Kodiak` : "Kodiak";
  if (next.view === "timeline") document.title = "Timeline – Kodiak";
  if (!typed && field.value !== next.query) field.value = next.query;
  showFilters(next);
  if (!listed || !sameList(listed, next)) {
    listed = next;
    timeline.toggle(inTimeline);
    const done = inTimeline ? timeline.show(next) : search(next, { typed });
    if (!typed) Promise.resolve(done).then(restore);
  }
  // Typing changes the list beside the note, and takes the focus from nothing.
  if (next.view === "note" && typed) return;
  if (next.view === "note") {
    list.activateId(next.id, false);
    reading.show(next, { focus: before.view !== "note", at: history.state?.read });
  } else if (next.view === "status") {
    reading.leave();
    status.show();
  } else reading.close(before.view === "note" || before.view === "status");
  if (next.view !== "status") status.hide();
}

/// Brings the list back to where it was in this entry of the history.
function restore() {
  const { scroll, active } = history.state ?? {};
  if (scroll) byId("results").scrollTop = scroll;
  if (active ?? place.id) list.activateId(active ?? place.id, false);
}

/// Keeps in the history where the list and the note are.
function save() {
  history.replaceState({ ...history.state, scroll: byId("results").scrollTop, active: list.activeId(), read: reading.position() }, "");
}

onRoute(show, () => place, save);
list.onOpen((hit, aside) => {
  const timelined = place.view === "timeline" || place.in === "timeline";
  const next = { ...place, view: "note", id: hit.id, line: hit.line > 1 ? hit.line : null, in: timelined ? "timeline" : undefined };
  if (aside) window.open(format(next), "_blank", "noopener");
  else go(next);
});
onFilters((filters) => {
  const view = place.view === "status" ? "search" : place.view;
  go({ ...place, view, filters });
});

field.addEventListener("input", () => {
  const searching = place.view === "search" || (place.view === "note" && !place.in) ? place.view : "search";
  const next = { ...place, view: searching, query: field.value, exact: false };
  if (searching === "search") delete next.in;
  show(next, { typed: true });
  clearTimeout(saving);
  saving = setTimeout(() => history.replaceState(history.state, "", format(place)), 250);
});
byId("search").addEventListener("submit", (event) => event.preventDefault());
byId("results").addEventListener("click", (event) => {
  if (event.target.id === "clear-filters") go({ ...place, filters: noFilters() });
});
let scrolled;
for (const id of ["results", "reading"]) {
  byId(id).addEventListener("scroll", () => {
    clearTimeout(scrolled);
    // Where the note is cannot be asked cheaply of a tab that is not shown.
    scrolled = setTimeout(() => document.hidden || save(), 300);
  }, { passive: true });
}

on("signed-in", (session) => {
  byId("new").hidden = !session.write;
  field.placeholder = session.project ? `Search in ${session.project}` : "Search what you wrote";
  listed = null;
  listen();
  show(parse(location.hash));
  // A note and the status take the focus as soon as they are there.
  if (place.view !== "status") field.focus();
});
on("left", () => {
  listed = null;
  reading.close(false);
});
let changing;
on("documents", () => {
  clearTimeout(changing);
  changing = setTimeout(() => {
    if (place.view === "note") reading.changed();
    if (place.view === "timeline" || place.in === "timeline") timeline.changed();
    else again();
  }, 200);
});
on("written", () => {
  if (place.view === "timeline" || place.in === "timeline") timeline.show(place);
  else search(place);
});
on("status", status.update);

bindKeys({ place: () => place, field });
bindWriting();
history.scrollRestoration = "manual";
signIn();

