// The bar above a note: the way back, the title once it has scrolled away, and the steps
// through the marked words.

import { h } from "./element.js";
import { goToList } from "./navigate.js";

/// Returns the bar. `heading` is the element whose place it takes when that is out of view.
export function bar(title = "", steps = null, heading = null) {
  const back = h("button", { id: "back", class: "back", type: "button", title: "Back (Esc)", on: { click: goToList } },
    h("span", { "aria-hidden": "true", class: "arrow", text: "←" }), " Back");
  const name = h("span", { class: "bar-title", "aria-hidden": "true", dir: "auto", text: title });
  const root = h("div", { class: "bar-above" }, back, name, steps);
  if (heading) {
    const watch = ([entry]) => root.classList.toggle("scrolled", !entry.isIntersecting && entry.boundingClientRect.top < 100);
    new IntersectionObserver(watch, { root: document.getElementById("reading") }).observe(heading);
  }
  return root;
}
