// Dialogs: one at a time, closed by Esc, with the focus back where it was.

import { byId, drop, h } from "./element.js";

/// Opens a dialog with this title and content, and returns it.
export function dialog(id, title, ...content) {
  const before = document.activeElement;
  const close = () => box.close();
  const box = h("dialog", { id, "aria-labelledby": `${id}-heading` },
    h("header", {}, h("h2", { id: `${id}-heading`, text: title }),
      h("button", { class: "dismiss", type: "button", "aria-label": "Close", text: "×", on: { click: close } })),
    content);
  box.addEventListener("click", (event) => event.target === box && close());
  box.addEventListener("close", () => {
    drop(box);
    (before?.isConnected ? before : byId(before?.id))?.focus({ preventScroll: true });
  });
  document.body.append(box);
  box.showModal();
  return box;
}
