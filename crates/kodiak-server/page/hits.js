// Rows of the list: title, sentence with marks, place, tags and age. Rows are reused from
// answer to answer, so that a key costs as little as possible.

import { author } from "./author.js";
import { beyond, pieces } from "./bytes.js";
import { byId, h, put, show as showIf } from "./element.js";
import { settle } from "./list.js";
import { plain } from "./plain.js";
import { exact, relative } from "./when.js";
import { chart } from "./why.js";

const list = byId("hits");
const pool = new Map();
const MOST_TAGS = 4;

/// Lists hits. `apart` is how many stand above the line, or null; `group` returns the
/// heading that a hit belongs under; `explained` shows how hits were ranked.
export function show(hits, { apart = null, group = () => null, explained = false } = {}) {
  const wanted = [];
  let heading = null;
  hits.forEach((hit, at) => {
    const above = group(hit);
    if (above && above !== heading) wanted.push(titled(above));
    heading = above;
    const row = pool.get(hit.id) ?? made(hit.id);
    pool.set(hit.id, row);
    row.classList.toggle("below", apart !== null && at >= apart);
    row.classList.toggle("first-below", at === apart);
    fill(row, hit, explained);
    wanted.push(row);
  });
  place(wanted);
  if (pool.size > 200) trim(new Set(hits.map((hit) => hit.id)));
  showIf(list, hits.length > 0);
  byId("query").setAttribute("aria-expanded", String(!list.hidden));
  settle();
}

/// Puts these children in the list, touching only those that are not in their place.
function place(wanted) {
  let next = list.firstChild;
  for (const child of wanted) {
    if (child === next) next = next.nextSibling;
    else list.insertBefore(child, next);
  }
  while (next) {
    const gone = next;
    next = next.nextSibling;
    gone.remove();
  }
}

function trim(kept) {
  for (const id of pool.keys()) {
    if (!kept.has(id)) pool.delete(id);
  }
}

const titles = new Map();

/// Returns a heading between rows. It is for the eye; rows say the same to those who
/// listen.
function titled(text) {
  const heading = titles.get(text) ?? h("div", { class: "group", role: "presentation", text });
  titles.set(text, heading);
  return heading;
}

function made(id) {
  const part = (name) => h("div", { class: name, dir: "auto" });
  const row = h("div", { class: "row", role: "option", id: `hit-${id}`, "aria-selected": "false", data: { id } });
  row.parts = {
    title: part("row-title"),
    text: part("row-text"),
    where: h("span", { class: "where", dir: "auto" }),
    tags: h("span", { class: "row-tags" }),
    age: h("time", { class: "age" }),
    why: h("div", { class: "row-why" }),
    below: h("span", { class: "hidden" }),
  };
  const { title, text, where, tags, age, why, below } = row.parts;
  row.append(below, title, text, h("div", { class: "row-place" }, where, tags, age), why);
  return row;
}

function fill(row, hit, explained) {
  const { title, text, where, tags, age, why, below } = row.parts;
  const changed = row.hit !== hit;
  row.hit = hit;
  below.textContent = row.classList.contains("below") ? "Less likely: " : "";
  if (changed) {
    const untitled = isUntitled(hit);
    title.classList.toggle("whole", untitled);
    put(title, untitled ? sentence(hit) : hit.title || hit.path, hit.alias ? h("span", { class: "alias", text: ` (alias “${hit.alias}”)` }) : null);
    put(text, untitled ? null : sentence(hit));
    text.hidden = !text.hasChildNodes();
    put(where, h("span", { class: "source", text: hit.source }), ` ${hit.path}`);
    where.title = `${hit.source}/${hit.path}`;
    put(tags, notes(hit), tagged(hit.tags ?? []));
    const moment = hit.opened_at ?? written(hit);
    age.dateTime = moment;
    age.title = `${hit.opened_at ? "Opened " : ""}${exact(moment)}`;
    age.textContent = relative(moment);
  }
  why.hidden = !explained || !hit.explanation;
  put(why, why.hidden ? null : chart(hit));
}

/// Returns when a document was written: a memory and a turn keep the time they are from.
function written(hit) {
  return hit.kind === "turn" || hit.kind === "session" ? (hit.created_at ?? hit.updated_at) : hit.updated_at;
}

/// Reports whether the title of a hit is only the beginning of its sentence, as that of a
/// memory or a turn is. Then the sentence says all.
function isUntitled({ title, snippet }) {
  const beginning = (title ?? "").replace(/[\s….]+$/u, "");
  return beginning.length > 0 && (snippet ?? "").startsWith(beginning);
}

function sentence(hit) {
  const text = hit.snippet ?? hit.summary ?? "";
  const found = beyond(pieces(text, hit.worth ?? hit.marks ?? []), heading(text, hit));
  return found.map(([text, marked]) => (marked ? h("mark", { text }) : plain(text)));
}

/// Returns how much of a sentence is the heading of a session record, which repeats its
/// category and title.
function heading(text, { kind, category, title }) {
  const beginning = `[${category}] ${title}`;
  return kind === "session" && text.startsWith(beginning) ? /^[\s….]*/.exec(text.slice(beginning.length))[0].length + beginning.length : 0;
}

/// Returns what a reader should know about a hit before opening it.
function notes(hit) {
  const all = [];
  if (hit.superseded_by) all.push("superseded");
  if (hit.archived) all.push("archived");
  if (hit.changed) all.push("changed since it was indexed");
  if (hit.origin_gone) all.push("original gone");
  const facts = [];
  const by = author(hit);
  if (by) facts.push(by);
  const copies = hit.also_in?.length ?? 0;
  if (copies > 0) facts.push(copies === 1 ? "1 copy" : `${copies} copies`);
  const span = (name) => (text) => h("bdi", { class: name, text });
  return [...all.map(span("state")), ...facts.map(span("fact"))];
}

function tagged(tags) {
  const shown = tags.slice(0, MOST_TAGS).map((tag) => h("bdi", { class: "tag", text: `#${tag}` }));
  const more = tags.length - shown.length;
  if (more > 0) shown.push(h("span", { class: "tag", text: `+${more}`, title: tags.slice(MOST_TAGS).join(", ") }));
  return shown;
}
