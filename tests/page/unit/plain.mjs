import assert from "node:assert/strict";
import test from "node:test";

import { plain } from "../../../crates/kodiak-server/page/plain.js";

test("signs of Markdown become plain text", () => {
  for (const [text, expected] of [
    ["- [x] Four boxes with herbs", "☑ Four boxes with herbs"],
    ["[x] Getting Things Done [ ] Deep Work", "☑ Getting Things Done ☐ Deep Work"],
    ["* Daily - Wash by hand", "Daily – Wash by hand"],
    ["Herbs. * Thyme * Sage", "Herbs. Thyme · Sage"],
    ["seen ![The terrace, seen from the kitchen](pictures/terrace.svg) once", "seen The terrace, seen from the kitchen once"],
    ["this time. ![The terrace, seen from the…", "this time. The terrace, seen from the…"],
    ["see [the list](https://plants.example/a \"b\") and [[Deep work]] or [[notes/a|that]]", "see the list and Deep work or that"],
    ["## Along the rail", "Along the rail"],
    ["it is **very** good", "it is very good"],
    ["`VACUUM INTO` copies a database", "VACUUM INTO copies a database"],
    ["what I learnt after dark.…", "what I learnt after dark. …"],
    ["what I learnt after…", "what I learnt after…"],
  ]) assert.equal(plain(text), expected);
});

test("what is no Markdown stays", () => {
  for (const text of ["a[0] = b[1] * c", "2 * 3", "well-known - or not".replace(" - ", " – "), "C# and F#", "x[x]", "snake_case_name", "a -> b", "-5 degrees", "array[x] (see below)", ""]) {
    const expected = text === "2 * 3" ? "2 · 3" : text === "a[0] = b[1] * c" ? "a[0] = b[1] · c" : text;
    assert.equal(plain(text), expected);
  }
});
