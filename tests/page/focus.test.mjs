// The focus is never lost: whatever is pressed, and whatever is drawn anew, it stays where
// it was or goes to what took its place.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { assert, Desk, until } from "./harness/desk.mjs";
import { read, write } from "./harness/world.mjs";

const LONG = `# A long log\n\n${Array.from({ length: 3000 }, (_, day) => `## Day ${day}\n\nNothing of note on day ${day}, but ${"for the rain, ".repeat(9)}${day === 1500 ? "and a periwinkle" : "again"}.\n`).join("\n")}`;
const talk = Array.from({ length: 400 }, (_, at) => JSON.stringify({
  type: "user", uuid: `u${at}`, sessionId: "7a1d3a52-7c1f-4be0-9a35-2f6a0e9d1c44", timestamp: new Date(Date.UTC(2025, 10, 20, 9, 0, at)).toISOString(),
  cwd: "/work/atlas", message: { content: at === 200 ? "Where is the marmoset?" : `Message ${at}` },
})).join("\n");
const desk = new Desk({
  serve: ["--allow-write"],
  world: { extra: {
    "notes/long.md": LONG,
    "notes/feet.md": "# Feet\n\nA claim.[^1]\n\n[^1]: Its footnote.\n",
    "claude/projects/-work-atlas/7a1d3a52-7c1f-4be0-9a35-2f6a0e9d1c44.jsonl": `${talk}\n`,
  } },
});

const go = async (view, address) => {
  await view.page.goto(`${desk.server.origin}/#/${address}`);
  await view.ready();
};
const search = async (view, query) => {
  await go(view, `?q=${encodeURIComponent(query)}`);
  await view.settled(query);
};
const note = async (view, query, title) => {
  await search(view, query);
  await view.open(title);
};
/** Answers one request with an error. */
const once = (view, pattern) => view.page.route(pattern, (route) => route.fulfill({ status: 503, json: { error: { code: "busy", message: "the server is busy", next: "try again" } } }), { times: 1 });
const answered = (view, pattern) => view.page.waitForResponse((response) => pattern.test(response.url()));
/** Draws the list anew, as it is when documents change. */
const documents = async (view, name) => {
  await write(desk.program.home, `notes/${name}.md`, `# ${name}\n\nWritten while the page is open.\n`);
  const again = answered(view, /\/api\/(search|recent)/);
  await desk.program.run("index");
  await again;
  await view.page.waitForTimeout(300);
};

/**
 * What is pressed: a name, what leads there, the button, what happens beside the press, and
 * where the focus is then.
 */
const CASES = [
  ["Why these?", (view) => search(view, "weekly review"), "#why", null, "#why"],
  ["Why these?, when documents change", (view) => search(view, "weekly review"), "#why", (view) => documents(view, "whytest"), "#why"],
  ["the exact words", (view) => search(view, "sourdoh startr"), "#exact", null, "#hits, #query"],
  ["the way to the exact words, when documents change", (view) => search(view, "sourdoh startr"), null, (view) => documents(view, "exacttest"), "#exact", "#exact"],
  ["Try again, after a search failed", async (view) => {
    view.watch.allow(/status of 503/);
    await once(view, "**/api/search");
    await go(view, "?q=ramen");
    await view.shows(view.nothing, "The search failed");
  }, "#nothing button", null, "#hits, #query"],
  ["Search without them", async (view) => {
    await go(view, "?q=ramen&tag=gtd");
    await view.shows(view.nothing, "Nothing found");
  }, "#clear-filters", null, "#hits, #query"],
  ["the last chip", async (view) => {
    await go(view, "?q=review&tag=gtd");
    await view.settled("review");
  }, "#chips .chip", null, "#query"],
  ["Clear all", async (view) => {
    await go(view, "?q=review&tag=gtd&source=notes");
    await view.settled("review");
  }, "#chips .plain", null, "#query"],
  ["more values of a filter", async (view) => {
    await search(view, "");
    await view.page.locator("#show-filters").click();
    await view.facets.locator("button.plain").first().waitFor();
  }, "#facets button.plain", null, "#facets .facet"],
  ["f, from within the filters", async (view) => {
    await search(view, "review");
    await view.page.locator("#show-filters").click();
    await view.facets.locator(".facet").first().focus();
    await view.key("f");
  }, null, null, "#show-filters"],
  ["Show the new text", async (view) => {
    await write(desk.program.home, "notes/fresh.md", "# A fresh note\n\nOld words.\n");
    await desk.program.run("index");
    await note(view, "fresh note", "A fresh note");
    await writeFile(join(desk.program.home, "notes/fresh.md"), "# A fresh note\n\nNew words, an okapi.\n");
    await desk.program.run("index");
    await view.reader.locator("#changed button").waitFor();
  }, "#changed button", (view) => view.shows(view.body, /okapi/), "#reading"],
  ["a tag that is saved", async (view) => {
    await note(view, "deep work", "Deep work");
    await view.page.locator("#edit-tags").focus();
    await view.key("Enter");
    await view.page.locator("#tags-field").fill("work, focus, deep");
    const again = answered(view, /\/rendered/);
    await view.key("Enter");
    await again;
    await view.dialog.waitFor({ state: "hidden" });
  }, null, null, "#edit-tags"],
  ["the undo of tags", async (view) => {
    await note(view, "pomodoro", /Pomodoro/);
    await view.page.locator("#edit-tags").focus();
    await view.key("Enter");
    await view.page.locator("#tags-field").fill("kitchen");
    await view.key("Enter");
    await view.toasts.locator(".undo").waitFor();
  }, "#toasts .undo", (view) => view.shows(view.toasts, "Undone"), "#edit-tags, #reading"],
  ["a message that is dismissed", async (view) => {
    await note(view, "deep work", "Deep work");
    await view.page.locator("#copy-id").focus();
    await view.key("Enter");
    await view.toasts.locator(".dismiss").first().waitFor();
  }, "#toasts .dismiss", null, "#reading, #copy-id"],
  ["Show more, to the end", async (view) => {
    await note(view, "long log", "A long log");
    const more = view.reader.getByRole("button", { name: /Show more/ });
    for (let press = 0; (await more.count()) > 0 && press < 40; press += 1) {
      const came = answered(view, /\/rendered/);
      await more.focus();
      await view.key("Enter");
      await came;
      await view.page.waitForTimeout(100);
      assert.notEqual(await view.focused(), "nothing", `after ${press + 1} presses`);
    }
  }, null, null, "#reading"],
  ["Earlier turns, to the first", async (view) => {
    await go(view, "?q=marmoset&source=claude-code");
    await view.settled("marmoset");
    await view.hits.first().click();
    const more = view.reader.getByRole("button", { name: /Earlier turns/ });
    await more.waitFor();
    for (let press = 0; (await more.count()) > 0 && press < 40; press += 1) {
      const came = answered(view, /\/conversation/);
      await more.focus();
      await view.key("Enter");
      await came;
      await view.page.waitForTimeout(100);
      assert.notEqual(await view.focused(), "nothing", `after ${press + 1} presses`);
    }
  }, null, null, "#reading .turn, #reading .tools"],
  ["a footnote", (view) => note(view, "feet claim footnote", "Feet"), ".footnote-reference button", null, ".footnote"],
  ["an entry of the outline", (view) => note(view, "weekly review checklist", "Weekly review checklist"), ".outline button", null, ".prose [data-line]"],
  ["a source in the status, when the status changes", async (view) => {
    await go(view, "status");
    await view.page.locator("#status .source-line .name").first().waitFor();
  }, null, async (view) => {
    await write(desk.program.home, "notes/statustest.md", "# Another one\n\nIt changes the counts.\n");
    const before = await view.page.locator("#status .sources").innerText();
    await desk.program.run("index");
    await until(async () => (await view.page.locator("#status .sources").innerText()) !== before);
  }, "#status .source-line .name", "#status .source-line .name"],
  ["the whole time", async (view) => {
    await go(view, "timeline?after=2025-11-01&before=2025-12-01");
    await view.page.locator("#whole").waitFor();
  }, "#whole", (view) => until(() => !view.address().includes("after=")), "#strip .thumb"],
  ["a unit of the strip", async (view) => {
    await go(view, "timeline");
    await view.page.locator("[data-unit=month]").waitFor();
  }, "[data-unit=month]", null, "[data-unit=month]"],
  ["saving a page that is refused", async (view) => {
    view.watch.allow(/status of 503/);
    await once(view, "**/api/pages");
    await view.page.locator("#new").click();
    await view.page.locator("#write-title").fill("A page");
    await view.page.locator("#write-text").fill("Some words.");
  }, "#write button[type=submit]", (view) => view.shows(view.dialog, /busy/), "dialog button[type=submit]"],
];

for (const [name, reach, press, then, where, keeps] of CASES) {
  desk.test(`the focus is not lost by ${name}`, async (view) => {
    await reach(view);
    if (keeps) await view.page.locator(keeps).first().focus();
    if (press) {
      await view.page.locator(press).first().focus();
      await view.key("Enter");
    }
    await then?.(view);
    // What follows a press draws for a while: the focus is there at its end.
    await view.page.waitForLoadState("networkidle", { timeout: 1500 }).catch(() => {});
    await view.page.waitForTimeout(150);
    await view.assertFocusIn(where);
  });
}

desk.test("the focus is within the page after signing in, in every view", { signIn: false }, async (first) => {
  await first.page.close();
  const token = await desk.program.run("token", "create", "every-view");
  for (const [path, where] of [["/#/", "#query"], ["/#/timeline", "#query"], ["/#/status", "#reading"]]) {
    const view = await desk.stranger({ path });
    view.watch.allow(/status of 401/);
    await view.signIn(token);
    await view.ready();
    await view.assertFocusIn(where);
  }
});

desk.test("choosing a filter beside a note leaves the focus on the filter", async (view) => {
  await note(view, "deep work", "Deep work");
  await view.page.locator("#show-filters").click();
  const facet = view.facets.locator("[data-key^='tag:']").first();
  const key = await facet.getAttribute("data-key");
  await facet.focus();
  await view.key("Enter");
  await view.shows(view.chips, key.slice(4));
  await view.page.waitForTimeout(300);
  assert.equal(await view.page.evaluate(() => document.activeElement.dataset.key), key);
  await view.reading("Deep work");
});

for (const [name, pattern, reach, press] of [
  ["the next part of a note", "**/rendered?*", (view) => note(view, "long log", "A long log"), ".more"],
  ["earlier turns", "**/conversation?*", async (view) => {
    await go(view, "?q=marmoset&source=claude-code");
    await view.settled("marmoset");
    await view.hits.first().click();
    await view.reader.locator(".more").first().waitFor();
  }, ".more"],
  ["the new text of a note", "**/rendered*", async (view) => {
    const text = await read(desk.program, "notes/feet.md");
    await note(view, "feet claim footnote", "Feet");
    await writeFile(join(desk.program.home, "notes/feet.md"), `${text}\nMore of it.\n`);
    await desk.program.run("index");
    await view.reader.locator("#changed button").waitFor();
  }, "#changed button"],
]) {
  desk.test(`it is said that ${name} could not be loaded, and the button works again`, async (view) => {
    view.watch.allow(/status of 503/);
    await reach(view);
    await once(view, pattern);
    const button = view.reader.locator(press).first();
    await button.focus();
    await view.key("Enter");
    await view.shows(view.toasts, /could not be loaded.*busy/i);
    await view.assertFocusIn("#reading");
    const came = answered(view, /\/(rendered|conversation)/);
    await view.key("Enter");
    assert.equal((await came).status(), 200);
  });
}
