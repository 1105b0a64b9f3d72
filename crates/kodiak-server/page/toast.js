// Short messages that go away by themselves; some have an undo.

import { byId, drop, h } from "./element.js";

const LASTS = 5_000;
const LASTS_WITH_UNDO = 20_000;
const place = byId("toasts");

/// Shows a message. With `undo`, it has a button for that and stays longer.
export function toast(text, undo = null) {
  const message = h("div", { class: "toast" }, h("span", { dir: "auto" }, text));
  let timer;
  let came = null;
  const remove = () => {
    const had = message.contains(document.activeElement);
    drop(message);
    // The focus goes back to where it was, or to what took its place.
    if (had) (came?.isConnected ? came : byId(came?.id))?.focus({ preventScroll: true });
  };
  const wait = () => (timer = setTimeout(remove, undo ? LASTS_WITH_UNDO : LASTS));
  const hold = () => clearTimeout(timer);
  if (undo) {
    const click = () => {
      remove();
      undo();
    };
    message.append(h("button", { class: "undo", type: "button", title: "Undo (u)", text: "Undo", on: { click } }));
  }
  message.append(h("button", { class: "dismiss", type: "button", "aria-label": "Dismiss", text: "×", on: { click: remove } }));
  for (const event of ["pointerenter", "focusin"]) message.addEventListener(event, hold);
  for (const event of ["pointerleave", "focusout"]) message.addEventListener(event, wait);
  message.addEventListener("focusin", ({ relatedTarget: from }) => {
    if (from && !place.contains(from)) came = from;
  });
  place.append(message);
  while (place.children.length > 3) drop(place.firstChild);
  wait();
}

/// Undoes what the last message offers to undo; returns whether there is one.
export function undoLast() {
  const buttons = place.querySelectorAll(".undo");
  buttons[buttons.length - 1]?.click();
  return buttons.length > 0;
}
