// Reading a note beside the list.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { assert, Desk, until } from "./harness/desk.mjs";
import { read, write } from "./harness/world.mjs";

const LONG = `# A long log\n\n${Array.from({ length: 9000 }, (_, day) => `## Day ${day}\n\nNothing of note on day ${day}.${day === 6000 ? " Except the periwinkle." : ""}\n`).join("\n")}`;
const desk = new Desk({ world: { extra: { "notes/long.md": LONG } } });

/** Reports whether an element is within what the pane shows. */
const inView = (locator) =>
  locator.evaluate((it) => {
    const { top, bottom } = it.getBoundingClientRect();
    return bottom > 0 && top < innerHeight;
  });

desk.test("a hit opens at its line, with the words marked", async (view) => {
  await view.search("tracking outage cache stampede");
  const id = (await view.ids())[0];
  await view.hits.first().click();
  await view.body.waitFor();
  assert.match(view.address(), new RegExp(`^/#/note/${id}\\?`));
  const marks = view.body.locator("mark");
  await marks.first().waitFor();
  const line = Number(new URLSearchParams(view.address().split("?")[1]).get("line"));
  assert(line > 1, `the hit is at line ${line}`);
  {
    const blocks = await view.body.locator("[data-line]").evaluateAll((all) => all.map((it) => Number(it.dataset.line)));
    const at = Math.max(...blocks.filter((own) => own <= line));
    assert(await inView(view.body.locator(`[data-line="${at}"]`).first()));
  }
  // The keys go from mark to mark.
  await view.key("m");
  await view.body.locator("mark.present").waitFor();
  assert(await inView(view.body.locator("mark.present")));
});

for (const [how, act] of [["reloaded", (view) => view.page.reload()], ["shared", null]]) {
  desk.test(`the words are marked in a note that is ${how}, however late they are found`, async (first) => {
    await first.search("periwinkle");
    await first.hits.first().click();
    await first.body.locator("mark", { hasText: "periwinkle" }).waitFor();
    const view = act ? first : await desk.tab(first);
    let release;
    const held = new Promise((resolve) => (release = resolve));
    await view.page.route("**/api/search", async (route) => {
      await held;
      await route.continue().catch(() => {});
    });
    if (act) await act(view);
    else await view.page.goto(first.page.url());
    await view.reading("A long log");
    await view.body.waitFor();
    assert.equal(await view.body.locator("mark").count(), 0);
    release();
    const mark = view.body.locator("mark", { hasText: "periwinkle" });
    await mark.waitFor();
    assert(await inView(mark));
    await view.reader.locator(".stepper").waitFor();
  });
}

desk.test("words that are found late move no one who reads elsewhere", async (view) => {
  await view.search("periwinkle");
  await view.hits.first().click();
  await view.body.locator("mark", { hasText: "periwinkle" }).waitFor();
  let release;
  const held = new Promise((resolve) => (release = resolve));
  await view.page.route("**/api/search", async (route) => {
    await held;
    await route.continue().catch(() => {});
  });
  await view.page.reload();
  await view.reading("A long log");
  await view.body.waitFor();
  await view.page.waitForTimeout(300);
  await view.reader.hover();
  await view.page.mouse.wheel(0, 1500);
  await view.page.waitForTimeout(300);
  const top = await view.reader.evaluate((pane) => pane.scrollTop);
  release();
  await view.body.locator("mark").first().waitFor({ state: "attached" });
  assert(Math.abs((await view.reader.evaluate((pane) => pane.scrollTop)) - top) < 5);
});

desk.test("words are marked in the parts that are added, too", async (view) => {
  await view.search('"nothing of note"');
  await view.hit("A long log").first().click();
  const marks = view.body.locator("mark");
  await marks.first().waitFor();
  const [before, counted] = [await marks.count(), await view.reader.locator(".stepper .value").innerText()];
  await view.reader.getByRole("button", { name: /Show more/ }).click();
  await until(async () => (await marks.count()) > before);
  assert.notEqual(await view.reader.locator(".stepper .value").innerText(), counted);
});

desk.test("a note of the start page has no marks of a former search", async (view) => {
  await view.search("bonito");
  await view.open("Ramen broth");
  await view.body.locator("mark").first().waitFor();
  await view.page.goto(`${desk.server.origin}/#/`);
  await view.settled("");
  await view.hit("Ramen broth").first().click();
  await view.reading("Ramen broth");
  await view.page.waitForTimeout(200);
  assert.equal(await view.body.locator("mark").count(), 0);
});

desk.test("Markdown is rendered, and frontmatter is a table", async (view) => {
  await view.search("terrace in May");
  await view.open("A terrace in May");
  assert.deepEqual(await view.body.locator("h2").allInnerTexts(), ["Along the rail", "In the corner"]);
  assert.equal(await view.body.locator("table tbody tr").count(), 3);
  const boxes = view.body.getByRole("checkbox");
  assert.equal(await boxes.count(), 3);
  assert.equal(await boxes.first().isChecked(), true);
  assert.equal(await boxes.first().isDisabled(), true);
  const fields = view.reader.locator("table.fields");
  assert.match(await fields.innerText(), /light\s+half shade/);
  // All of it is there: frontmatter is no part that could be missing.
  assert.equal(await view.reader.getByRole("button", { name: /comes before|Show more/ }).count(), 0);
  assert.deepEqual(await view.page.locator("h1:visible").allInnerTexts(), ["A terrace in May"]);
  const link = view.body.getByRole("link", { name: "list of plants" });
  assert.equal(await link.getAttribute("href"), "https://plants.example/half-shade");
  assert.match(await link.getAttribute("rel"), /noopener/);
});

desk.test("code is text in its language", async (view) => {
  await view.search("SQLite WAL mode");
  await view.open("SQLite WAL mode");
  const code = view.body.locator("pre code");
  assert.match(await code.first().innerText(), /PRAGMA journal_mode = WAL;/);
  assert.match(await code.first().getAttribute("class"), /language-sql/);
});

desk.test("images inside the source are shown, and no others", async (view) => {
  await view.search("terrace in May");
  await view.open("A terrace in May");
  const images = view.body.locator("img");
  await until(() => images.evaluateAll((all) => all.length === 2 && all.every((it) => it.complete && it.naturalWidth > 0)));
  assert.equal(await images.first().getAttribute("alt"), "The terrace, seen from the kitchen");
  for (const source of await images.evaluateAll((all) => all.map((it) => it.src))) assert.match(source, /^(blob:|data:image\/svg\+xml)/);
  assert.equal(await images.nth(1).evaluate((it) => it.naturalWidth), 48);
});

desk.test("links are followed within the page, and Back leads back", async (view) => {
  await view.search("terrace in May");
  await view.open("A terrace in May");
  const query = view.address().split("?")[1];
  await view.body.getByRole("link", { name: "the balcony in Berlin" }).click();
  await view.reading(/Balkon/);
  assert.match(view.address(), /q=terrace/);
  await view.page.goBack();
  await view.reading("A terrace in May");
  assert.equal(view.address().split("?")[1], query);
  await view.body.getByRole("link", { name: "Weekly review checklist" }).click();
  await view.reading("Weekly review checklist");
  await view.beside("Links").getByRole("link", { name: "GTD methodology" }).first().click();
  await view.reading("GTD methodology");
  const back = view.beside("Backlinks").getByRole("link", { name: "Bullet journal" });
  await back.waitFor();
  await back.click();
  await view.reading("Bullet journal");
  // A link to a note that is not there looks and says so.
  await view.search("A template for moving checklist");
  await view.open("Template placeholders");
  const broken = view.body.locator(".broken");
  assert.equal(await broken.first().innerText(), "Moving checklist");
  assert.equal(await view.body.getByRole("link", { name: "Moving checklist" }).count(), 0);
});

desk.test("similar notes are beside it", async (view) => {
  await view.search("deep work");
  await view.open("Deep work");
  const similar = view.beside("Similar");
  await similar.getByRole("link").first().waitFor();
  assert((await similar.getByRole("link").count()) >= 2);
});

desk.test("a long note arrives in part, around the line that was found", async (view) => {
  await view.search("periwinkle");
  await view.hits.first().click();
  await view.body.locator("mark", { hasText: "periwinkle" }).waitFor();
  assert(await inView(view.body.locator("mark").first()));
  assert.equal(await view.reader.getByRole("button", { name: /what comes before/ }).count(), 1);
  const blocks = () => view.body.locator("h2").count();
  const before = await blocks();
  assert(before < 9000);
  await view.reader.getByRole("button", { name: /Show more/ }).click();
  await until(async () => (await blocks()) > before);
  // Every day is there once.
  const days = await view.body.locator("h2").allTextContents();
  assert.equal(new Set(days).size, days.length);
  const numbers = days.map((day) => Number(day.slice(4)));
  assert(numbers.every((number, at) => at === 0 || number === numbers[at - 1] + 1));
});

desk.test("a note that changes while it is read says so, and stays in place", async (view) => {
  const file = await write(desk.program.home, "notes/living.md", `# A living note\n\n${"A calm paragraph.\n\n".repeat(80)}The end of it.\n`);
  await desk.program.run("index");
  await view.search("living note");
  await view.open("A living note");
  await view.reader.evaluate((pane) => (pane.scrollTop = 600));
  const text = await read(desk.program, "notes/living.md");
  await writeFile(file, text.replace("The end of it.", "A new end, with an umbrella."));
  // A search in another process indexes the change; the page hears of it.
  await desk.program.run("index");
  const notice = view.reader.getByText(/changed/).first();
  await view.reader.locator("#changed").waitFor();
  assert(await notice.isVisible());
  assert.doesNotMatch(await view.body.innerText(), /umbrella/);
  await view.reader.locator("#changed button").click();
  await view.shows(view.body, /umbrella/);
  assert(Math.abs((await view.reader.evaluate((pane) => pane.scrollTop)) - 600) < 80);
  await view.reader.locator("#changed").waitFor({ state: "detached" });
});

desk.test("a note that an editor saves while it is read says so by itself", async (view) => {
  const file = await write(desk.program.home, "notes/saved.md", "# A saved note\n\nThe first words.\n");
  await desk.program.run("index");
  await view.search("saved note first words");
  await view.open("A saved note");
  // Nothing is searched for and nothing is indexed by anyone else.
  await writeFile(file, "# A saved note\n\nThe second words, with an umbrella.\n");
  await view.reader.locator("#changed button").waitFor();
  await view.reader.locator("#changed button").click();
  await view.shows(view.body, /umbrella/);
});

/** Hides a tab or shows it, as a window that covers it does. */
const hide = ({ page }, hidden) => page.evaluate((hidden) => {
  Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
  Object.defineProperty(document, "visibilityState", { configurable: true, get: () => (hidden ? "hidden" : "visible") });
  document.dispatchEvent(new Event("visibilitychange"));
}, hidden);

desk.test("a tab that was hidden catches up when it is shown: note and list", async (view) => {
  const file = await write(desk.program.home, "notes/covered.md", "# A covered note\n\nThe first words of a tapir.\n");
  await desk.program.run("index");
  await view.search("tapir");
  await view.open("A covered note");
  const events = view.page.waitForEvent("requestfailed", (request) => request.url().endsWith("/api/events"));
  await hide(view, true);
  await events;
  await writeFile(file, "# A covered note\n\nThe second words, with an umbrella and a tapir.\n");
  await write(desk.program.home, "notes/second.md", "# Another tapir\n\nIt came while the tab was hidden.\n");
  await desk.program.run("index");
  assert.equal(await view.reader.locator("#changed").count(), 0);
  await hide(view, false);
  await view.reader.locator("#changed button").waitFor();
  await view.hit("Another tapir").first().waitFor();
  await view.reader.locator("#changed button").click();
  await view.shows(view.body, /umbrella/);
});

desk.test("a note that goes away while it is read leaves a page that goes on", async (view) => {
  const { rm } = await import("node:fs/promises");
  const file = await write(desk.program.home, "notes/passing.md", "# A passing note\n\nHere for a moment.\n");
  await desk.program.run("index");
  await view.search("passing note");
  await view.open("A passing note");
  view.watch.allow(/status of 4\d\d/);
  await rm(file);
  await desk.program.run("index");
  // While it is read, its last text stays, and the page says so.
  await view.shows(view.reader.locator("#changed"), /moved or deleted/);
  assert(await view.body.isVisible());
  await view.page.reload();
  await view.ready();
  await view.shows(view.reader, /Document not found/);
  await view.key("Escape");
  await view.search("ramen");
  assert((await view.ids()).length > 0);
});

desk.test("right-to-left text and CJK are set well", async (view) => {
  await view.search("مراكش");
  await view.hits.first().click();
  await view.body.waitFor();
  const title = view.reader.getByRole("heading", { level: 1 });
  assert.equal(await title.evaluate((it) => getComputedStyle(it).direction), "rtl");
  assert.equal(await view.body.locator("p").first().evaluate((it) => getComputedStyle(it).direction), "rtl");
  // Letters that join are not set apart, and what is beside keeps its direction.
  assert.match(await title.evaluate((it) => getComputedStyle(it).letterSpacing), /^(normal|0px)$/);
  assert.equal(await view.reader.locator(".actions").evaluate((it) => getComputedStyle(it).direction), "ltr");
  const [row, page] = await Promise.all([view.hits.first().locator(".row-title"), title].map((it) => it.evaluate((it) => {
    const range = document.createRange();
    range.selectNodeContents(it);
    const { right } = range.getBoundingClientRect();
    return it.getBoundingClientRect().right - right;
  })));
  assert(row < 4 && page < 4, "it begins at the right");
  await view.search("餅を食べて踊る");
  await view.hits.first().click();
  // The note before it is there until this one has come.
  await until(async () => /[餅食踊]/.test((await view.body.locator("mark").allInnerTexts()).join()));
  const marks = await view.body.locator("mark").allInnerTexts();
  for (const mark of marks) assert("餅を食べて踊る".includes(mark), mark);
  const { lineBreak, overflow } = await view.body.evaluate((it) => ({ lineBreak: getComputedStyle(it).lineBreak, overflow: it.scrollWidth - it.clientWidth }));
  assert.deepEqual({ lineBreak, overflow }, { lineBreak: "strict", overflow: 0 });
});

desk.test("id and path are copied", { permissions: ["clipboard-read", "clipboard-write"] }, async (view) => {
  await view.search("deep work");
  await view.open("Deep work");
  await view.reader.getByRole("button", { name: "Copy id" }).click();
  await view.shows(view.toasts, /copied/);
  const id = await view.page.evaluate(() => navigator.clipboard.readText());
  assert(view.address().includes(id));
  await view.reader.getByRole("button", { name: "Copy path" }).click();
  await until(async () => /deep-work\.md$/.test(await view.page.evaluate(() => navigator.clipboard.readText())));
});

desk.test("Back, Forward and reload lead to where a note was read", async (view) => {
  const top = () => view.reader.evaluate((pane) => pane.scrollTop);
  await view.search("parcel tracking outage");
  await view.open("Postmortem");
  await view.reader.hover();
  await view.page.mouse.wheel(0, 900);
  await until(async () => (await top()) > 800);
  await view.page.waitForTimeout(400);
  const before = await top();
  const link = view.reader.locator(".beside a[data-id]").first();
  await link.waitFor();
  const name = await link.innerText();
  await link.evaluate((it) => it.click());
  await view.reading(name);
  await view.page.goBack();
  await view.reading("Postmortem");
  await until(async () => Math.abs((await top()) - before) < 5, 5000, "it is where it was read");
  await view.page.goForward();
  await view.reading(name);
  assert((await top()) < 300, "another note begins where its line is");
  await view.page.goBack();
  await view.reading("Postmortem");
  await view.page.waitForTimeout(400);
  await view.page.reload();
  await view.ready();
  await view.reading("Postmortem");
  await until(async () => Math.abs((await top()) - before) < 5, 5000, "it is where it was read");
});

desk.test("the empty pane follows the status", async (view) => {
  await view.key("Tab");
  await view.page.locator("#go-status").click();
  await view.page.locator("#status").waitFor();
  await view.page.goto(`${desk.server.origin}/#/`);
  await view.page.locator(".welcome").waitFor();
  assert.equal(await view.page.locator("#status").count(), 0);
});
