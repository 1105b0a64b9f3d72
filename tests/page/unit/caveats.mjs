import assert from "node:assert/strict";
import test from "node:test";

import { notices, uncertainty } from "../../../crates/kodiak-server/page/caveats.js";

const hits = [{ id: "1" }];

test("an uncertain answer has the sentence of the terminal above its hits", () => {
  const answer = {
    hits,
    notices: ['nothing contains "xylophone"; the hits are closest in meaning', "1 note was left out: its file no longer exists"],
    notice_codes: ["relevance-unknown", "uncertain", "documents-gone"],
  };
  assert.equal(uncertainty(answer), 'Nothing contains "xylophone"; closest in meaning:');
  assert.deepEqual(notices(answer), ["1 note was left out: its file no longer exists"]);
  assert.equal(uncertainty({ ...answer, hits: [] }), null);
  assert.equal(uncertainty({ hits }), null);
});

test("what explains why nothing was found is not said beside good hits", () => {
  const answer = { hits, relevant: 1, notices: ["81 % is embedded", "the model is busy"], notice_codes: ["partly-embedded", "semantic-busy"] };
  assert.deepEqual(notices(answer), ["the model is busy"]);
  assert.equal(notices({ ...answer, relevant: 0 }).length, 2);
});

test("reasons without a sentence are worded once", () => {
  const answer = { hits, notices: [], notice_codes: [], incomplete: ["changes-not-looked-for", "x", "y"] };
  assert.deepEqual(notices(answer), ["not all changes were checked for", "something may be missing"]);
});
