// Status, and indexing that can be watched.
import { join } from "node:path";

import { assert, Desk, until } from "./harness/desk.mjs";
import { write } from "./harness/world.mjs";

const desk = new Desk({});
const status = (view) => view.page.locator("#status");

async function open(view) {
  await view.page.goto(`${desk.server.origin}/#/status`);
  await view.ready();
  await view.shows(status(view), /notes/);
}

desk.test("sources are listed with counts and freshness, and lead to their notes", async (view) => {
  await open(view);
  const text = await status(view).innerText();
  for (const source of ["notes", "memory", "sessions", "claude-code"]) assert.match(text, new RegExp(`\\b${source}\\b`));
  assert.match(text, /notes\s+\d+ documents\s+indexed .* ago|just now/);
  await status(view).getByRole("link", { name: "memory" }).click();
  await view.shows(view.chips, /source: memory/);
  await until(async () => (await view.ids()).length >= 4);
});

desk.test("the list stays beside the status", async (view) => {
  await open(view);
  await view.hits.first().waitFor();
  await view.page.locator("#query").fill("ramen");
  await view.settled("ramen");
  await view.key("Escape");
  await view.page.goto(`${desk.server.origin}/#/status?q=ramen`);
  await view.settled("ramen");
});

desk.test("the model and what is embedded are said", async (view) => {
  await open(view);
  const text = await status(view).innerText();
  assert.match(text, /Model\s+There is no model: notes are found by words only\.\s+kodiak model install/);
  assert.equal(await status(view).getByRole("progressbar").count(), 0, "nothing is embedded");
});

desk.test("a folder that is added while the page is open appears by itself", async (view) => {
  await open(view);
  const { home } = desk.program;
  for (let number = 0; number < 300; number += 1) {
    await write(home, `later/${number}.md`, `# Later ${number}\n\nA quagga ${number} walked by, ${"and by ".repeat(40)}\n`);
  }
  const adding = desk.program.run("add", join(home, "later"));
  await view.shows(status(view), /later/);
  await adding;
  await view.shows(status(view), /300 documents/);
  await view.page.locator("#query").fill("quagga");
  await view.settled("quagga");
  assert((await view.ids()).length > 10);
});

desk.test("a file that changes is found without a reload", async (view) => {
  await view.search("ocelot");
  assert.doesNotMatch((await view.texts()).join("\n"), /An ocelot/);
  await write(desk.program.home, "notes/ocelot.md", "# An ocelot\n\nThe ocelot slept on the wall.\n");
  await until(async () => {
    await view.search("ocelot");
    return /An ocelot/.test((await view.texts()).join("\n"));
  }, 30_000, "the ocelot is found");
});

desk.test("a problem names the command that fixes it", async (view) => {
  const { rename } = await import("node:fs/promises");
  const { home } = desk.program;
  await rename(join(home, "records"), join(home, "records-away"));
  await desk.program.run("index").catch(() => {});
  await open(view);
  await view.page.reload();
  await view.shows(status(view), /records|sessions/);
  const problem = status(view).locator(".problems li").filter({ hasText: /sessions/ });
  await problem.first().waitFor();
  const command = await problem.first().locator(".command code").innerText();
  assert.match(command, /^kodiak (add|remove|index|doctor)\b/);
  assert.doesNotMatch(command, /FOLDER|NAME/, "it can be run as it is");
  await problem.first().getByRole("button", { name: `Copy the command ${command}` }).waitFor();
  await rename(join(home, "records-away"), join(home, "records"));
  await desk.program.run("index");
});

desk.test("events arrive as a stream, and its place is free when the connection ends", async (view) => {
  const kinds = await view.page.evaluate(async () => {
    const secret = Object.values(sessionStorage).find((value) => value.length >= 32);
    const stop = new AbortController();
    const response = await fetch("/api/events", { headers: { "Kodiak-Secret": secret }, signal: stop.signal });
    const reader = response.body.getReader();
    const { value } = await reader.read();
    stop.abort();
    // More of them than a server keeps open: each gives its place back.
    for (let round = 0; round < 150; round += 1) {
      const one = new AbortController();
      const { status } = await fetch("/api/events", { headers: { "Kodiak-Secret": secret }, signal: one.signal });
      one.abort();
      if (status !== 200) return [status, `in round ${round}`, ""];
    }
    return [response.status, response.headers.get("content-type"), new TextDecoder().decode(value)];
  });
  assert.equal(kinds[0], 200);
  assert.match(kinds[1], /text\/event-stream/);
  assert.match(kinds[2], /^(event: |:)/m);
});
