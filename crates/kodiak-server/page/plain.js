// The sentence of a hit as plain text: the signs of Markdown mean nothing to a reader.

const RULES = [
  // Pictures and links are what they are called.
  [/!\[([^\]]*)\]\([^)\s]*(?:\s+"[^"]*")?\)/g, "$1"],
  [/\[([^\]]+)\]\((?!\s)[^)\s]*(?:\s+"[^"]*")?\)/g, "$1"],
  [/\[\[(?:[^\]|]*\|)?([^\]|]+)\]\]/g, "$1"],
  // A picture whose end is cut off.
  [/!\[(?=[^\]]*$)/g, ""],
  [/(^|\s)(?:[-*+] )?\[[xX]\](?=\s)/g, "$1☑"],
  [/(^|\s)(?:[-*+] )?\[ \](?=\s)/g, "$1☐"],
  [/(^|[.…:;!?☑☐]\s+)[*+-] (?=\S)/g, "$1"],
  [/\s[*+] (?=\S)/g, " · "],
  [/ - (?=\S)/g, " – "],
  [/(^|\s)#{1,6} (?=\S)/g, "$1"],
  [/(^|\s)> (?=\S)/g, "$1"],
  [/\*\*|__(?=\w)|(?<=\w)__|`/g, ""],
  // A sentence that ends before the text does.
  [/([.!?])…$/, "$1 …"],
];

/// Returns a piece of a sentence without the signs of Markdown.
export function plain(text) {
  return RULES.reduce((all, [pattern, replacement]) => all.replace(pattern, replacement), text);
}
