import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import test from "node:test";
import { gzipSync } from "node:zlib";

const folder = new URL("../../../crates/kodiak-server/page/", import.meta.url);
const names = readdirSync(folder).filter((name) => name !== "README.md");
const read = (name) => readFileSync(new URL(name, folder), "utf8");

test("every module is loaded ahead, so that none waits for another", () => {
  const html = read("index.html");
  for (const name of names) {
    if (/\.(js|css|svg)$/.test(name)) assert.ok(html.includes(`"/page/${name}"`), name);
  }
});

test("the page is small", () => {
  const sent = names.map((name) => gzipSync(read(name), { level: 9 }).length);
  const sum = sent.reduce((all, one) => all + one, 0);
  assert.ok(sum < 100_000, `${sum} bytes`);
});

test("no file is long", () => {
  for (const name of names) assert.ok(read(name).split("\n").length <= 250, name);
});

test("nothing is inline and nothing comes from elsewhere", () => {
  assert.doesNotMatch(read("index.html"), /<style|<script(?![^>]*src)| style=| on[a-z]+=|javascript:/i);
  for (const name of names.filter((it) => it.endsWith(".js"))) {
    assert.doesNotMatch(read(name), /https?:\/\/(?!www\.w3\.org\/2000\/svg)|\beval\(|insertAdjacentHTML|document\.write/, name);
    if (name !== "trusted.js") assert.doesNotMatch(read(name), /innerHTML|outerHTML/, name);
  }
  for (const name of names.filter((it) => it.endsWith(".css"))) assert.doesNotMatch(read(name), /@import|url\(/, name);
});
