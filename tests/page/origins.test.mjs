// What other web pages can do to a person who is signed in: nothing. Another port of the
// same host counts as the same site to a browser, so its requests carry the cookie.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { after, before } from "node:test";
import { fileURLToPath } from "node:url";

import { assert, Desk, until } from "./harness/desk.mjs";

const desk = new Desk({ serve: ["--allow-write"], world: { memories: false, sessions: false } });
const ATTACK = new URL("harness/attack.html", import.meta.url);

let other;
const sites = {};
before(async () => {
  const page = await readFile(ATTACK);
  // `localhost` is another host and so another site; 127.0.0.1 is the same site.
  other = createServer((_, response) => {
    response.writeHead(200, { "Content-Type": "text/html" });
    response.end(page);
  });
  await new Promise((resolve) => other.listen(0, "127.0.0.1", resolve));
  const { port } = other.address();
  sites["another port"] = `http://127.0.0.1:${port}`;
  sites["another site"] = `http://localhost:${port}`;
});
after(() => other.close());

/** Returns what the server holds: another page must not change it. */
async function held() {
  const status = await desk.program.json("status");
  const pages = await desk.program.run("search", "intruder", "-n", "50").catch(() => "");
  return { notes: status.documents ?? status.notes, intruder: /intruder note/i.test(pages) };
}

for (const where of ["another port", "another site"]) {
  for (const signedIn of [true, false]) {
    const who = signedIn ? "signed in" : "a stranger";
    desk.test(`${where}, ${who}: nothing is read and nothing written`, { signIn: signedIn }, async (view) => {
      const before = await held();
      const target = desk.server.origin;
      const id = (await desk.program.json("search", "ramen broth")).hits[0].id;
      const attacker = await desk.tab(view);
      attacker.watch.allow(/./);
      const carried = [];
      attacker.page.on("request", async (request) => {
        const headers = await request.allHeaders().catch(() => ({}));
        if (headers.cookie?.includes("kodiak-")) carried.push(request.url());
      });
      await attacker.page.goto(`${sites[where]}/#${encodeURIComponent(JSON.stringify({ target, id }))}`);
      const report = await until(() => attacker.page.evaluate(() => window.report), 60_000, "a report");
      // The attack is worth something only if every way was tried.
      assert(report.tried.length >= 20, JSON.stringify(report.tried));
      assert.deepEqual(report.read, [], "another page could read");
      assert.deepEqual(report.leaked, [], "another page learnt something");
      assert.deepEqual(await held(), before, "another page could write");
      if (signedIn && where === "another port") {
        assert(carried.length > 0, "the browser sends the cookie to another port: else this tests nothing");
      }
      if (signedIn) {
        // The person is still signed in.
        await view.search("ramen");
        assert((await view.ids()).length > 0);
      }
    });
  }
}

desk.test("the attack would be noticed: from the page's own address, it reads the page", async (view) => {
  const target = desk.server.origin;
  const attacker = await desk.tab(view);
  attacker.watch.allow(/./);
  await attacker.page.route(`${target}/attack`, (route) => route.fulfill({ path: fileURLToPath(ATTACK) }));
  await attacker.page.goto(`${target}/attack#${encodeURIComponent(JSON.stringify({ target, id: "x" }))}`);
  const report = await until(() => attacker.page.evaluate(() => window.report), 60_000, "a report");
  assert(report.read.some((it) => it.startsWith("fetch / include")), JSON.stringify(report.read));
  assert(report.leaked.some((it) => it.startsWith("img") || it.startsWith("link")) || report.read.length > 1);
});

desk.test("the page is shown in no frame", async (view) => {
  const response = await view.page.request.get(desk.server.origin);
  const policy = response.headers()["content-security-policy"];
  assert.match(policy, /frame-ancestors 'none'/);
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /unsafe|\*/);
});

desk.test("the cookie is out of reach of scripts and works nowhere by itself", async (view) => {
  assert.equal(await view.page.evaluate(() => document.cookie), "");
  const [cookie] = (await view.context.cookies()).filter(({ name }) => name.startsWith("kodiak"));
  assert.equal(cookie.name, `kodiak-${desk.server.port}`);
  assert(cookie.httpOnly && cookie.sameSite === "Strict");
  const headers = { Cookie: `${cookie.name}=${cookie.value}` };
  const { origin } = desk.server;
  const ask = async (path, options = {}) => (await fetch(origin + path, options)).status;
  assert.equal(await ask("/api/status", { headers }), 401);
  assert.equal(await ask("/api/status", { headers: { ...headers, "Kodiak-Secret": "0".repeat(64) } }), 401);
  const secret = Object.values(await view.page.evaluate(() => ({ ...sessionStorage }))).find(
    (value) => value.length >= 32,
  );
  assert.equal(await ask("/api/status", { headers: { "Kodiak-Secret": secret } }), 401);
  const both = { ...headers, "Kodiak-Secret": secret };
  assert.equal(await ask("/api/status", { headers: both }), 200);
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
  const json = { ...both, "Content-Type": "application/json", Accept: "application/json, text/event-stream" };
  assert.equal(await ask("/mcp", { method: "POST", headers: json, body }), 401);
  for (const foreign of [sites["another port"], sites["another site"], "null", "https://evil.example"]) {
    const status = await ask("/api/status", { headers: { ...both, Origin: foreign } });
    assert.equal(status, 403, foreign);
  }
});
