// Writing, where the session may: each with an undo. And its absence where it may not.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { assert, Desk, until } from "./harness/desk.mjs";
import { read } from "./harness/world.mjs";

const desk = new Desk({ serve: ["--allow-write"], world: { sessions: false } });
const undo = (view) => view.toasts.getByRole("button", { name: "Undo" });

/** Returns the files below a folder of the home. */
function files(folder) {
  const path = join(desk.program.home, folder);
  return existsSync(path) ? readdirSync(path, { recursive: true }).map(String) : [];
}

async function write(view, what, { title, text, tags = "" }) {
  await view.page.locator("#new").click();
  await view.dialog.waitFor();
  if (what === "memory") await view.dialog.getByLabel("A memory").check();
  if (title) await view.dialog.getByLabel("Title").fill(title);
  await view.dialog.getByLabel("Text", { exact: true }).fill(text);
  await view.dialog.getByLabel(/^Tags/).fill(tags);
  await view.dialog.getByRole("button", { name: "Save" }).click();
  await view.dialog.waitFor({ state: "detached" });
}

desk.test("a page is written, found and taken back", async (view) => {
  await write(view, "page", { title: "Wombat burrows", text: "A wombat digs **at night**.", tags: "animals, night" });
  await view.reading("Wombat burrows");
  await view.shows(view.body, "A wombat digs at night.");
  assert.equal(await view.body.locator("strong").innerText(), "at night");
  const file = files("notes").find((name) => /wombat/i.test(name));
  const text = readFileSync(join(desk.program.home, "notes", file), "utf8");
  assert.match(text, /A wombat digs \*\*at night\*\*\./);
  assert.match(text, /animals/);
  await view.search("wombat");
  await view.hit("Wombat burrows").first().waitFor();
  await undo(view).click();
  await view.shows(view.toasts, "Undone");
  await until(() => !existsSync(join(desk.program.home, "notes", file)));
  await view.search("wombat digs");
  assert.equal(await view.hit("Wombat burrows").count(), 0);
});

desk.test("a memory is written, found and taken back", async (view) => {
  const before = files(".local/share/kodiak").filter((name) => name.endsWith(".md")).length;
  await write(view, "memory", { text: "The kettle of the office needs descaling in March." });
  await view.shows(view.reader, "descaling in March");
  await view.search("kettle descaling");
  assert.match((await view.texts())[0], /memory/);
  await undo(view).click();
  await view.shows(view.toasts, "Undone");
  await view.search("kettle descaling");
  assert.equal(await view.hit("descaling in March").count(), 0);
  void before;
});

desk.test("a known memory is not written twice", async (view) => {
  await write(view, "memory", { text: "Jonas prefers reviews before ten in the morning." });
  await view.search("Jonas prefers reviews");
  assert.equal(await view.hit("Jonas prefers reviews before ten").count(), 1);
});

desk.test("tags are edited in the file and put back", async (view) => {
  const original = await read(desk.program, "notes/productivity/deep-work.md");
  await view.search("deep work");
  await view.open("Deep work");
  await view.page.locator("#edit-tags").click();
  const field = view.dialog.locator("#tags-field");
  const tags = await field.inputValue();
  assert.match(tags, /deep-work|focus/);
  await field.fill(`${tags}, evening`);
  await view.key("Enter");
  await view.dialog.waitFor({ state: "detached" });
  await view.shows(view.page.locator("#tags"), "#evening");
  assert.match(await read(desk.program, "notes/productivity/deep-work.md"), /evening/);
  await undo(view).click();
  await until(async () => (await read(desk.program, "notes/productivity/deep-work.md")) === original);
  await until(async () => !(await view.page.locator("#tags").innerText()).includes("#evening"));
});

desk.test("forgetting moves to the trash, and undo brings it back", async (view) => {
  for (const [query, title] of [["bullet journal", "Bullet journal"], ["export between noon", "Never run the export"]]) {
    await view.search(query);
    await view.hit(title).first().click();
    await view.shows(view.reader, title);
    await view.page.locator("#forget").click();
    await view.shows(view.toasts, "moved to the trash");
    await view.assertFocusIn("#query, #hits, #toasts");
    await until(async () => {
      await view.search(query);
      return (await view.hit(title).count()) === 0;
    });
    await undo(view).last().click();
    await view.shows(view.reader, title);
    await until(async () => {
      await view.search(query);
      return (await view.hit(title).count()) >= 1;
    });
    // An undo works once.
    assert.equal(await undo(view).count(), 0);
  }
});

desk.test("a page of the same title is refused and the text is kept", async (view) => {
  view.watch.allow(/status of 4\d\d/);
  await view.page.locator("#new").click();
  await view.dialog.getByLabel("Title").fill("Deep work");
  await view.dialog.getByLabel("Text", { exact: true }).fill("Not lost.");
  await view.dialog.getByRole("button", { name: "Save" }).click();
  const problem = view.dialog.getByRole("alert");
  await until(async () => (await problem.innerText()).length > 10);
  assert.equal(await view.dialog.getByLabel("Text", { exact: true }).inputValue(), "Not lost.");
  assert.equal(await view.dialog.getByRole("button", { name: "Save" }).isEnabled(), true);
  await view.dialog.getByLabel("Text", { exact: true }).fill("");
  await view.key("Escape");
});

desk.test("what was not saved is kept when the dialog is closed, until it is saved", async (view) => {
  await view.page.locator("#new").click();
  await view.dialog.getByLabel("A memory").check();
  await view.dialog.getByLabel("Text", { exact: true }).fill("A bilby digs.");
  await view.key("Escape");
  await view.shows(view.toasts, "kept");
  await view.search("ramen");
  await view.page.locator("#new").click();
  assert.equal(await view.dialog.getByLabel("A memory").isChecked(), true);
  assert.equal(await view.dialog.getByLabel("Text", { exact: true }).inputValue(), "A bilby digs.");
  await view.dialog.getByLabel("Text", { exact: true }).focus();
  await view.key("Control+Enter");
  await view.shows(view.reader, "A bilby digs.");
  await view.page.locator("#new").click();
  assert.equal(await view.dialog.getByLabel("Text", { exact: true }).inputValue(), "");
  await view.key("Escape");
  await undo(view).click();
  await view.shows(view.toasts, "Undone");
});

desk.test("a session that ends while something is written takes no text away", async (view) => {
  view.watch.allow(/status of 401/);
  await view.page.locator("#new").click();
  await view.dialog.getByLabel("Title").fill("Potoroo");
  await view.dialog.getByLabel("Text", { exact: true }).fill("A potoroo hops.");
  await view.context.clearCookies();
  await view.dialog.getByRole("button", { name: "Save" }).click();
  await view.signedOut();
  assert.equal(await view.dialog.count(), 0);
  await view.signIn(await desk.program.run("token", "create", "later", "--allow-write"));
  await view.ready();
  await view.page.locator("#new").click();
  assert.equal(await view.dialog.getByLabel("Text", { exact: true }).inputValue(), "A potoroo hops.");
  for (const field of ["Title", "Text"]) await view.dialog.getByLabel(field, { exact: true }).fill("");
  await view.key("Escape");
});

desk.test("Back closes a dialog with the place that it belongs to", async (view) => {
  await view.search("deep work");
  await view.open("Deep work");
  await view.page.locator("#edit-tags").click();
  await view.dialog.waitFor();
  await view.page.goBack();
  await until(() => view.address().startsWith("/#/?q="));
  await until(async () => (await view.dialog.count()) === 0);
});

desk.test("keys: n writes, Tab reaches Save, u undoes", async (view) => {
  await view.search("ramen");
  await view.key("ArrowDown");
  await view.page.locator("#hits").focus();
  await view.key("n");
  await view.dialog.waitFor();
  await view.assertFocusIn("dialog input");
  await view.page.keyboard.type("Numbat termites");
  await view.dialog.getByLabel("Text", { exact: true }).focus();
  await view.page.keyboard.type("A numbat eats termites.");
  for (let press = 0; press < 6; press += 1) {
    await view.key("Tab");
    if (/Save/.test(await view.focused())) break;
  }
  await view.key("Enter");
  await view.reading("Numbat termites");
  assert(files("notes").some((name) => /numbat/i.test(name)));
  await view.key("u");
  await until(() => !files("notes").some((name) => /numbat/i.test(name) && !name.includes("trash")));
});

desk.test("an undo is for who did it, once", async (view) => {
  const made = await view.api("POST", "/api/pages", { title: "Quoll notes", text: "A quoll.", tags: [] });
  assert.equal(made.status, 201);
  assert(made.body.undo);
  const token = await desk.program.run("token", "create", "writer", "--allow-write");
  const other = await desk.holder(token);
  other.watch.allow(/status of 4\d\d/);
  const stolen = await other.api("POST", "/api/undo", { undo: made.body.undo });
  assert(stolen.status >= 400);
  view.watch.allow(/status of 4\d\d/);
  assert((await view.api("POST", "/api/undo", { undo: made.body.undo })).status < 300);
  assert((await view.api("POST", "/api/undo", { undo: made.body.undo })).status >= 400);
});

for (const [name, arguments_, token] of [
  ["a server without --allow-write", [], ["--allow-write"]],
  ["a token without --allow-write", ["--allow-write"], []],
]) {
  desk.test(`${name}: nothing can be written, and nothing offers to`, { signIn: false }, async (stranger) => {
    await stranger.page.close();
    const previous = desk.server;
    desk.server = await desk.program.serve(arguments_);
    try {
      const holder = await desk.holder(await desk.program.run("token", "create", `t${arguments_.length}`, ...token));
      holder.watch.allow(/status of 40[0-9]/);
      assert.equal((await holder.api("GET", "/api/session")).body.write, false);
      await holder.search("deep work");
      await holder.open("Deep work");
      for (const button of ["#new", "#edit-tags", "#forget"]) {
        assert.equal(await holder.page.locator(button).isVisible(), false, button);
      }
      await holder.key("n");
      assert.equal(await holder.dialog.count(), 0);
      const id = holder.address().match(/note\/([^?]+)/)[1];
      const before = await read(desk.program, "notes/productivity/deep-work.md");
      for (const [method, path, body] of [
        ["POST", "/api/pages", { title: "Intruder", text: "x", tags: [] }],
        ["POST", "/api/memories", { text: "x", tags: [] }],
        ["POST", `/api/documents/${id}/tags`, { add: ["x"], remove: [] }],
        ["DELETE", `/api/documents/${id}`],
        ["POST", `/api/documents/${id}/open`, {}],
        ["POST", "/api/undo", { undo: "x" }],
      ]) {
        const { status } = await holder.api(method, path, body);
        assert(status >= 400 && status < 500, `${method} ${path}: ${status}`);
      }
      assert.equal(await read(desk.program, "notes/productivity/deep-work.md"), before);
      assert(!files("notes").some((file) => /intruder/i.test(file)));
      // It is left before the server goes.
      await holder.page.goto("about:blank");
    } finally {
      await desk.server.stop("SIGKILL");
      desk.server = previous;
    }
  });
}

desk.test("where several folders can be written to, a page says which", async (view) => {
  const { home } = desk.program;
  await view.page.locator("#new").click();
  await view.dialog.waitFor();
  // There is one: nothing is asked.
  await view.page.waitForTimeout(300);
  assert.equal(await view.dialog.getByLabel("In", { exact: true }).isVisible(), false);
  await view.key("Escape");
  await mkdir(join(home, "journal"));
  await writeFile(join(home, "journal/first.md"), "# First\n\nA beginning.\n");
  await desk.program.run("add", join(home, "journal"), "--writable");
  await until(async () => (await view.api("GET", "/api/status")).body.sources.filter((it) => it.writable).length > 1);
  await view.page.locator("#new").click();
  const folder = view.dialog.getByLabel("In", { exact: true });
  await folder.waitFor();
  assert.deepEqual((await folder.locator("option").allInnerTexts()).toSorted(), ["journal", "notes"]);
  await folder.selectOption("journal");
  await view.dialog.getByLabel("Title").fill("A capybara");
  await view.dialog.getByLabel("Text", { exact: true }).fill("It sat in the pond.");
  await view.dialog.getByRole("button", { name: "Save" }).click();
  await view.reading("A capybara");
  assert(files("journal").some((name) => /capybara/i.test(name)));
  await undo(view).click();
  await view.shows(view.toasts, "Undone");
  await until(() => !files("journal").some((name) => /^capybara|^a-capybara/i.test(name)));
  // A memory is in no folder of these.
  await view.page.locator("#new").click();
  await view.dialog.getByLabel("A memory").check();
  assert.equal(await folder.isVisible(), false);
});

desk.test("what cannot be changed offers no change", async (view) => {
  const { home } = desk.program;
  await mkdir(join(home, "fixed"));
  await writeFile(join(home, "fixed/stone.md"), "# A stone\n\nIt says gneiss.\n");
  await desk.program.run("add", join(home, "fixed"));
  await view.search("gneiss");
  await view.open("A stone");
  await view.page.locator("#copy-id").waitFor();
  for (const id of ["#edit-tags", "#forget"]) assert.equal(await view.page.locator(id).count(), 0, id);
  await view.search("deep work");
  await view.open("Deep work");
  for (const id of ["#edit-tags", "#forget"]) assert.equal(await view.page.locator(id).count(), 1, id);
});

for (const opens of [true, false]) {
  desk.test(`a note is opened by ${opens ? "the server, where it has an editor" : "a link, where the server has none"}`, async (view) => {
    await view.page.route("**/rendered*", async (route) => {
      const response = await route.fetch();
      return route.fulfill({ response, json: { ...(await response.json()), opens } });
    });
    const asked = [];
    await view.page.route("**/open", (route) => {
      asked.push(route.request().postDataJSON());
      return route.fulfill({ status: 204 });
    });
    await view.search("deep work");
    await view.open("Deep work");
    const open = view.page.locator("#open-editor");
    if (opens) {
      await open.click();
      await view.shows(view.toasts, "Opened in the editor");
      assert.equal(asked.length, 1);
      return;
    }
    assert.match(await open.getAttribute("href"), /^vscode:\/\/file\/.*\/notes\/.*deep-work\.md:\d+$/);
    // Another editor is chosen in the status.
    await view.page.goto(`${desk.server.origin}/#/status`);
    await view.page.locator("#editor").selectOption({ label: "Zed" });
    await view.page.goBack();
    await view.reading("Deep work");
    assert.match(await open.getAttribute("href"), /^zed:\/\/file\/.*deep-work\.md:\d+$/);
    assert.equal(asked.length, 0);
  });
}

desk.test("a note of Bear opens in Bear", async (view) => {
  await view.page.route("**/rendered*", async (route) => {
    const response = await route.fetch();
    const { file: _, ...note } = await response.json();
    return route.fulfill({ response, json: { ...note, opens: false, url: "bear://x-callback-url/open-note?id=7E4B" } });
  });
  await view.search("deep work");
  await view.open("Deep work");
  const open = view.page.locator("#open-app");
  assert.equal(await open.innerText(), "Open in Bear");
  assert.equal(await open.getAttribute("href"), "bear://x-callback-url/open-note?id=7E4B");
  assert.equal(await view.page.locator("#open-editor").count(), 0);
});
