// A document as an article: title, facts, notices, fields, text.

import { api, documentPath } from "./api.js";
import { actions } from "./actions.js";
import { author } from "./author.js";
import { add, focusOn, h, put, refusal, show } from "./element.js";
import * as images from "./images.js";
import * as marking from "./marking.js";
import { record } from "./record.js";
import { boxed } from "./table.js";
import { toast } from "./toast.js";
import { rendered } from "./trusted.js";
import { age } from "./when.js";

/// The length of a rendered text above which blocks that are not in view are not laid out.
const LONG = 60_000;
/// A rendered text shorter than this was not cut before its end.
const SHORT = 50_000;
/// A title longer than this is set smaller.
const LONG_TITLE = 80;
/// The most blocks whose overflow is looked at.
const MOST_WIDE = 300;

/// Returns the parts of the article of a document.
export function article(document_, { refresh, line }) {
  const body = h("div", { class: "prose" });
  const steps = h("div", { class: "steps" });
  const beside = h("aside", { class: "beside", "aria-label": "Beside the note" });
  const titled = document_.title || document_.path;
  const title = h("h1", { class: titled.length > LONG_TITLE ? "long" : null, dir: "auto", text: titled });
  const html = document_.html ?? "";
  body.classList.toggle("long", html.length > LONG);
  body.append(tidied(rendered(html), document_, line));
  const kept = record(document_);
  const text = [part(document_, body, "earlier"), body, part(document_, body, "later")];
  const main = h("article", { class: "article" },
    h("header", { class: "head" },
      h("p", { class: "kicker", dir: "auto" }, h("span", { class: "source", text: document_.source }), ` ${document_.path}`),
      title,
      facts(document_),
      actions(document_, line)),
    h("div", { class: "notices" }, notices(document_, refresh)),
    fields(document_.fields ?? []),
    kept,
    // The text of a record says the same once more, as it is searched.
    kept ? h("details", { class: "searched" }, h("summary", { text: "The text that is searched" }), text) : text);
  requestAnimationFrame(() => reachable(body));
  return { root: h("div", { class: "page" }, main, beside), body: kept ?? body, title, steps, beside };
}

/// Prepares the elements of a text: no second title, tables that scroll by themselves.
function tidied(content, document_, line = null) {
  const first = content.firstElementChild;
  const title = (text) => text.trim().replace(/\s+/g, " ").toLowerCase();
  if (first?.tagName === "H1" && title(first.textContent) === title(document_.title ?? "")) first.remove();
  for (const block of content.children) block.setAttribute("dir", "auto");
  for (const table of content.querySelectorAll("table")) boxed(table, line);
  for (const reference of content.querySelectorAll(".footnote-reference")) put(reference, footnote(reference.dataset.footnote));
  for (const broken of content.querySelectorAll(".broken")) broken.title = "This note does not exist";
  for (const box of content.querySelectorAll("input[type=checkbox]")) {
    box.setAttribute("aria-label", box.checked ? "Done" : "To do");
    box.closest("li")?.classList.add("task");
  }
  return content;
}

/// Returns the button that leads to a footnote.
function footnote(number) {
  const click = (event) => {
    const notes = event.target.closest(".prose").querySelectorAll(".footnote");
    const note = [...notes].find((it) => it.dataset.footnote === number);
    if (!note) return;
    note.scrollIntoView({ block: "center" });
    focusOn(note);
  };
  return h("button", { class: "plain", type: "button", text: number, "aria-label": `Footnote ${number}`, on: { click } });
}

/// Lets the keyboard scroll what is wider than the text.
function reachable(body) {
  const blocks = [...body.querySelectorAll(".table, pre")].slice(0, MOST_WIDE);
  const wide = blocks.filter((block) => block.scrollWidth > block.clientWidth + 1);
  for (const block of wide) {
    block.tabIndex = 0;
    block.setAttribute("role", "region");
    block.setAttribute("aria-label", block.tagName === "PRE" ? "Code" : "Table");
  }
}

function facts(document_) {
  const { created_at: created, updated_at: updated, kind, category, project } = document_;
  const by = author(document_);
  const tags = (document_.tags ?? []).map((tag) => h("li", {}, h("a", { class: "tag", href: `#/?tag=${encodeURIComponent(tag)}`, dir: "auto", text: `#${tag}` })));
  const named = [kind === "note" ? null : kind, category, project].filter(Boolean).map((text) => h("span", { text }));
  const day = (moment) => moment?.slice(0, 10);
  return h("div", { class: "facts" },
    named,
    by ? h("span", { class: "author", dir: "auto", text: by }) : null,
    h("span", {}, "changed ", age(updated)),
    created && day(created) !== day(updated) ? h("span", {}, "written ", age(created)) : null,
    h("ul", { class: "tags", id: "tags" }, tags));
}

function notices(document_, refresh) {
  const all = [];
  const { superseded_by: newer, corrects = [] } = document_;
  if (newer) {
    all.push(h("div", { class: "notice correction" }, h("strong", { text: "Corrected by " }),
      h("a", { href: `#/note/${encodeURIComponent(newer.id)}`, data: { id: newer.id }, dir: "auto", text: newer.title || newer.path }),
      newer.updated_at ? [", ", age(newer.updated_at)] : null));
  }
  for (const older of corrects) {
    all.push(h("div", { class: "notice" }, "Corrects ",
      h("a", { href: `#/note/${encodeURIComponent(older.id)}`, data: { id: older.id }, dir: "auto", text: older.text })));
  }
  if (document_.changed) {
    all.push(h("div", { class: "notice", id: "changed" }, "The file has changed since it was indexed. ",
      h("button", { class: "plain", type: "button", text: "Load again", on: { click: refresh } })));
  }
  if (document_.notice) all.push(h("div", { class: "notice", text: document_.notice }));
  return all;
}

function fields(all) {
  if (all.length === 0) return null;
  const named = new Map();
  for (const [name, value] of all) named.set(name, [...(named.get(name) ?? []), value]);
  const rows = [...named].map(([name, values]) => h("tr", {}, h("th", { scope: "row", text: name, dir: "auto" }), h("td", { text: values.join(", "), dir: "auto" })));
  return h("table", { class: "fields" }, h("caption", { class: "hidden", text: "Fields" }), h("tbody", {}, rows));
}

/// Returns the button that loads the part before or after the one shown, if there is one.
function part(document_, body, which) {
  const html = document_.html ?? "";
  const shown = { from: document_.from ?? 1, to: document_.to ?? Infinity };
  // A text that begins below its frontmatter lacks nothing before that.
  const whole = html.length < SHORT && shown.to >= document_.line_count;
  const more = () => (which === "earlier" ? shown.from > 1 && !whole : shown.to < document_.line_count);
  if (!more()) return null;
  const label = () => which === "earlier"
    ? `Show what comes before (lines 1 to ${shown.from - 1})`
    : `Show more (line ${shown.to + 1} of ${document_.line_count})`;
  const load = async () => {
    // A disabled button would lose the focus.
    if (loading) return;
    loading = true;
    const line = which === "earlier" ? shown.from - 1 : shown.to + 1;
    try {
      const next = await api(documentPath(document_.id, `/rendered?line=${line}`));
      const added = insert(body, next, shown, which);
      images.load(body, document_.id);
      for (const block of added) marking.extend(block);
      if (added.length === 0) shown[which === "earlier" ? "from" : "to"] = which === "earlier" ? 1 : document_.line_count;
      put(button, label());
      if (!more() && document.activeElement === button && added.length > 0) focusOn(added[0]);
      show(button, more());
    } catch (error) {
      toast(["That part could not be loaded: ", refusal(error)]);
    } finally {
      loading = false;
    }
  };
  let loading = false;
  const button = h("button", { class: "more", type: "button", on: { click: load }, text: label() });
  return button;
}

/// Inserts the blocks of another part that are not shown yet, and returns them.
function insert(body, next, shown, which) {
  const content = tidied(rendered(next.html), {});
  const lineOf = (block) => Number(block.dataset.line ?? block.querySelector("[data-line]")?.dataset.line ?? 0);
  const wanted = [...content.children].filter((block) => (which === "earlier" ? lineOf(block) < shown.from : lineOf(block) > shown.to));
  body.classList.add("long");
  if (which === "later") {
    add(body, wanted);
    shown.to = Math.max(next.to, shown.to + 1);
    return wanted;
  }
  const pane = body.closest("#reading");
  const before = pane.scrollHeight;
  body.prepend(...wanted);
  pane.scrollTop += pane.scrollHeight - before;
  shown.from = Math.min(next.from, shown.from - 1);
  return wanted;
}
