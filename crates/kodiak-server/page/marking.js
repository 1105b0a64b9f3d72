// Marks the found words in a note, and steps from one to the next.

import { announce, h, put } from "./element.js";
import { expression, matches } from "./terms.js";

const MOST = 2_000;
let marks = [];
let at = -1;
let counter = null;
let prose = null;
let steps = null;

/// Marks the words below `root`, and puts what steps through them into `place`.
export function mark(root, place) {
  prose = root;
  steps = place;
  extend(root);
}

/// Marks the words in a part that was added, too.
export function extend(root) {
  const wanted = expression();
  if (!wanted || !prose) return;
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const found = [];
  let count = 0;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const ranges = matches(node.data, wanted);
    if (ranges.length === 0) continue;
    found.push([node, ranges]);
    count += ranges.length;
    if (count >= MOST) break;
  }
  for (const [node, ranges] of found) wrap(node, ranges);
  const present = marks[at];
  marks = [...prose.querySelectorAll("mark.word")];
  at = marks.indexOf(present);
  if (counter) tell();
  else put(steps, stepper());
}

/// Forgets all marks.
export function forget() {
  marks = [];
  at = -1;
  counter = null;
  prose = null;
}

/// Returns the first mark at or below an element.
export function firstAfter(element) {
  const after = (mark) => element.contains(mark) || element.compareDocumentPosition(mark) & Node.DOCUMENT_POSITION_FOLLOWING;
  return marks.find(after) ?? null;
}

/// Returns what steps through the marks; nothing if there are none.
function stepper() {
  if (marks.length === 0) return null;
  counter = h("span", { class: "value" });
  const button = (label, sign, by, key) =>
    h("button", { type: "button", "aria-label": label, title: `${label} (${key})`, text: sign, on: { click: () => step(by) } });
  const bar = h("div", { class: "stepper", role: "group", "aria-label": "Marked words" },
    counter, button("Previous mark", "↑", -1, "M"), button("Next mark", "↓", 1, "m"));
  tell();
  return bar;
}

/// Goes to the next or the previous mark.
export function step(by) {
  if (marks.length === 0) return;
  show(marks[(at + by + marks.length) % marks.length]);
  announce(`Mark ${at + 1} of ${marks.length}`);
}

/// Makes a mark the present one.
export function show(mark) {
  marks[at]?.classList.remove("present");
  at = marks.indexOf(mark);
  mark.classList.add("present");
  mark.closest("details")?.setAttribute("open", "");
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  mark.scrollIntoView({ block: "center", behavior: still ? "instant" : "auto" });
  tell();
}

/// Makes a mark the present one without scrolling.
export function startAt(mark) {
  at = marks.indexOf(mark);
  mark.classList.add("present");
  tell();
}

function tell() {
  if (counter) put(counter, at < 0 ? `${marks.length} marked` : `${at + 1} of ${marks.length}`);
}

function wrap(node, ranges) {
  const parts = [];
  let end = 0;
  for (const [from, to] of ranges) {
    if (from > end) parts.push(node.data.slice(end, from));
    parts.push(h("mark", { class: "word", text: node.data.slice(from, to) }));
    end = to;
  }
  parts.push(node.data.slice(end));
  node.replaceWith(...parts.filter((part) => part !== ""));
}
