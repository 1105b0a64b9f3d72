// Searches as you type: word hits at each key, meaning folded in after a pause.

import { api, isAborted, Unreachable } from "./api.js";
import { isFiltered, requested } from "./address.js";
import { emit, on } from "./bus.js";
import { notices, uncertainty } from "./caveats.js";
import { announce, byId, counted, grouped, h, put, refusal, sentence, show as showIf } from "./element.js";
import { answered as facetsFor } from "./filters.js";
import * as hits from "./hits.js";
import * as list from "./list.js";
import { change } from "./navigate.js";
import { aboveLine, folded } from "./order.js";
import { nothingFound, spoken } from "./outcome.js";
import { recent } from "./recent.js";
import { marksOf, remember } from "./terms.js";
import { toast } from "./toast.js";

const LIMIT = 40;
/// As many hits fill a screen, and take half the time. The others come after a pause.
const TYPED_LIMIT = 20;
/// The most hits that are listed.
const MOST = 1_000;
const PAUSE = 120;
const QUIET = 150;

const results = byId("results");
const summary = byId("summary");
const missing = byId("missing");
const nothing = byId("nothing");
const progress = byId("progress");
let place = null;
let shown = [];
let explained = false;
/// How many rows stand above the line.
let apart = null;
let generation = 0;
let finished = 0;
let running = new AbortController();
let timers = [];

/// Searches for what a place asks. While it is `typed`, words are searched at once and
/// meaning after a pause. Returns when the last answer is shown.
export function search(next, { typed = false, again = false } = {}) {
  stop();
  place = next;
  const own = ++generation;
  const signal = running.signal;
  results.setAttribute("aria-busy", "true");
  if (again) shown.generation = own;
  else {
    list.forget();
    list.outdated();
  }
  if (!next.query.trim() && !isFiltered(next.filters)) {
    shown = [];
    remember("", []);
    return recent(signal, () => own === generation, clear).then(() => {
      if (own !== generation) return;
      settle(true);
      list.answered();
      emit("terms");
    });
  }
  timers.push(setTimeout(() => own === generation && (progress.hidden = false), QUIET + (typed ? PAUSE : 0)));
  const tasks = [];
  if (typed) tasks.push(ask(own, signal, { mode: "lexical", as_you_type: true }));
  const meaning = () => ask(own, signal, { final: true });
  tasks.push(typed ? pause(PAUSE).then(() => own === generation && meaning()) : meaning());
  return Promise.all(tasks);
}

/// Searches again for the same, without moving rows of a list that was touched.
export function again() {
  if (!place || list.isTouched() && !place.query.trim()) return;
  search(place, { again: true });
}

/// Says which query the list answers, and whether a better answer is still to come.
function settle(final) {
  results.dataset.query = place.query;
  results.setAttribute("aria-busy", String(!final));
}

/// Gives up what runs.
export function stop() {
  running.abort();
  running = new AbortController();
  for (const timer of timers) clearTimeout(timer);
  timers = [];
  progress.hidden = true;
}

/// Returns the body of a request for hits.
function wanted(mode) {
  const body = { query: place.query, limit: LIMIT, ...requested(place.filters), ...mode };
  if (place.exact) body.exact = true;
  return body;
}

async function ask(own, signal, { final = false, ...mode }) {
  const explain = explained && final ? { explain: true } : {};
  try {
    const body = wanted({ limit: final ? LIMIT : TYPED_LIMIT, ...mode, ...explain });
    const answer = await api("search", { body, signal });
    if (own === generation && (final || finished !== own)) show(answer, own, final);
  } catch (error) {
    if (isAborted(error) || own !== generation) return;
    failed(error);
  } finally {
    if (final && own === generation) {
      progress.hidden = true;
      clearTimeout(timers[0]);
    }
  }
}

function show(answer, own, final) {
  const top = list.isTouched() ? byId("hits").getBoundingClientRect().top : null;
  draw(answer, own, final);
  // What is said above the rows moves none of them away from the pointer.
  if (top !== null) results.scrollTop += byId("hits").getBoundingClientRect().top - top;
}

function draw(answer, own, final) {
  if (final) finished = own;
  const same = shown.generation === own;
  for (const hit of answer.hits) hit.worth = marksOf(hit, place.query);
  const next = folded(same ? shown : [], answer.hits, same && list.isTouched());
  next.generation = own;
  shown = next;
  remember(place.query, answer.hits);
  settle(final);
  apart = final ? aboveLine(shown, answer.relevant) : null;
  hits.show(shown, { apart, explained });
  showIf(nothing, false);
  list.answered(final);
  emit("terms");
  if (final || answer.hits.length > 0) head(answer, final);
  if (!final) return;
  put(missing, furtherButton(answer), notices(answer).map((text) => h("p", { dir: "auto" }, sentence(text))));
  showIf(missing, missing.hasChildNodes());
  if (shown.length === 0) {
    put(nothing, nothingFound(answer, place));
    nothing.hidden = false;
  }
  announce(spoken(answer, shown.length));
  facetsFor(place);
}

/// Returns the button that lists further hits, if there are any.
function furtherButton(answer) {
  if (shown.length < LIMIT || shown.length >= Math.min(answer.total, MOST)) return null;
  return h("button", { id: "further", class: "plain", type: "button", text: "Show more", on: { click: () => further(answer) } });
}

/// Lists further hits below those that are there, and leads to the first of them.
async function further(before) {
  const own = generation;
  list.touch();
  try {
    const answer = await api("search", { body: wanted({ offset: shown.length }), signal: running.signal });
    if (own !== generation) return;
    const known = new Set(shown.map(({ id }) => id));
    const added = answer.hits.filter(({ id }) => !known.has(id));
    for (const hit of added) hit.worth = marksOf(hit, place.query);
    shown = Object.assign([...shown, ...added], { generation: own });
    hits.show(shown, { apart, explained });
    head(before, true);
    announce(spoken(before, shown.length));
    if (added.length > 0 && list.activateId(added[0].id)) byId("hits").focus({ preventScroll: true });
    showIf(byId("further"), added.length > 0 && shown.length < Math.min(before.total, MOST));
  } catch (error) {
    if (!isAborted(error)) toast(["More hits could not be loaded: ", refusal(error)]);
  }
}

/// Says above the hits how many there are, or how uncertain they are.
function head(answer, final) {
  const uncertain = final ? uncertainty(answer) : null;
  // Of what is typed, the beginning is there, and the rest follows.
  const there = final ? shown.length : Math.max(shown.length, Math.min(LIMIT, answer.total));
  const count = answer.total > there ? `${there} of ${grouped(answer.total)} matches` : counted(there, "result");
  put(
    summary,
    h("p", { class: uncertain ? "uncertain" : "count", text: uncertain ?? (shown.length > 0 ? count : "") }),
    shown.length > 0 ? explainButton() : null,
    correction(answer),
  );
}

function explainButton() {
  const toggle = () => {
    explained = !explained;
    search(place, { again: true });
  };
  return h("button", { id: "why", class: "plain", type: "button", "aria-pressed": String(explained), on: { click: toggle }, text: "Why these?" });
}

/// Says which words were searched for instead, with the way back to those typed.
function correction(answer) {
  if (!answer.corrected) return null;
  const typed = () => change({ exact: true });
  return h("p", { class: "correction" },
    "Showing results for ", h("b", { text: `“${answer.corrected}”`, dir: "auto" }), ". ",
    h("button", { id: "exact", class: "plain", type: "button", on: { click: typed }, text: `Search for “${place.query.trim()}”` }));
}

function failed(error) {
  results.setAttribute("aria-busy", "false");
  list.gaveUp();
  if (error instanceof Unreachable) {
    // What is there can still be read, but answers another query.
    const { query } = results.dataset;
    if (shown.length > 0 && query !== place.query) put(summary, h("p", { class: "count", text: query ? `Still the results for “${query}”` : "Still the recent notes" }));
    return;
  }
  clear();
  const retry = () => search(place);
  put(
    nothing,
    h("h2", { text: "The search failed" }),
    h("p", {}, sentence(error.message)),
    // The button says it, too.
    error.next && !/^try again/i.test(error.next) ? h("p", {}, sentence(error.next)) : null,
    h("button", { type: "button", class: "plain", on: { click: retry }, text: "Try again" }),
  );
  nothing.hidden = false;
  announce("The search failed");
}

function clear() {
  shown = [];
  hits.show([]);
  put(summary);
  put(missing);
  showIf(missing, false);
  showIf(nothing, false);
  progress.hidden = true;
}

const pause = (time) => new Promise((done) => timers.push(setTimeout(done, time)));

on("online", again);
on("left", () => {
  stop();
  clear();
  place = null;
});
