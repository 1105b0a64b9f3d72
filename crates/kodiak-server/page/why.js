// Why a hit was found: which words, how similar, and how it scored, as a small bar chart.

import { counted, h, svg } from "./element.js";
import { worded } from "./terms.js";

const WIDTH = 120;

/// Returns the chart of a hit that was explained.
export function chart(hit) {
  const it = hit.explanation;
  const bars = [
    ["words", it.by_words, percent(it.by_words), "The probability that it answers by its words"],
    ["meaning", it.by_meaning, percent(it.by_meaning), "The probability that it answers by its meaning"],
    ["coverage", it.coverage, percent(it.coverage), "The share of the informative words that it contains"],
    ["similarity", it.similarity, it.similarity?.toFixed(2), "The cosine between the query and its nearest passage"],
    ["score", hit.score, hit.score?.toFixed(2), "How well it matched; the best hit has 1"],
  ];
  const drawn = bars.filter(([, value]) => value !== undefined && value !== null).map(bar);
  return [h("dl", { class: "why" }, drawn), h("p", { class: "why-facts", text: facts(hit).join(" · ") }), terms(it)];
}

function bar([name, value, label, title]) {
  const length = Math.max(0, Math.min(1, value)) * WIDTH;
  const drawing = svg("svg", { viewBox: `0 0 ${WIDTH} 6`, preserveAspectRatio: "none", "aria-hidden": "true", class: "bar" },
    svg("rect", { class: "rail", width: WIDTH, height: 6 }),
    svg("rect", { class: "fill", width: length, height: 6 }));
  return h("div", { title }, h("dt", { text: name }), h("dd", {}, drawing, h("span", { class: "value", text: label })));
}

/// Says in words what the bars cannot.
function facts(hit) {
  const it = hit.explanation;
  const found = { lexical: "words", semantic: "meaning" };
  const all = [`found by ${(hit.found_by ?? []).map((by) => found[by] ?? by).join(" and ")}`];
  if (it.lexical_rank) all.push(`rank ${it.lexical_rank} by words`);
  if (it.semantic_rank) all.push(`rank ${it.semantic_rank} by meaning`);
  if (it.rescoring && Math.abs(it.rescoring) > 5e-5) all.push(`rescoring ${it.rescoring > 0 ? "+" : "−"}${Math.abs(it.rescoring).toFixed(2)}`);
  if (it.reranked !== undefined) all.push(`reranked ${it.reranked.toFixed(2)}`);
  if (hit.relevance !== undefined) all.push(`relevance ${percent(hit.relevance)}`);
  if (it.chunk_lines) all.push(`nearest passage: lines ${it.chunk_lines[0]}–${it.chunk_lines[1]}`);
  return all;
}

function terms(it) {
  if (!it.terms?.length) return null;
  const all = it.terms.map(({ term, occurrences: [title, body, tags], documents }) => {
    const places = [[title, "in the title"], [body, "in the text"], [tags, "in tags"]];
    const where = places.filter(([count]) => count > 0).map(([count, place]) => `${count} ${place}`);
    return h("li", {}, h("b", { text: worded(term), dir: "auto" }), ` ${where.join(", ") || "in links"}; in ${counted(documents, "note")}`);
  });
  return h("ul", { class: "why-terms" }, all);
}

function percent(value) {
  return value === undefined ? undefined : `${Math.round(value * 100)}\u00a0%`;
}
