// A bar that says how much is embedded.

import { grouped, h } from "./element.js";

/// Returns the bar; nothing if everything is embedded or there is no model.
export function embeddingBar(embedding) {
  if (!embedding || !embedding.chunks || embedding.embedded >= embedding.chunks) return null;
  const { embedded, chunks } = embedding;
  return h("div", { class: "embedding" },
    h("progress", { value: embedded, max: chunks, "aria-label": "Passages compared by meaning" }),
    h("span", { class: "value", text: `${grouped(embedded)} of ${grouped(chunks)} passages` }));
}
