// A page over nothing: before the first folder is added, and while it is indexed.
import { join } from "node:path";

import { assert, Desk, until } from "./harness/desk.mjs";
import { write } from "./harness/world.mjs";

const desk = new Desk({ world: null });

desk.test("where nothing is indexed, it is said how to begin; then notes appear by themselves", async (view) => {
  await view.shows(view.nothing, "Nothing is indexed yet");
  await view.shows(view.nothing, "kodiak add");
  await view.query.fill("yak");
  await view.settled("yak");
  await view.query.fill("");
  await view.shows(view.nothing, "Nothing is indexed yet");
  const status = await desk.tab(view, "/#/status");
  await status.ready();
  await status.shows(status.page.locator("#status"), /kodiak add/);

  for (let number = 0; number < 30; number += 1) await write(desk.program.home, `notes/${number}.md`, `# Yak ${number}\n\nA yak of the herd, ${"climbing ".repeat(number)}.\n`);
  await desk.program.run("add", join(desk.program.home, "notes"));
  // Neither tab is touched.
  await view.hits.first().waitFor();
  assert.equal(await view.nothing.isVisible(), false);
  await status.shows(status.page.locator("#status"), /30 documents/);
  await until(async () => !/kodiak add/.test(await status.page.locator("#status").innerText()));
  await view.search("yak");
  assert((await view.ids()).length > 5);
});
