import assert from "node:assert/strict";
import test from "node:test";

import { author } from "../../../crates/kodiak-server/page/author.js";

test("who wrote or said a document is worded alike for hits and cards", () => {
  assert.equal(author({ kind: "note", role: null }), null);
  assert.equal(author({ kind: "note", author: "Ana" }), "by Ana");
  assert.equal(author({ kind: "turn", role: "user", author: "user" }), "said by you");
  assert.equal(author({ kind: "turn", author: "user" }), "said by you");
  assert.equal(author({ kind: "turn", author: "assistant" }), "said by the agent");
  assert.equal(author({ kind: "turn", author: "Ana" }), "said by Ana");
  assert.equal(author({ kind: "note", author: "user" }), "by user");
});
