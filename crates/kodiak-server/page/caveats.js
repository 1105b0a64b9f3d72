// What a reader should know about an answer, in the words that the terminal has for it.

/// Codes without a sentence for people.
const SILENT = ["relevance-unknown"];
/// Codes that only explain why something was not found.
const EXPLAINING = ["partly-embedded", "documents-gone", "semantic-unknown-words"];
/// What codes mean whose sentence was left out of the answer.
const MEANINGS = {
  "changes-not-looked-for": "not all changes were checked for",
  "read-from-replica": "the index was read from a replica, which may be behind",
  "changes-looked-for-in-turn": "not every note was checked for changes: unchanged ones are checked a few at a time",
};
const UNCERTAIN = "; the hits are closest";

/// Returns the sentence that goes above hits none of which is probably relevant; null if
/// one is.
export function uncertainty(answer) {
  const said = told(answer).find(([code, text]) => code === "uncertain" && text.includes(UNCERTAIN));
  if (!said || answer.hits.length === 0) return null;
  const text = said[1].replace(UNCERTAIN, "; closest");
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}:`;
}

/// Returns what may be missing and what else a reader should know. What only explains why
/// nothing was found is left out if something was.
export function notices(answer) {
  const sure = answer.relevant > 0;
  const worth = told(answer).filter(([code]) => code !== "uncertain" && !(sure && EXPLAINING.includes(code)));
  const said = worth.map(([, text]) => text);
  const codes = new Set(told(answer).map(([code]) => code));
  const unsaid = (answer.incomplete ?? []).filter((code) => !codes.has(code));
  return [...said, ...new Set(unsaid.map((code) => MEANINGS[code] ?? "something may be missing"))];
}

/// Returns the sentences of an answer, each with its code.
function told(answer) {
  const codes = (answer.notice_codes ?? []).filter((code) => !SILENT.includes(code));
  return (answer.notices ?? []).map((text, at) => [codes[at] ?? "", text]);
}
