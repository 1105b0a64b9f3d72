// The words to mark in a note: those that were marked in the hits of the last answer.

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;
const MOST = 40;
/// Words that say nothing of what a note is about, unless nothing else was asked for. The
/// server leaves more of them unmarked, by how frequent they are.
const COMMON = new Set(("a an and are as at be been but by can did do does for from get gets getting got had has have how i i'm if in is it its " +
  "me my no not of on or our so some than that the their them then there these they this to up was we were what when where which who why will with would you your").split(" "));
/// A stop word is no longer than this.
const LONGEST_STOP_WORD = 5;
let forms = [];
let stops = new Set();
let typed = [];
let asked = null;

/// Returns the marks of a hit that say why it was found.
export function marksOf({ snippet = "", marks = [] }, query) {
  const asked = tokens(query);
  if (marks.length === 0 || query.includes('"') || asked.every((word) => COMMON.has(word))) return marks;
  const bytes = new TextEncoder().encode(snippet);
  const decoder = new TextDecoder();
  return marks.filter(([start, end]) => !COMMON.has(decoder.decode(bytes.slice(start, end)).toLowerCase()));
}

/// Takes note of the words that an answer's hits have marked. Words of the query count
/// too, because titles have no marks and sentences do not show every word: short ones only
/// if a title has them.
export function remember(query, hits) {
  asked = query;
  const encoder = new TextEncoder();
  const decoder = new TextDecoder();
  const all = new Set();
  const unmarked = new Set();
  for (const hit of hits) {
    const marks = marksOf(hit, query);
    if (marks.length === 0) continue;
    const bytes = encoder.encode(hit.snippet);
    let at = 0;
    const between = (end) => tokens(decoder.decode(bytes.slice(at, end))).forEach((word) => unmarked.add(word));
    for (const [start, end] of marks) {
      between(start);
      all.add(decoder.decode(bytes.slice(start, end)).toLowerCase());
      at = end;
    }
    between(bytes.length);
  }
  const titles = hits.map((hit) => (hit.title ?? "").toLowerCase());
  typed = words(query);
  const worth = typed.filter((word) => !COMMON.has(word));
  for (const word of worth.length > 0 && !query.includes('"') ? worth : typed) {
    if (word.length > LONGEST_STOP_WORD || titles.some((title) => title.includes(word))) all.add(word);
  }
  forms = [...all].filter((form) => form.trim()).slice(0, MOST);
  // The server leaves frequent stop words unmarked where they are beside no other match.
  stops = new Set(forms.filter((form) => form.length <= LONGEST_STOP_WORD && unmarked.has(form)));
}

/// Reports whether the words of a query are those that are remembered.
export function knows(query) {
  return asked === query;
}

/// Returns the word that a stem stands for, as it was typed or found; the stem if there is
/// none.
export function worded(stem) {
  const shared = (word) => [...stem].findIndex((character, at) => word[at] !== character);
  // Stems end otherwise than their words by one letter at most: "weekli".
  const fits = (word) => shared(word) < 0 || shared(word) >= Math.max(2, stem.length - 1);
  const [shortest] = forms.filter(fits).sort((one, other) => one.length - other.length);
  if (typed.includes(stem)) return stem;
  return typed.find(fits) ?? shortest ?? stem;
}

/// Returns the words of a query: without filters, excluded words and quotes.
export function words(query) {
  const plain = query.replace(/(^|\s)-\S+/g, " ").replace(/\b(tag|path|source|kind|after|before):("[^"]*"|\S+)/g, " ").replace(/\btitle:/g, " ");
  return tokens(plain).filter((word) => word.length > 2 || UNSPACED.test(word));
}

function tokens(text) {
  return text.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}\p{M}'’_-]*/gu) ?? [];
}

/// Returns where the remembered words are in a text, as `[start, end]`: stop words only
/// beside another word.
export function matches(text, wanted = expression()) {
  if (!wanted) return [];
  const found = [...text.matchAll(wanted)].filter(([word]) => word);
  const end = (match) => match.index + match[0].length;
  const beside = (one, other) => one && other && !/\S/.test(text.slice(end(one), other.index));
  const counts = (match, at) => !stops.has(match[0].toLowerCase()) || beside(found[at - 1], match) || beside(match, found[at + 1]);
  return found.filter(counts).map((match) => [match.index, end(match)]);
}

/// Returns an expression that finds the remembered words as whole words; null if there
/// are none.
export function expression(of = forms) {
  if (of.length === 0) return null;
  const longest = [...of].sort((one, other) => other.length - one.length);
  const alternatives = longest.map((form) => {
    const text = form.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&").replace(/\s+/g, "\\s+");
    if (UNSPACED.test(form)) return text;
    return `(?<![\\p{L}\\p{N}])${text}(?![\\p{L}\\p{N}])`;
  });
  return new RegExp(alternatives.join("|"), "giu");
}
