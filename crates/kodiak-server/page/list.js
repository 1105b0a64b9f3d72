// The list of rows: which one is active, and how keys and the pointer move it. The list
// is an ARIA listbox; the search field controls it too.

import { byId } from "./element.js";

const list = byId("hits");
const query = byId("query");
let active = null;
let touched = false;
/// Whether the rows answer what is asked.
let current = false;
/// How to open the first row of the next answer.
let wanted = null;
let opening = () => {};

/// Calls `listener` with the data of a row when it is opened.
export function onOpen(listener) {
  opening = listener;
}

/// Reports whether the user moved in the list since it was last forgotten.
export function isTouched() {
  return touched;
}

/// Takes note that the user is in the list, so that no row of it moves.
export function touch() {
  touched = true;
}

/// Forgets that the list was touched, and which row was active.
export function forget() {
  touched = false;
  activate(null);
}

export function rows() {
  return [...list.querySelectorAll(".row")];
}

/// Returns the id of the document in the active row.
export function activeId() {
  return active?.dataset.id ?? null;
}

/// Takes note that the rows answer what was asked before, until the next answer.
export function outdated() {
  current = false;
  wanted = null;
}

/// Takes note that the rows answer what is asked; `final` if no other answer follows.
/// What was to be opened then is opened.
export function answered(final = true) {
  current = true;
  const opens = wanted;
  if (opens && (openActive(opens) || final)) wanted = null;
}

/// Gives up what was to be opened.
export function gaveUp() {
  wanted = null;
}

/// Makes a row active and brings it into view.
export function activate(row, scroll = true) {
  if (active && active !== row) active.setAttribute("aria-selected", "false");
  active = row;
  for (const owner of [list, query]) {
    if (row) owner.setAttribute("aria-activedescendant", row.id);
    else owner.removeAttribute("aria-activedescendant");
  }
  if (!row) return;
  row.setAttribute("aria-selected", "true");
  if (scroll) row.scrollIntoView({ block: "nearest" });
}

/// Makes the row of this document active, if there is one.
export function activateId(id, scroll = true) {
  const row = rows().find((it) => it.dataset.id === id);
  if (row) activate(row, scroll);
  return Boolean(row);
}

/// Drops the active row if it has gone.
export function settle() {
  if (active && (!active.isConnected || active.hidden)) activate(null);
}

/// Moves by a number of rows; returns whether there was one to move to.
export function move(by) {
  const all = rows();
  if (all.length === 0) return false;
  touched = true;
  const at = all.indexOf(active);
  const next = at < 0 ? (by > 0 ? 0 : all.length - 1) : at + by;
  if (next < 0) {
    activate(null);
    list.scrollIntoView({ block: "nearest" });
    query.focus();
    return false;
  }
  activate(all[Math.min(next, all.length - 1)]);
  return true;
}

/// Opens the active row, or the first one.
export function openActive({ aside = false } = {}) {
  const row = active ?? rows()[0];
  if (!row) return false;
  touched = true;
  activate(row);
  opening(row.hit, aside);
  return true;
}

const JUMPS = { Home: -Infinity, End: Infinity, PageUp: -8, PageDown: 8 };

list.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey) return;
  const by = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
  if (by && !event.metaKey) move(by);
  else if (event.key in JUMPS) jump(JUMPS[event.key]);
  else if (event.key === "Enter") openActive({ aside: event.metaKey });
  else return;
  event.preventDefault();
});
query.addEventListener("keydown", (event) => {
  if (event.isComposing || event.ctrlKey || event.altKey) return;
  if (event.key === "ArrowDown") move(1);
  else if (event.key === "ArrowUp" && active) move(-1);
  else if (event.key === "Enter") {
    // The rows of a former query are not what is asked for.
    if (active || current) openActive({ aside: event.metaKey });
    else wanted = { aside: event.metaKey };
  } else return;
  event.preventDefault();
});
query.addEventListener("blur", () => (wanted = null));
list.addEventListener("focus", () => {
  if (!active && list.matches(":focus-visible")) activate(rows()[0] ?? null);
});
// Browsers also send moves when rows slide below a pointer that rests.
const moved = (event) => (touched ||= event.movementX !== 0 || event.movementY !== 0);
list.addEventListener("pointermove", moved, { passive: true });
list.addEventListener("click", (event) => {
  const row = event.target.closest(".row");
  const selection = getSelection();
  if (!row || (selection.type === "Range" && list.contains(selection.anchorNode))) return;
  touched = true;
  activate(row, false);
  opening(row.hit, event.ctrlKey || event.metaKey);
});
list.addEventListener("auxclick", (event) => {
  const row = event.target.closest(".row");
  if (row && event.button === 1) opening(row.hit, true);
});

function jump(by) {
  const all = rows();
  const at = Math.max(0, all.indexOf(active));
  touched = true;
  activate(all[Math.max(0, Math.min(all.length - 1, at + by))] ?? null);
}
