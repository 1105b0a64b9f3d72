// What is said of an answer as a whole: how many hits there are, or that there are none.

import { isFiltered } from "./address.js";
import { uncertainty } from "./caveats.js";
import { counted, grouped, h } from "./element.js";

/// Returns how many hits there are, and how sure they are, for those who listen.
export function spoken(answer, length) {
  const count = length === 0 ? "Nothing found" : answer.total > length ? `${length} of ${grouped(answer.total)} results` : counted(length, "result");
  const likely = answer.relevant > 0 && answer.relevant < length ? `, ${answer.relevant} probably relevant` : "";
  const corrected = answer.corrected ? ` for “${answer.corrected}”` : "";
  const uncertain = uncertainty(answer);
  return `${count}${corrected}${likely}${uncertain ? `. ${uncertain}` : ""}`;
}

/// Returns what is said where nothing was found: what may have been meant, and what to do.
export function nothingFound(answer, place) {
  const suggested = (answer.suggestions ?? []).map(({ id, title, source, path }) =>
    h("li", {}, h("a", { href: `#/note/${encodeURIComponent(id)}`, data: { id }, dir: "auto", text: title || path }), h("span", { class: "where", text: ` ${source}` })));
  return [
    h("h2", { text: place.query.trim() ? `Nothing found for “${place.query.trim()}”` : "Nothing found", dir: "auto" }),
    suggested.length > 0 ? [h("p", { text: "Did you mean:" }), h("ul", {}, suggested)] : null,
    isFiltered(place.filters) ? h("p", {}, "Filters are set. ", h("button", { class: "plain", id: "clear-filters", type: "button", text: "Search without them" })) : null,
    suggested.length === 0 ? h("p", { text: "Fewer or other words may find more; meaning counts too, so a sentence is fine." }) : null,
  ];
}
