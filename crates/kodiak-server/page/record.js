// The record of a session: what was decided and what was learned.

import { h } from "./element.js";

/// Returns the record of a document; nothing if it has none.
export function record({ record: it }) {
  if (!it) return null;
  const said = (one) => (typeof one === "string" ? one : [one.what ?? one.text ?? one.summary, one.why ? ` (why: ${one.why})` : ""].join(""));
  const section = (title, all) =>
    all?.length > 0
      ? h("section", {}, h("h2", { text: title }), h("ul", {}, all.map((one) => h("li", { text: said(one), dir: "auto" }))))
      : null;
  const parts = [section("Decisions", it.decisions), section("Lessons", it.lessons)];
  return parts.some(Boolean) ? h("div", { class: "record prose" }, parts) : null;
}
