import assert from "node:assert/strict";
import test from "node:test";

import { aboveLine, folded } from "../../../crates/kodiak-server/page/order.js";

const hits = (...ids) => ids.map((id) => ({ id }));
const ids = (all) => all.map(({ id }) => id).join("");

test("a list that was not touched takes the better order", () => {
  assert.equal(ids(folded(hits("a", "b"), hits("b", "c"), false)), "bc");
  assert.equal(ids(folded([], hits("b", "c"), true)), "bc");
});

test("rows of a touched list stay where they are", () => {
  const shown = folded(hits("a", "b", "c"), [{ id: "c", relevance: 1 }, { id: "d" }], true);
  assert.equal(ids(shown), "abcd");
  assert.equal(shown[2].relevance, 1);
});

test("no list is longer than it may be", () => {
  const many = Array.from({ length: 80 }, (_, at) => ({ id: String(at) }));
  assert.equal(folded([], many, false).length, 50);
  assert.equal(folded(many, hits("x"), true).length, 80);
});

test("the line is below the hits that are probably relevant", () => {
  const scored = (...all) => all.map((relevance) => ({ relevance }));
  assert.equal(aboveLine(scored(0.9, 0.1, 0.01), 2), 2);
  assert.equal(aboveLine(scored(0.9, 0.2), 2), null, "all are above");
  assert.equal(aboveLine(scored(0.9, 0.01, 0.2), 2), null, "they are mixed");
  assert.equal(aboveLine(scored(0.9, 0.01), 0), null, "none is");
  assert.equal(aboveLine([{}, {}], undefined), null, "it is not known");
});
