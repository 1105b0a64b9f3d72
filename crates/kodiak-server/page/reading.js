// The reading pane: one document, scrolled to the line that was found.

import { Unreachable, api, documentPath, isAborted } from "./api.js";
import { fillBeside } from "./beside.js";
import { conversation } from "./conversation.js";
import { announce, byId, drop, h, put, refusal, sentence } from "./element.js";
import { on } from "./bus.js";
import { knows } from "./terms.js";
import { toast } from "./toast.js";
import * as images from "./images.js";
import * as list from "./list.js";
import * as marking from "./marking.js";
import { article } from "./article.js";
import { bar } from "./bar.js";
import { welcome } from "./welcome.js";

const pane = byId("reading");
let open = null;
let loading = new AbortController();
let slow;

/// Shows the document of a place, where `at` was kept of it. If it is shown already, it gets
/// the focus only if that is wanted.
export async function show(place, { focus = true, at = null } = {}) {
  const { id, line, query } = place;
  document.body.dataset.reading = "";
  if (open?.id === id && open.line === line) return focus ? focusPane() : null;
  leave();
  const own = { id, line, query, at: at?.id === id ? at : null };
  open = own;
  slow = setTimeout(() => open === own && put(pane, bar(), h("div", { class: "quiet" }, h("p", { text: "Loading…" }), h("div", { class: "skeleton" }))), 150);
  try {
    await load(own);
  } catch (error) {
    if (isAborted(error) || open !== own) return;
    failed(error, place);
  } finally {
    clearTimeout(slow);
  }
}

/// Leaves the document; the focus goes back to the list if it was in the pane.
export function close(focusList) {
  const had = pane.contains(document.activeElement) || document.activeElement === document.body;
  delete document.body.dataset.reading;
  if (open || !pane.querySelector(".welcome")) {
    leave();
    put(pane, welcome());
  }
  if (focusList && had) (list.activeId() ? byId("hits") : byId("query")).focus({ preventScroll: true });
}

/// Reloads the document after its file has changed, and stays in place.
export async function refresh() {
  const now = open;
  if (!now) return;
  const top = pane.scrollTop;
  const line = blockInView()?.dataset.line;
  try {
    await load({ ...now, line: line ? Number(line) : now.line, at: null, kept: true });
  } catch (error) {
    if (!isAborted(error)) toast(["The note could not be loaded again: ", refusal(error)]);
    return;
  }
  pane.scrollTop = top;
}

/// Looks whether the open document has changed, or is there no more.
export async function changed() {
  const now = open;
  if (!now?.document) return;
  const next = await api(documentPath(now.id, `/rendered?line=${now.line ?? 1}`)).catch((error) => error);
  if (open !== now) return;
  if (next.status === 404) return notify("gone", "This note was moved or deleted. What you see is its last text.");
  drop(pane.querySelector(".changed.gone"));
  if (next instanceof Error) return;
  const same = next.updated_at === now.document.updated_at && next.html === now.first && next.changed === now.document.changed;
  if (same || pane.querySelector("#changed")) return;
  notify("newer", "This note has changed on disk. ", h("button", { class: "plain", type: "button", text: "Show the new text", on: { click: refresh } }));
}

/// Says something of the note, in view wherever it is read, and moves no text.
function notify(what, ...content) {
  drop(pane.querySelector(".changed"));
  pane.querySelector(".bar-above")?.after(
    h("div", { class: `changed ${what}`, role: "status" }, h("div", { id: "changed", class: "notice" }, content)));
}

async function load(own) {
  loading.abort();
  loading = new AbortController();
  const { signal } = loading;
  const near = own.at?.line ?? own.line;
  const query = near ? `?line=${near}` : "";
  const document_ = await api(documentPath(own.id, `/rendered${query}`), { signal });
  if (open?.id !== own.id) return;
  open = own;
  own.document = document_;
  own.first = document_.html;
  clearTimeout(slow);
  images.unload();
  marking.forget();
  const view = article(document_, { refresh, line: own.line });
  put(pane, bar(document_.title || document_.path, view.steps, view.title), view.root);
  document.title = `${document_.title || document_.path} – Kodiak`;
  if (document_.kind === "turn") await conversation(own.id, view, signal);
  images.load(view.body, own.id);
  own.view = view;
  own.marked = own.kept || knows(own.query);
  if (own.marked) marking.mark(view.root.querySelector(".prose"), view.steps);
  if (!own.kept) {
    if (!own.at || !restore(view, own)) scroll(view, own.line);
    focusPane();
    announce(`${document_.title || document_.path}, opened`);
    api("opened", { body: { id: own.id } }).catch(() => {});
  }
  fillBeside(view.beside, document_, signal);
}

/// Marks the words as soon as they are known: a note that is opened by its address may be
/// there before the search has found them.
function marked() {
  const now = open;
  if (!now?.view || now.marked || !knows(now.query)) return;
  now.marked = true;
  marking.mark(now.view.root.querySelector(".prose"), now.view.steps);
  if (!now.moved) scroll(now.view, now.line);
}

/// Takes note that the reader has moved on, and so stays there.
for (const event of ["wheel", "touchmove", "keydown", "pointerdown"]) {
  pane.addEventListener(event, () => open && (open.moved = true), { passive: true });
}

/// Returns where the reader is in the document, to be kept in the history; null if that is
/// where it opened.
export function position() {
  const block = open?.moved && open.view && blockInView();
  if (!block) return null;
  return { id: open.id, line: Number(block.dataset.line), offset: block.getBoundingClientRect().top - pane.getBoundingClientRect().top };
}

/// Brings the document back to where it was in this entry of the history. Returns false if
/// that is not there.
function restore(view, own) {
  const block = blockAt(view.body, own.at.line);
  if (!block) return false;
  if (own.line) blockAt(view.body, own.line)?.classList.add("at-line");
  pane.scrollTop += block.getBoundingClientRect().top - pane.getBoundingClientRect().top - own.at.offset;
  own.moved = true;
  return true;
}

/// Brings the line into view, or the first mark in it.
function scroll(view, line) {
  const found = view.body.querySelector(".found");
  const block = found ?? (line ? blockAt(view.body, line) : null);
  if (!block) {
    pane.scrollTop = 0;
    return;
  }
  if (!found) block.classList.add("at-line");
  const mark = marking.firstAfter(block);
  const target = mark && block.contains(mark) ? mark : block;
  if (mark && block.contains(mark)) marking.startAt(mark);
  pane.scrollTop = 0;
  // What is in view below the title needs no scrolling.
  const below = target.getBoundingClientRect().bottom - pane.getBoundingClientRect().top;
  if (below > pane.clientHeight * 0.75) target.scrollIntoView({ block: target === mark ? "center" : "start" });
}

function blockAt(body, line) {
  let best = null;
  for (const block of body.querySelectorAll("[data-line]")) {
    const own = Number(block.dataset.line);
    if (own <= line && (!best || own >= Number(best.dataset.line))) best = block;
  }
  return best;
}

/// Returns the first block in view. Asking blocks one by one would lay out all before it.
function blockInView() {
  const { top, bottom } = pane.getBoundingClientRect();
  const prose = pane.querySelector(".prose")?.getBoundingClientRect();
  for (let y = top + 48; prose && y < bottom; y += 16) {
    const block = document.elementFromPoint(prose.left + prose.width / 2, y)?.closest(".prose [data-line]");
    if (block) return block;
  }
  return null;
}

on("terms", marked);

function focusPane() {
  pane.focus({ preventScroll: true });
}

/// Gives up the document, whose pane is taken for something else.
export function leave() {
  loading.abort();
  clearTimeout(slow);
  images.unload();
  marking.forget();
  open = null;
}

function failed(error, place) {
  const gone = error.status === 404;
  put(pane, bar(), h("div", { class: "quiet" },
    h("h1", { text: gone ? "Document not found" : "The document could not be loaded" }),
    h("p", {}, sentence(gone ? "It was moved or deleted, or this session may not read it" : error.message)),
    error.next && !gone && !/^try again/i.test(error.next) ? h("p", {}, sentence(error.next)) : null,
    gone ? null : h("button", { class: "plain", type: "button", text: "Try again", on: { click: () => again(place) } })));
  if (!(error instanceof Unreachable)) focusPane();
}

function again(place) {
  open = null;
  show(place);
}
