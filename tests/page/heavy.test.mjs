// Notes that are huge in one way or another do not freeze the page. A freeze is one long
// task, and how long a task may be depends on the machine and on what else it does: it is
// compared with a piece of work of a known size that is measured just before, in the same
// page. That what is shown of a note is bounded is counted in elements.
import { assert, Desk, until } from "./harness/desk.mjs";
import { heavy } from "./harness/hostile.mjs";

const notes = heavy();
const desk = new Desk({ world: { memories: false, sessions: false, extra: notes } });
/**
 * The longest task, in times the building and laying out of 2,000 paragraphs. That is more
 * than a screen, and far less than the 100,000 elements that a page without bounds builds.
 */
const MOST_TASK = 12;
/** The most elements that the page may have. */
const MOST_ELEMENTS = 60_000;

/** Records tasks that hold the page up. */
const WATCH = () => {
  window.tasks = [];
  new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map((it) => it.duration))).observe({ type: "longtask", buffered: true });
};

/** Returns how long a known piece of work takes now, as the middle of three tries. */
const unit = ({ page }) =>
  page.evaluate(async () => {
    const times = [];
    for (let round = 0; round < 3; round += 1) {
      const began = performance.now();
      const box = document.createElement("div");
      for (let number = 0; number < 2000; number += 1) {
        const paragraph = document.createElement("p");
        paragraph.textContent = `Paragraph ${number} of a text that is long enough for a line or two, and says nothing.`;
        box.append(paragraph);
      }
      document.body.append(box);
      void box.offsetHeight;
      times.push(performance.now() - began);
      box.remove();
      await new Promise((done) => setTimeout(done, 20));
    }
    window.tasks.length = 0;
    return times.sort((one, other) => one - other)[1];
  });

/** Compares the longest task since `unit` was measured with it. */
const stretched = async (view, context, name, before) => {
  const { tasks, elements } = await view.page.evaluate(() => ({ tasks: window.tasks, elements: document.querySelectorAll("*").length }));
  // Something else may have begun on the machine: the longer unit counts.
  const length = Math.max(before, await unit(view));
  const longest = Math.max(0, ...tasks);
  context.diagnostic(`${name}: longest task ${Math.round(longest)} ms, ${(longest / length).toFixed(1)} units of ${Math.round(length)} ms, ${elements} elements`);
  assert(longest < MOST_TASK * length, `a task of ${Math.round(longest)} ms, where ${Math.round(length)} ms is a unit`);
  assert(elements < MOST_ELEMENTS, `${elements} elements`);
};

for (const path of Object.keys(notes)) {
  const name = path.split("/").pop().replace(".md", "");
  desk.test(`${name} is read without freezing the page`, { init: WATCH }, async (view, context) => {
    const found = await desk.program.json("get", path);
    const { id, title } = found.documents?.[0] ?? found;
    const before = await unit(view);
    await view.page.goto(`${desk.server.origin}/#/note/${id}`);
    await view.reading(title);
    await view.body.waitFor();
    // What is beside it has arrived or failed, and the page has come to rest.
    await view.page.waitForLoadState("networkidle", { timeout: 5000 }).catch(() => {});
    await view.page.waitForTimeout(200);
    await stretched(view, context, name, before);
    assert.equal(await view.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, "it scrolls sideways");
    // Going back and searching work as ever.
    await view.key("Escape");
    await view.search("ramen");
    assert((await view.ids()).length > 0);
  });
}

desk.test("a list of heavy notes is as quick as any other", { init: WATCH }, async (view, context) => {
  const before = await unit(view);
  // Sixteen huge notes are read for their sentences.
  view.context.setDefaultTimeout(120_000);
  await view.query.fill("heavyweight");
  await view.settled("heavyweight");
  await until(async () => (await view.ids()).length >= 10);
  for (const text of await view.texts()) assert(text.length < 2000, `a row of ${text.length} characters`);
  await stretched(view, context, "list", before);
});

desk.test("the timeline and a huge query are as well", { init: WATCH }, async (view, context) => {
  const before = await unit(view);
  await view.query.fill("heavy ".repeat(1600));
  await view.page.waitForTimeout(500);
  await view.page.goto(`${desk.server.origin}/#/timeline`);
  await view.ready();
  await view.hits.first().waitFor();
  await stretched(view, context, "timeline", before);
});

desk.test("a task that freezes the page is seen", { init: WATCH }, async (view, context) => {
  const before = await unit(view);
  await view.page.evaluate(() => setTimeout(() => {
    const box = document.createElement("div");
    for (let number = 0; number < 60_000; number += 1) {
      const paragraph = document.createElement("p");
      paragraph.textContent = `Paragraph ${number} of a text that is long enough for a line or two, and says nothing.`;
      box.append(paragraph);
    }
    document.body.append(box);
    void box.offsetHeight;
    box.remove();
  }));
  await until(() => view.page.evaluate(() => window.tasks.length > 0));
  await assert.rejects(stretched(view, context, "freeze", before), /a task of/);
});

desk.test("a huge table is shown in parts, around the line that was found", async (view) => {
  const found = await desk.program.json("get", "notes/heavy/table.md");
  const { id } = found.documents?.[0] ?? found;
  await view.page.goto(`${desk.server.origin}/#/note/${id}?line=700`);
  await view.reading("A huge table");
  const rows = view.body.locator("tbody tr");
  await rows.first().waitFor();
  const lines = () => rows.evaluateAll((all) => all.map((it) => Number(it.dataset.line)));
  const before = await lines();
  assert(before.length < 400 && before.includes(700), `${before.length} rows from ${before[0]}`);
  await view.body.getByRole("button", { name: /later rows/ }).first().click();
  await view.body.getByRole("button", { name: /earlier rows/ }).first().click();
  const after = await lines();
  assert(after.length > before.length * 1.5);
  assert(after.every((line, at) => at === 0 || line === after[at - 1] + 1), "every row is there once, in order");
});
