// What is beside a note: its outline, its links and backlinks, and similar notes.

import { api, isAborted } from "./api.js";
import { author } from "./author.js";
import { byId, focusOn, h, put } from "./element.js";
import { age } from "./when.js";

const MOST = 12;

/// Fills the column beside a document. Each part comes when it is ready.
export function fillBeside(aside, document_, signal) {
  const outline = h("div");
  const similar = h("div");
  const links = h("div");
  put(aside, outline, similar, links);
  put(outline, headings(document_));
  const id = encodeURIComponent(document_.id);
  const ask = async (path, fill) => {
    try {
      fill(await api(path, { signal }));
    } catch (error) {
      if (!isAborted(error)) fill(null);
    }
  };
  ask(`similar/${id}?limit=6`, (answer) => put(similar, cards("Similar", answer?.hits ?? [])));
  ask(`links/${id}`, (answer) => put(links, answer && linked(answer)));
}

function headings({ headings: all = [], title }) {
  const shown = all.filter(({ text, level }) => !(level === 1 && text === title));
  if (shown.length < 2) return null;
  const top = Math.min(...shown.map(({ level }) => level));
  const jump = (line) => () => {
    const target = [...byId("reading").querySelectorAll(".prose [data-line]")].find((block) => Number(block.dataset.line) >= line);
    if (!target) return;
    target.scrollIntoView({ block: "start" });
    focusOn(target);
  };
  const items = shown.slice(0, 60).map(({ level, text, line }) =>
    h("li", { class: `level-${Math.min(3, level - top)}` }, h("button", { type: "button", dir: "auto", text, on: { click: jump(line) } })));
  return section("Outline", h("ol", { class: "outline" }, items), "nav");
}

function linked({ links, backlinks, broken, mentions = [], left_out: more = {} }) {
  return [
    cards("Links", links, more.links),
    cards("Backlinks", backlinks, more.backlinks),
    cards("Mentioned in", mentions, more.mentions),
    broken.length === 0 ? null : section("Broken links", h("ul", { class: "cards" }, broken.slice(0, MOST).map(({ target, text, ambiguous }) =>
      h("li", {}, h("span", { class: "broken", dir: "auto", text: text || target }),
        ambiguous ? h("span", { class: "where", text: " several notes have this name" }) : null)))),
  ];
}

function cards(title, all, more = 0) {
  if (all.length === 0) return null;
  const named = (card) => card.title || card.path;
  // Notes of the same name are told apart by their paths.
  const alone = (card) => all.filter((other) => named(other) === named(card)).length === 1;
  const items = all.slice(0, MOST).map((card) =>
    h("li", {},
      h("a", { href: `#/note/${encodeURIComponent(card.id)}`, data: { id: card.id }, dir: "auto", title: card.path, text: named(card) }),
      h("span", { class: "where" }, card.source, alone(card) ? null : ` ${card.path}`, author(card) ? [" · ", h("bdi", { text: author(card) })] : null, " · ", age(card.updated_at))));
  const left = all.length - items.length + (more ?? 0);
  return section(title, [h("ul", { class: "cards" }, items), left > 0 ? h("p", { class: "note", text: `${left} more` }) : null]);
}

function section(title, content, tag = "section") {
  return h(tag, { "aria-label": title }, h("h2", { text: title }), content);
}
