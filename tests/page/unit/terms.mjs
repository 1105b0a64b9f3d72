import assert from "node:assert/strict";
import test from "node:test";

import { expression, marksOf, matches, remember, worded, words } from "../../../crates/kodiak-server/page/terms.js";

const found = (text, forms) => [...text.matchAll(expression(forms))].map(([word]) => word);

test("whole words are found in any case", () => {
  assert.deepEqual(found("Retry, retries and RETRY; retrying", ["retry", "retries"]), ["Retry", "retries", "RETRY"]);
  assert.deepEqual(found("groß Großes", ["groß"]), ["groß"]);
});

test("the parts of a name with underscores are words, as they are for the server", () => {
  assert.deepEqual(found("delete_old_snapshots.yml was undeleted", ["delete", "snapshots"]), ["delete", "snapshots"]);
});

test("scripts without spaces have no word boundaries", () => {
  assert.deepEqual(found("龍安寺の石庭は", ["石庭"]), ["石庭"]);
});

test("signs are taken as they are", () => {
  assert.deepEqual(found("a+b c.d (x)", ["c.d", "(x)"]), ["c.d", "(x)"]);
  assert.deepEqual(found("cxd", ["c.d"]), []);
});

test("a query has words, not filters or excluded words", () => {
  assert.deepEqual(words('tag:work "deep work" -meeting title:plan before:2026'), ["deep", "work", "plan"]);
});

test("marked forms and words of titles are remembered", () => {
  remember("ünlü tea", [{ title: "Tea", snippet: "ünlü çay", marks: [[0, 6]] }]);
  assert.deepEqual([..."Tea ünlü çay".matchAll(expression())].map(([word]) => word), ["Tea", "ünlü"]);
  // A word that no sentence shows is marked where the note has it, unless it is short.
  remember("terrace and strawberries", [{ title: "", snippet: "a terrace", marks: [[2, 9]] }]);
  assert.deepEqual(["terrace", "and", "strawberries"].map((word) => matches(word).length), [1, 0, 1]);
  remember("x", []);
  assert.equal(expression(), null);
});

test("a stop word is marked only beside another match, as the server marks it", () => {
  // "per" is marked after "sees" and nowhere else.
  const snippet = "It sees per dash, and per note.";
  remember("sees per dash", [{ title: "Pomodoro", snippet, marks: [[3, 7], [8, 11], [12, 16]] }]);
  const text = "Once per list. Who sees per dash has per\nbreak";
  assert.deepEqual(matches(text).map(([from, to]) => text.slice(from, to)), ["sees", "per", "dash"]);
  // A long word that a snippet leaves unmarked is none.
  remember("review", [{ title: "", snippet: "A review, reviewed. review", marks: [[2, 8]] }]);
  assert.equal(matches("no review").length, 1);
});

test("a stem is shown as the word that was typed or found", () => {
  remember("weekly policies", [{ title: "", snippet: "kubernetes is", marks: [[0, 10]] }]);
  assert.deepEqual(["weekli", "polici", "kubernet", "zebra"].map(worded), ["weekly", "policies", "kubernetes", "zebra"]);
});

test("words that say nothing are marked only where nothing else was asked for", () => {
  const marked = (snippet, query) => {
    const marks = [...snippet.matchAll(/\p{L}+/gu)].map((word) => {
      const start = Buffer.byteLength(snippet.slice(0, word.index));
      return [start, start + Buffer.byteLength(word[0])];
    });
    const bytes = Buffer.from(snippet);
    return marksOf({ snippet, marks }, query).map(([start, end]) => bytes.subarray(start, end).toString());
  };
  assert.deepEqual(marked("É gets distracted", "how do I stop getting distracted"), ["É", "distracted"]);
  assert.deepEqual(marked("to be or not", "to be or not to be"), ["to", "be", "or", "not"]);
  assert.deepEqual(marked("the who", '"the who"'), ["the", "who"]);
  assert.deepEqual(marksOf({ snippet: "x" }, "x"), []);
  remember("how do I stop getting distracted", [{ title: "T", snippet: "I gets distracted", marks: [[0, 1], [2, 6], [7, 17]] }]);
  assert.deepEqual(matches("What I noticed: it gets distracted").map(([start, end]) => "What I noticed: it gets distracted".slice(start, end)), ["distracted"]);
});
