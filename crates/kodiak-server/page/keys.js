// Keys, and the dialog that lists them.

import { dialog } from "./dialog.js";
import { byId, h } from "./element.js";
import * as filters from "./filters.js";
import * as list from "./list.js";
import * as marking from "./marking.js";
import { go, goToList } from "./navigate.js";
import { start } from "./address.js";
import { signOut } from "./signin.js";
import { undoLast } from "./toast.js";
import { write } from "./writing.js";

const KEYS = [
  ["/", "search"],
  ["↓ ↑", "next and previous hit, also j and k"],
  ["Enter", "open"],
  ["Esc", "back, or clear the search"],
  ["m M", "next and previous marked word"],
  ["f", "filters"],
  ["t", "timeline"],
  ["s", "status"],
  ["n", "new page or memory"],
  ["u", "undo"],
  ["?", "this list"],
];

/// Binds the keys of the whole page.
export function bindKeys({ place, field }) {
  const search = () => {
    if (place().view === "status") go({ ...place(), view: "search" });
    field.focus();
    field.select();
  };
  const next = (by) => {
    const reads = place().view === "note";
    if (list.move(by) && reads) list.openActive();
    else if (!reads) byId("hits").focus({ preventScroll: true });
  };
  const commands = {
    "/": search,
    "?": help,
    j: () => next(1),
    k: () => next(-1),
    m: () => marking.step(1),
    M: () => marking.step(-1),
    f: () => filters.toggle(!filters.isOpen(), true),
    t: () => go({ ...place(), view: "timeline", id: null, line: null, in: undefined }),
    s: () => go({ ...start("status"), query: place().query, filters: place().filters }),
    n: () => !byId("new").hidden && write(),
    u: undoLast,
  };
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("dialog[open]") || byId("app").inert) return;
    if (event.key === "Escape") return escape(event, place(), field);
    if (isTyping(event.target)) return;
    const command = commands[event.key];
    if (!command) return;
    event.preventDefault();
    command();
  });
  byId("help").addEventListener("click", help);
  byId("new").addEventListener("click", () => write());
  byId("skip-hits").addEventListener("click", () => byId("hits").focus());
  byId("skip-note").addEventListener("click", () => byId("reading").focus());
}

function isTyping(target) {
  return target.matches?.("input, textarea, select, [contenteditable]");
}

/// Goes back one step: out of the panel, the note, the list; then clears the search.
function escape(event, place, field) {
  event.preventDefault();
  if (filters.isOpen() && place.view !== "note") filters.toggle(false);
  else if (event.target === field && field.value) {
    field.value = "";
    field.dispatchEvent(new Event("input", { bubbles: true }));
  } else if (place.view === "note" || place.view === "status") goToList();
  else if (place.view === "timeline" && event.target === field) go({ ...place, view: "search" });
  else if (event.target !== field) field.focus();
}

/// Lists the keys.
export function help() {
  const rows = KEYS.map(([keys, text]) => h("div", {}, h("dt", {}, keys.split(" ").map((key) => h("kbd", { text: key }))), h("dd", { text })));
  const box = dialog("keys", "Keys", h("dl", { class: "keylist" }, rows),
    h("p", { class: "note" }, "In a search, quotes keep words together, ", h("code", { text: "-word" }), " leaves notes out, and ",
      h("code", { text: "tag:" }), ", ", h("code", { text: "path:" }), ", ", h("code", { text: "after:" }), " and others limit it."),
    h("p", {}, h("button", { class: "plain", id: "signout", type: "button", text: "Sign out", on: { click: () => { box.close(); signOut(); } } })));
}
