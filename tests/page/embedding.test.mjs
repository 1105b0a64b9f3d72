// Embedding that can be watched, with the real model.
import { join } from "node:path";

import { assert, Desk, until } from "./harness/desk.mjs";
import { models } from "./harness/program.mjs";
import { write } from "./harness/world.mjs";

const desk = new Desk({ world: { memories: false, sessions: false }, meaning: true });

desk.test("a bar moves while notes are embedded, and then all is said to be", { skip: !models }, async (view) => {
  await view.page.goto(`${desk.server.origin}/#/status`);
  await view.ready();
  const status = view.page.locator("#status");
  await view.shows(status, /Model/);
  const { home } = desk.program;
  for (let number = 0; number < 120; number += 1) {
    await write(home, `later/${number}.md`, `# Later ${number}\n\nA quagga ${number} walked by, ${`and on day ${number} by the river `.repeat(30)}\n`);
  }
  // Words come first; vectors follow in the background of the server.
  await desk.program.run("add", join(home, "later"), "--no-semantic");
  const bar = status.getByRole("progressbar");
  const seen = new Set();
  await until(async () => {
    const value = await bar.evaluateAll(([it]) => it && [it.value, it.max]);
    if (value && value[0] < value[1]) seen.add(value[0]);
    return seen.size >= 2;
  }, 120_000, "the bar moves");
  const values = [...seen];
  assert.deepEqual(values, values.toSorted((one, other) => one - other), "it goes forward");
  await until(async () => /all [\d,]+ passages are embedded/.test(await status.innerText()), 180_000, "all is embedded");
  assert.equal(await bar.count(), 0);
});
