import assert from "node:assert/strict";
import test from "node:test";

import { beyond, converted, pieces } from "../../../crates/kodiak-server/page/bytes.js";

/// Returns the marks of all occurrences of a word, in bytes.
function marksOf(text, word) {
  const bytes = (part) => new TextEncoder().encode(part).length;
  const marks = [];
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const start = bytes(text.slice(0, at));
    marks.push([start, start + bytes(word)]);
  }
  return marks;
}

test("marks in any script are found", () => {
  const cases = [
    ["no caffeine after one", "after"],
    ["Größe und Maß: Größe", "Größe"],
    ["龍安寺の石庭は、石庭である", "石庭"],
    ["🐻 bear 🐻🏔 bear", "bear"],
    ["🐻🏔", "🏔"],
    ["خبز الطابون خبز", "خبز"],
  ];
  for (const [text, word] of cases) {
    const marked = pieces(text, marksOf(text, word)).filter(([, isMarked]) => isMarked);
    assert.ok(marked.length > 0);
    assert.ok(marked.every(([part]) => part === word), text);
    assert.equal(pieces(text, marksOf(text, word)).map(([part]) => part).join(""), text);
  }
});

test("marks that make no sense lose no text", () => {
  for (const marks of [[[5, 2]], [[0, 400]], [[2, 4], [1, 3]], [[1, 2]], [[0, 0]], [[-1, 2]]]) {
    assert.equal(pieces("äöü test", marks).map(([part]) => part).join(""), "äöü test");
  }
  assert.deepEqual(pieces("", []), []);
});

test("the end of the text is a place", () => {
  assert.deepEqual(converted("aé", [[1, 3]]), [[1, 2]]);
});

test("the first units of pieces can be left out", () => {
  const all = [["one ", false], ["two", true], [" three", false]];
  assert.deepEqual(beyond(all, 0), all);
  assert.deepEqual(beyond(all, 4), [["two", true], [" three", false]]);
  assert.deepEqual(beyond(all, 5), [["wo", true], [" three", false]]);
  assert.deepEqual(beyond(all, 13), []);
});
