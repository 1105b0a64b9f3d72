// What the reading pane shows before a note is opened.

import { counted, h } from "./element.js";
import { on } from "./bus.js";
import { current } from "./signin.js";

const KEYS = [["/", "search"], ["↓ ↑", "move"], ["Enter", "open"], ["Esc", "back"], ["?", "all keys"]];
let size = null;

on("status", (status) => {
  size = status.exists ? `${counted(status.documents, "document")} in ${counted(status.sources.length, "source")}` : null;
  const line = document.querySelector(".welcome .size");
  if (line && size) line.textContent = size;
});

/// Returns the quiet page of an empty pane.
export function welcome() {
  const project = current()?.project;
  return h("div", { class: "welcome" },
    h("h1", { class: "name", text: "Kodiak" }),
    h("p", { class: "size", text: size ?? " " }),
    project ? h("p", { text: `This session is limited to the project ${project}.` }) : null,
    h("dl", { class: "keylist" }, KEYS.map(([key, text]) => h("div", {}, h("dt", {}, key.split(" ").map((it) => h("kbd", { text: it }))), h("dd", { text })))));
}
