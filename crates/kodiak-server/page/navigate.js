// Leads to other places of the page, and keeps the history.

import { codeIn, format, parse, start } from "./address.js";
import { emit } from "./bus.js";

let show = () => {};
let present = () => start();
let save = () => {};

/// Sets what shows a place, what returns the present one, and what keeps it in the
/// history.
export function onRoute(shows, presents, saves) {
  show = shows;
  present = presents;
  save = saves;
}

/// Goes to a place. It gets an entry in the history unless it replaces the present one.
export function go(place, { replace = false } = {}) {
  const address = format(place);
  if (address === format(present())) return;
  if (replace) history.replaceState(null, "", address);
  else {
    // What was typed is in the entry that Back leads to.
    history.replaceState(history.state, "", format(present()));
    save();
    history.pushState({ fromList: ["search", "timeline"].includes(present().view) }, "", address);
  }
  show(place);
}

/// Changes a part of the present place.
export function change(part) {
  go({ ...present(), ...part });
}

/// Goes to a document and keeps query and filters beside it.
export function goToDocument(id, line = null) {
  go({ ...present(), view: "note", id, line });
}

/// Goes back to the list: by the history if this was opened from there.
export function goToList() {
  const now = present();
  if (now.view !== "note" && now.view !== "status") return;
  if (history.state?.fromList) {
    history.back();
    return;
  }
  go({ ...now, view: now.in === "timeline" ? "timeline" : "search", id: null, line: null, in: undefined });
}

addEventListener("popstate", () => {
  const code = codeIn(location.hash);
  if (code !== null) {
    // A sign-in link that was pasted into this tab. Nothing must find its code again.
    history.replaceState(null, "", format(present()));
    emit("code", code);
    return;
  }
  // A dialog belongs to the place that was left.
  document.querySelector("dialog[open]")?.close();
  show(parse(location.hash));
});
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href^='#/']");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
  event.preventDefault();
  const { id } = link.dataset;
  const place = parse(link.getAttribute("href"));
  if (id) goToDocument(id, place.line);
  else go(place);
});
