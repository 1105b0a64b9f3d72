// Searching as one types.
import { assert, Desk, until } from "./harness/desk.mjs";
import { models } from "./harness/program.mjs";
import { write } from "./harness/world.mjs";

const desk = new Desk({ meaning: true });
const first = async (view) => (await view.texts())[0];

desk.test("hits appear while a word is typed, with the words marked", async (view) => {
  await view.search("ramen");
  assert.match(await first(view), /^(Less likely: )?Ramen broth/);
  const row = view.hits.first();
  assert.match(await row.innerText(), /notes\s+cooking\/ramen-broth\.md/);
  assert.match(await row.innerText(), /#soup/);
  assert.match(await row.locator("time").innerText(), /ago|just now/);
  await view.search("bonito");
  assert.deepEqual(await view.hits.first().locator("mark").allInnerTexts(), ["bonito"]);
  assert.match(await view.announcer.innerText(), /^\d+ results?/);
});

desk.test("who wrote a note is said in its row, if that is known", async (view) => {
  await view.page.route("**/api/search", async (route) => {
    const response = await route.fetch();
    const answer = await response.json();
    if (answer.hits[0]) answer.hits[0].author = "Ana <b>Núñez</b>";
    return route.fulfill({ response, json: answer });
  });
  await view.search("ramen");
  assert.match(await first(view), /by Ana <b>Núñez<\/b>/);
  assert.doesNotMatch((await view.texts())[1], /\bby Ana/);
});

desk.test("every key searches, and a slow answer never replaces a newer one", async (view) => {
  const { page } = view;
  const asked = [];
  await page.route("**/api/search", async (route) => {
    const { query, mode } = route.request().postDataJSON();
    asked.push(query);
    // The answer to the first letters comes long after the last one's.
    if (query === "bal") await new Promise((resolve) => setTimeout(resolve, 1500));
    await route.continue().catch(() => {});
    void mode;
  });
  await view.query.pressSequentially("balkon", { delay: 40 });
  await view.settled("balkon");
  for (const begun of ["b", "ba", "bal", "balk", "balkon"]) assert(asked.includes(begun), `${begun} was not searched`);
  const before = await view.ids();
  await page.waitForTimeout(1700);
  assert.deepEqual(await view.ids(), before);
  assert.match(await first(view), /Balkon/);
});

desk.test("a typing error is corrected, and a way leads back to the exact words", async (view) => {
  await view.search("sourdoh startr");
  assert.match(await first(view), /[Ss]ourdough/);
  await view.shows(view.summary, /Showing results for “sourdough starter”/);
  await view.summary.getByRole("button", { name: /sourdoh startr/ }).click();
  await until(async () => !(await view.summary.innerText()).includes("Showing results for"));
  const texts = await view.texts();
  assert(!texts.slice(0, 1).some((text) => /marked/.test(text)));
  // The query in the field is what was typed, before and after.
  assert.equal(await view.query.inputValue(), "sourdoh startr");
  // It is a part of the address: reloading, sharing and Back keep it.
  assert.match(view.address(), /exact=/);
  await view.page.reload();
  await view.settled("sourdoh startr");
  assert.doesNotMatch(await view.summary.innerText(), /Showing results for/);
  const other = await desk.tab(view, view.address());
  await other.ready();
  await other.settled("sourdoh startr");
  assert.doesNotMatch(await other.summary.innerText(), /Showing results for/);
  await view.page.goBack();
  await view.shows(view.summary, /Showing results for/);
  await view.page.goForward();
  await until(async () => !(await view.summary.innerText()).includes("Showing results for"));
  // Other words are corrected again.
  await view.search("sourdogh");
  await until(() => view.address() === "/#/?q=sourdogh");
});

for (const [what, before] of [["recent notes", ""], ["the hits of another query", "lisbon"]]) {
  desk.test(`Enter before the answer opens the first hit of the answer, none of ${what}`, async (view) => {
    if (before) await view.search(before);
    else await view.hits.first().waitFor();
    let release;
    const held = new Promise((resolve) => (release = resolve));
    await view.page.route("**/api/search", async (route) => {
      await held;
      await route.continue().catch(() => {});
    });
    await view.query.fill("");
    await view.page.keyboard.type("ramen broth");
    await view.key("Enter");
    await view.page.waitForTimeout(300);
    assert.doesNotMatch(view.address(), /note\//, "a hit of the former list was opened");
    release();
    await view.reading("Ramen broth");
  });
}

desk.test("an Enter before the answer is forgotten when typing continues or the field is left", async (view) => {
  let release;
  const held = new Promise((resolve) => (release = resolve));
  await view.page.route("**/api/search", async (route) => {
    await held;
    await route.continue().catch(() => {});
  });
  for (const goOn of [() => view.page.keyboard.type("h"), () => view.page.locator("#go-status").focus()]) {
    await view.query.fill("");
    await view.page.keyboard.type("ramen brot");
    await view.key("Enter");
    await goOn();
  }
  release();
  await view.settled("ramen brot");
  assert.doesNotMatch(view.address(), /note\//);
  // Enter that nothing answers opens nothing later.
  await view.search("tag:nowhere qqqzzz");
  await view.key("Enter");
  await view.search("ramen");
  assert.doesNotMatch(view.address(), /note\//);
});

desk.test("meaning finds what words cannot", { skip: !models }, async (view) => {
  await view.search("how do I stop getting distracted");
  const texts = await view.texts();
  assert(texts.slice(0, 3).some((text) => /Pomodoro|Deep work/.test(text)), texts.slice(0, 3).join("\n"));
});

/**
 * Holds answers with meaning back until they are released, and turns their hits around, so
 * that folding them in shows.
 */
async function holdMeaning({ page }) {
  let release;
  const held = new Promise((resolve) => (release = resolve));
  await page.route("**/api/search", async (route) => {
    if (route.request().postDataJSON().mode === "lexical") return route.continue();
    await held;
    const response = await route.fetch();
    const answer = await response.json();
    answer.hits.reverse();
    return route.fulfill({ response, json: answer });
  });
  return release;
}

for (const [how, touch] of [
  ["an arrow key", (view) => view.key("ArrowDown")],
  ["a pointer over the list", async (view) => {
    const box = await view.hits.first().boundingBox();
    await view.page.mouse.move(box.x + 40, box.y + 20);
    await view.page.mouse.move(box.x + 44, box.y + 22);
  }],
]) {
  desk.test(`after ${how}, nothing is reordered`, async (view) => {
    const release = await holdMeaning(view);
    await view.query.pressSequentially("notes on sleep");
    await view.settled("notes on sleep", "words");
    await until(async () => (await view.ids()).length > 2);
    const before = await view.ids();
    await touch(view);
    release();
    await view.settled("notes on sleep", "done");
    const now = await view.ids();
    assert.deepEqual(now.slice(0, before.length), before);
  });
}

desk.test("untouched, a better answer takes its order", async (view) => {
  const release = await holdMeaning(view);
  await view.query.pressSequentially("sleep better");
  await view.settled("sleep better", "words");
  const before = await view.ids();
  release();
  await view.settled("sleep better", "done");
  assert.notDeepEqual(await view.ids(), before);
});

desk.test("probable hits stand above a line, an uncertain answer says so", { skip: !models }, async (view) => {
  await view.search("SQLite write-ahead log");
  const below = await view.page.locator("#hits .first-below").count();
  assert.equal(below, 1);
  assert.match(await view.page.locator("#hits .first-below").innerText(), /Less likely/);
  await view.search("quarterly revenue of submarine manufacturers");
  await view.shows(view.summary, /closest/);
});

desk.test("nothing found is said and announced", async (view) => {
  await view.search('"qqqzzz xxyyzz"');
  await view.shows(view.nothing, /Nothing found for/);
  await view.shows(view.announcer, /Nothing found/);
  assert.deepEqual(await view.ids(), []);
  await view.search("tag:nowhere qqqzzz");
  await view.shows(view.nothing, /Nothing found/);
});

desk.test("more hits than one answer has are listed, and the first of them gets the focus", async (view) => {
  // Notes that say the same would be listed once: each has words of its own.
  const said = (number) => Array.from({ length: 24 }, (_, at) => ((number * 7919 + at * 104_729) % 46_656).toString(36)).join("zo ");
  for (let number = 0; number < 95; number += 1) {
    await write(desk.program.home, `notes/herd/${number}.md`, `# Zebu ${number}\n\nThe zebu ${said(number)}.\n`);
  }
  await desk.program.run("index");
  await view.search("zebu");
  const first = await view.ids();
  assert.equal(first.length, 40);
  const total = Number(/of (\d+) matches/.exec(await view.summary.innerText())[1]);
  assert(total >= 90, `${total} matches`);
  let length = 40;
  for (let press = 0; await view.page.locator("#further").isVisible(); press += 1) {
    assert(press < 10, "it comes to an end");
    const answer = view.page.waitForResponse((response) => response.url().endsWith("/api/search"));
    await view.page.locator("#further").focus();
    await view.key("Enter");
    const { hits } = await (await answer).json();
    await until(async () => (await view.ids()).length > length || hits.length === 0);
    const ids = await view.ids();
    if (ids.length === length) {
      // Notes that say the same are counted and listed once.
      await view.page.locator("#further").waitFor({ state: "hidden" });
      await view.assertFocusIn("#hits, #query");
      break;
    }
    assert.deepEqual(ids.slice(0, 40), first, "nothing moves");
    assert.equal(new Set(ids).size, ids.length);
    await view.assertFocusIn("#hits");
    assert.equal(await view.selected.getAttribute("data-id"), ids[length]);
    length = ids.length;
  }
  assert(length >= 80, `${length} hits are listed`);
  assert.equal(await view.page.locator("#further").isVisible(), false);
});

desk.test("why a hit was found is shown as bars", async (view) => {
  await view.search("weekly review");
  await view.page.locator("#why").click();
  const chart = view.hits.first().locator("dl.why");
  await chart.waitFor();
  assert.match(await chart.innerText(), /words/);
  assert((await chart.locator("svg").count()) >= 2);
  assert.match(await view.hits.first().innerText(), /found by words/);
  await view.page.locator("#why").click();
  await chart.waitFor({ state: "hidden" });
});

desk.test("before anything is typed, recent notes are listed; opened ones come first", async (view) => {
  await view.hits.first().waitFor();
  await view.search("ramen");
  await view.open("Ramen broth");
  await view.page.goto(`${desk.server.origin}/#/`);
  await view.page.reload();
  await view.ready();
  await view.hits.first().waitFor();
  assert.match(await first(view), /Ramen broth/);
});

desk.test("notes that are opened often follow those that were opened last", async (view) => {
  const opened = async (query, times) => {
    await view.search(query);
    const [id] = await view.ids();
    for (let time = 0; time < times; time += 1) await view.api("POST", "/api/opened", { id });
    return id;
  };
  const often = await opened("terrace strawberries", 3);
  const last = [];
  for (const query of ["sourdough starter", "weekly review", "SQLite WAL mode", "梅雨", "ramen broth"]) last.unshift(await opened(query, 1));
  await view.query.fill("");
  await view.page.getByText("Changed recently").waitFor();
  const headings = await view.page.locator("#hits .group").allInnerTexts();
  assert.deepEqual(headings.map((text) => text.toLowerCase()), ["opened recently", "opened often", "changed recently"]);
  const ids = await view.ids();
  assert.deepEqual(ids.slice(0, 5), last);
  assert.equal(ids[5], often);
  assert.equal(new Set(ids).size, ids.length, "a note is listed once");
});

desk.test("query and filters live in the address: reload, back and sharing", async (view) => {
  const { page } = view;
  await view.search("review");
  await until(() => view.address().includes("q=review"));
  const ids = await view.ids();
  const shared = view.address();
  await page.reload();
  await view.settled("review");
  assert.deepEqual(await view.ids(), ids);
  assert.equal(await view.query.inputValue(), "review");
  await view.hits.nth(1).click();
  await until(() => view.address().startsWith("/#/note/"));
  assert.match(view.address(), /q=review/);
  await page.goBack();
  await until(() => view.address() === shared);
  assert.deepEqual(await view.ids(), ids);
  await page.goForward();
  await until(() => view.address().startsWith("/#/note/"));
  // The address is all that another tab needs.
  const other = await desk.tab(view, view.address());
  await other.ready();
  await other.settled("review");
  await other.body.waitFor();
  assert.equal(await other.query.inputValue(), "review");
});

desk.test("what is searched for is in no log of requests", async (view) => {
  const { watch } = view;
  await view.search("private thought");
  const lines = watch.lines.filter((line) => line.startsWith("request:"));
  assert(lines.some((line) => line.includes("/api/search")));
  assert(!lines.some((line) => /private|thought/.test(line.replace(/#.*/, ""))), lines.join("\n"));
});

desk.test("any text is a query", async (view) => {
  for (const query of ["((", "\"", "a AND", "title:", "-", "*", "🦝", "\\", "' OR 1=1 --", "日本語", "ا", "x".repeat(3000)]) {
    await view.query.fill(query);
    await view.settled(query);
    assert.equal(await view.page.getByText("The search failed").count(), 0, query);
  }
});
