// A token that is held to a source or a project sees nothing else on the page either.
import { assert, Desk } from "./harness/desk.mjs";
import { png } from "./harness/world.mjs";

const SECRET = /zebrafish|aquarium|vivarium/i;
const note = (project, title, more = "") =>
  `---\ntitle: ${title}\nproject: ${project}\ntags: [${project.split("/").pop()}]\ncreated: 2019-03-0${project.length % 9 || 1}\n---\n\nA shared word and ${title}. ${more}\n`;

const desk = new Desk({
  serve: ["--allow-write"],
  world: {
    sessions: false,
    extra: {
      "private/zf1.md": note("/work/aquarium", "Zebrafish", "![x](zebra.png) [[Open water]]"),
      "private/zebra.png": png(8, 8, [1, 2, 3]),
      "private/zf2.md": note("/work/vivarium", "Vivarium"),
      "notes/open.md": note("/work/meadow", "Open water", "[[zf1]] [[zf2]]"),
      "notes/zf3.md": note("/work/aquarium", "Aquarium hours"),
    },
  },
});

/** Everything that the page asks, with what is to be hidden as its object. */
async function everything(view, id) {
  const get = ["/api/session", "/api/recent?limit=50", "/api/timeline", "/api/timeline?limit=100", "/api/timeline/counts",
    "/api/timeline/counts?unit=day&from=2019-01-01&to=2019-12-31", "/api/timeline/counts?unit=month", "/api/status",
    `/api/documents/${id}`, `/api/documents/${id}/rendered`, `/api/documents/${id}/conversation`,
    `/api/documents/${id}/files/zebra.png`, `/api/similar/${id}`, `/api/links/${id}`];
  const answers = {};
  for (const path of get) answers[path] = await view.api("GET", path);
  for (const query of ["", "shared word", "zebrafish", "zebrafsh", "aquariu", "project:aquarium", "tag:vivarium"]) {
    answers[`search ${query}`] = await view.api("POST", "/api/search", { query, limit: 50 });
    answers[`facets ${query}`] = await view.api("POST", "/api/facets", { query });
  }
  answers.opened = await view.api("POST", "/api/opened", { id });
  answers.tags = await view.api("POST", `/api/documents/${id}/tags`, { add: ["x"], remove: [] });
  answers.forget = await view.api("DELETE", `/api/documents/${id}`);
  return answers;
}

for (const [name, scope, inside] of [
  ["source", ["--source", "notes", "--project", "/work/meadow"], "Open water"],
  ["project", ["--project", "/work/meadow"], "Open water"],
]) {
  desk.test(`a token held to a ${name}: nothing else in any answer or view`, { signIn: false }, async (stranger) => {
    await stranger.page.close();
    if (!desk.added) {
      desk.added = true;
      await desk.program.run("add", `${desk.program.home}/private`);
    }
    const hidden = (await desk.program.json("search", "zebrafish")).hits[0].id;
    const token = await desk.program.run("token", "create", name, ...scope);
    const view = await desk.holder(token);
    view.watch.allow(/status of 4\d\d/);
    for (const [path, { status, body }] of Object.entries(await everything(view, hidden))) {
      const text = JSON.stringify(body).replaceAll(/"(query|corrected|message)":"[^"]*"/g, "");
      assert.doesNotMatch(text, SECRET, path);
      if (path.includes(hidden) || ["tags", "forget"].includes(path)) assert(status >= 400, `${path}: ${status}`);
    }
    // Counts: what is there is this one note.
    const facets = (await view.api("POST", "/api/facets", { query: "" })).body;
    assert.equal(facets.total, 1);
    assert.deepEqual(facets.tags.map(({ value }) => value), ["meadow"]);
    const counts = (await view.api("GET", "/api/timeline/counts?unit=month&source=notes")).body;
    assert.equal(counts.buckets.reduce((sum, { count }) => sum + count, 0), 1);

    // And the page: typed, listed, walked through.
    await view.search("zebrafish");
    assert.doesNotMatch((await view.texts()).join("\n"), SECRET);
    assert.doesNotMatch(await view.summary.innerText(), /Showing results for/);
    await view.search("shared word");
    assert.equal((await view.ids()).length, 1);
    await view.open(inside);
    // A link to what is hidden looks like one to what does not exist.
    assert.equal(await view.body.locator("a[data-id]").count(), 0);
    for (const path of ["/#/timeline", "/#/status", "/#/", `/#/note/${hidden}`]) {
      await view.page.goto(desk.server.origin + path);
      await view.ready();
      await view.page.waitForTimeout(400);
      const text = await view.page.evaluate(() => document.body.innerText);
      assert.doesNotMatch(text.replaceAll(/\[\[.*?\]\]/g, ""), SECRET, path);
    }
  });
}

desk.test("the holder of a token is not the owner: no resume command, no list of opened notes", { signIn: false }, async (stranger) => {
  await stranger.page.close();
  const owner = await desk.owner();
  await owner.search("ramen");
  await owner.open("Ramen broth");
  const view = await desk.holder(await desk.program.run("token", "create", "guest"));
  const { body } = await view.api("GET", "/api/recent?limit=10");
  assert.deepEqual(body.opened ?? [], []);
  const session = (await view.api("GET", "/api/session")).body;
  assert.equal(session.local, false);
  assert.equal(session.write, false);
  assert.equal(session.name, "guest");
  assert.equal(await view.page.locator("#new").isVisible(), false);
});
