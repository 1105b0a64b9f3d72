// Long tables, a part at a time: a browser lays all rows of a table out together, and
// thousands of them hold the page up.

import { focusOn, h, put, show } from "./element.js";
import * as marking from "./marking.js";

/// The most cells that are shown at first, and added at once.
const CELLS = 4_000;

/// Leaves a table the rows around a line, in a box that scrolls by itself, with buttons for
/// those before and after them.
export function boxed(table, line) {
  let box = table.parentElement;
  if (!box?.classList.contains("table")) {
    box = h("div", { class: "table" });
    table.replaceWith(box);
    box.append(table);
  }
  const body = table.tBodies[0];
  const rows = [...(body?.rows ?? [])];
  const size = Math.max(20, Math.floor(CELLS / Math.max(1, rows[0]?.cells.length ?? 1)));
  if (rows.length <= size * 1.5) return;
  const at = line ? rows.findLastIndex((row) => Number(row.dataset.line ?? Infinity) <= line) : -1;
  const shown = { from: Math.max(0, Math.min(at - Math.floor(size / 2), rows.length - size)) };
  shown.to = shown.from + size;
  body.replaceChildren(...rows.slice(shown.from, shown.to));
  const more = (which) => {
    const left = () => (which === "earlier" ? shown.from : rows.length - shown.to);
    const label = () => `Show ${Math.min(size, left())} of ${left()} ${which} rows`;
    const press = () => {
      const [from, to] = which === "earlier" ? [Math.max(0, shown.from - size), shown.from] : [shown.to, Math.min(rows.length, shown.to + size)];
      const added = rows.slice(from, to);
      if (which === "earlier") body.prepend(...added);
      else body.append(...added);
      Object.assign(shown, { from: Math.min(from, shown.from), to: Math.max(to, shown.to) });
      for (const row of added) marking.extend(row);
      put(button, label());
      if (left() === 0 && document.activeElement === button) focusOn(added[0]);
      show(button, left() > 0);
    };
    const button = h("button", { class: "more", type: "button", text: label(), on: { click: press } });
    if (left() > 0) box[which === "earlier" ? "prepend" : "append"](button);
  };
  more("earlier");
  more("later");
}
