import assert from "node:assert/strict";
import test from "node:test";

import { codeIn, format, isFiltered, parse, requested, sameList, start } from "../../../crates/kodiak-server/page/address.js";

test("a search is read and written", () => {
  const place = parse("#/?q=sleep+%26+tea&tag=a&tag=b&source=notes&after=7d");
  assert.equal(place.view, "search");
  assert.equal(place.query, "sleep & tea");
  assert.deepEqual(place.filters.tag, ["a", "b"]);
  assert.equal(place.filters.after, "7d");
  assert.deepEqual(parse(format(place)), place);
});

test("a note keeps its line and the query beside it", () => {
  const place = parse("#/note/44ba39?line=12&q=tea");
  assert.deepEqual([place.view, place.id, place.line, place.query], ["note", "44ba39", 12, "tea"]);
  assert.equal(format(place), "#/note/44ba39?line=12&q=tea");
});

test("ids with any character survive", () => {
  for (const id of ["a/b c", "notes/ü?#&.md", "100%", "京都"]) {
    const place = { ...start("note"), id };
    assert.equal(parse(format(place)).id, id);
  }
});

test("what cannot be read is a search without words", () => {
  for (const text of ["", "#", "#/", "#/nowhere", "#/note", "#code=abc", "#/?line=-3", "#/%E0%A4%A"]) {
    const place = parse(text);
    assert.equal(place.view, "search", text);
    assert.equal(place.line, null);
  }
  assert.equal(parse("#/note/%E0%A4%A").id, "%E0%A4%A");
});

test("a note opened from the timeline lists the same as the timeline", () => {
  const timeline = parse("#/timeline?tag=a");
  const note = { ...timeline, view: "note", id: "1", in: "timeline" };
  assert.equal(parse(format(note)).in, "timeline");
  assert.ok(sameList(timeline, note));
  assert.ok(!sameList(timeline, parse("#/?tag=a")));
  assert.ok(sameList(parse("#/?q=x"), parse("#/note/1?q=x&line=3")));
});

test("requests have the filters that are set", () => {
  const { filters } = parse("#/?kind=note&before=2026-01");
  assert.deepEqual(requested(filters), { kinds: ["note"], before: "2026-01" });
  assert.ok(isFiltered(filters));
  assert.ok(!isFiltered(start().filters));
});

test("the exact words are a part of the address as long as there are words", () => {
  const place = parse("#/?q=sourdoh&exact=");
  assert.equal(place.exact, true);
  assert.deepEqual(parse(format(place)), place);
  assert.equal(parse("#/?exact=").exact, undefined);
  assert(!sameList(place, parse("#/?q=sourdoh")));
});

test("the code of a sign-in link is found, whatever it is", () => {
  assert.equal(codeIn("#code=abc"), "abc");
  assert.equal(codeIn("#code=a%2Fb"), "a/b");
  for (const broken of ["%E0", "%", "%E0%A4%A"]) assert.equal(codeIn(`#code=${broken}`), broken);
  for (const none of ["", "#", "#/", "#/?q=code=1", "#code="]) assert.equal(codeIn(none), null);
});
