// Narrowing what is found: chips, counts and the address.
import { assert, Desk, until } from "./harness/desk.mjs";

const desk = new Desk({});

async function showFilters(view) {
  await view.page.locator("#show-filters").click();
  await view.facets.locator("[data-key]").first().waitFor();
}

const count = async (facet) => Number((await facet.locator(".value").innerText()).replaceAll(/\D/g, ""));

desk.test("a filter is chosen, shown as a chip, and removed", async (view) => {
  await view.search("review");
  const all = await view.ids();
  await showFilters(view);
  const facet = view.facet("tag", "gtd");
  await facet.waitFor();
  await facet.click();
  await view.shows(view.chips, /tag: gtd/);
  await until(async () => (await view.ids()).length < all.length);
  for (const text of await view.texts()) assert.match(text, /gtd|\+\d/);
  assert.match(view.address(), /tag=gtd/);
  await until(async () => (await facet.getAttribute("aria-pressed")) === "true");
  await view.chips.getByRole("button", { name: /tag: gtd/ }).click();
  await view.chips.waitFor({ state: "hidden" });
  await until(async () => (await view.ids()).length === all.length);
  assert.doesNotMatch(view.address(), /tag=/);
});

desk.test("counts are those of what the words match", async (view) => {
  await view.search("tokyo OR lisbon OR kyoto");
  await showFilters(view);
  const facet = view.facet("tag", "travel");
  await facet.waitFor();
  const counted = await count(facet);
  assert(counted >= 1);
  await facet.click();
  await view.shows(view.chips, /travel/);
  await until(async () => (await view.ids()).length >= 1);
  const { body } = await view.api("POST", "/api/facets", { query: "tokyo OR lisbon OR kyoto", tags: ["travel"] });
  assert.equal(body.total, counted);
});

desk.test("filters without words list what they admit", async (view) => {
  await showFilters(view);
  const facet = view.facet("kind", "recipe");
  await facet.waitFor();
  const recipes = await count(facet);
  await facet.click();
  await until(async () => (await view.ids()).length === recipes);
});

desk.test("several filters hold together, and are cleared together", async (view) => {
  await view.page.goto(`${desk.server.origin}/#/?q=tile&source=memory&kind=decision`);
  await view.settled("tile");
  await view.shows(view.chips, /source: memory/);
  await view.shows(view.chips, /kind: decision/);
  for (const text of await view.texts()) assert.match(text, /memory/);
  await view.chips.getByRole("button", { name: "Clear all" }).click();
  await view.chips.waitFor({ state: "hidden" });
  assert.equal(await view.query.inputValue(), "tile");
});

desk.test("filters by date come from the address and from the panel", async (view) => {
  await view.page.goto(`${desk.server.origin}/#/?after=2025-11-01&before=2025-11-30`);
  await view.ready();
  await view.shows(view.chips, /after: 2025-11-01/);
  await view.hits.first().waitFor();
  await showFilters(view);
  await view.facets.getByRole("button", { name: "any time" }).click();
  await view.chips.waitFor({ state: "hidden" });
  await view.facets.getByRole("button", { name: "past week" }).click();
  await view.shows(view.chips, /past week/);
  assert.match(view.address(), /after=7d/);
});

desk.test("a filter that nothing passes says how to get rid of it", async (view) => {
  await view.page.goto(`${desk.server.origin}/#/?q=ramen&tag=gtd`);
  await view.settled("ramen");
  await view.shows(view.nothing, /Nothing found/);
  await view.nothing.getByRole("button", { name: "Search without them" }).click();
  await view.hit("Ramen broth").first().waitFor();
});

desk.test("a filter that does not exist is an error with a next step, not a broken page", async (view) => {
  view.watch.allow(/status of 4\d\d/);
  await view.page.goto(`${desk.server.origin}/#/?q=ramen&source=nowhere`);
  await view.ready();
  await view.nothing.waitFor();
  assert((await view.nothing.innerText()).length > 10);
  await view.chips.getByRole("button", { name: /nowhere/ }).click();
  await view.hit("Ramen broth").first().waitFor();
});

desk.test("the focus stays on the filter that was pressed", async (view) => {
  await view.search("review");
  await showFilters(view);
  const facet = view.facet("tag", "gtd");
  await facet.focus();
  await view.key("Enter");
  await view.shows(view.chips, /gtd/);
  await view.page.waitForTimeout(300);
  assert.equal(await view.page.evaluate(() => document.activeElement.dataset.key), "tag:gtd");
  await view.key("Escape");
  await view.facets.waitFor({ state: "hidden" });
  await view.assertFocusIn("#show-filters");
});

/** The date that a filter has in the address. */
const dateOf = (view, name) => new URLSearchParams(view.address().split("?")[1] ?? "").get(name);

desk.test("a date is typed by keys", { locale: "en-US" }, async (view) => {
  await view.search("review");
  await showFilters(view);
  const from = view.facets.locator("input[data-key=after]");
  const entries = () => view.page.evaluate(() => history.length);
  const before = await entries();
  await from.focus();
  await view.page.keyboard.type("11052025", { delay: 60 });
  // Counts that arrive leave alone what is typed.
  await view.page.waitForTimeout(300);
  assert.equal(await from.inputValue(), "2025-11-05");
  assert.equal(dateOf(view, "after"), null);
  await view.key("Enter");
  await until(() => dateOf(view, "after") === "2025-11-05");
  await view.assertFocusIn("input[data-key=after]");
  assert.equal((await entries()) - before, 1, "one entry of the history");
  // Leaving the field takes the date, too.
  await view.facets.locator("input[data-key=before]").focus();
  await view.page.keyboard.type("12012025", { delay: 60 });
  await view.page.locator("#query").focus();
  await until(() => dateOf(view, "before") === "2025-12-01");
  await view.shows(view.chips, /before: 2025-12-01/);
  // The address leads back to the fields.
  await view.page.goBack();
  await until(() => dateOf(view, "before") === null);
  await until(async () => (await view.facets.locator("input[data-key=before]").inputValue()) === "");
  assert.equal(await from.inputValue(), "2025-11-05");
});

desk.test("a date that is half typed, or of no year, filters nothing", { locale: "en-US" }, async (view) => {
  await view.search("review");
  await showFilters(view);
  await view.facets.locator("input[data-key=after]").focus();
  for (const typed of ["11", "1105", "11050025"]) {
    await view.page.keyboard.type(typed, { delay: 40 });
    await view.key("Enter");
    await view.page.waitForTimeout(150);
    assert.equal(dateOf(view, "after"), null, typed);
    await view.page.locator("#query").focus();
    await view.page.waitForTimeout(150);
    assert.equal(dateOf(view, "after"), null, typed);
    await view.facets.locator("input[data-key=after]").focus();
  }
});

desk.test("years are counted, and are a range", async (view) => {
  await view.search("review");
  await showFilters(view);
  const year = view.facet("date", "2025");
  await year.waitFor();
  const counted = await count(year);
  assert(counted >= 1);
  await year.click();
  await until(() => dateOf(view, "after") === "2025-01-01" && dateOf(view, "before") === "2026-01-01");
  await until(async () => (await year.getAttribute("aria-pressed")) === "true");
  await view.settled("review");
  // Notes that were changed in that year are listed, too.
  const { body } = await view.api("POST", "/api/facets", { query: "review" });
  const written = body.months.filter(({ value }) => value.startsWith("2025-"));
  assert.equal(written.reduce((all, { count }) => all + count, 0), counted);
  assert((await view.ids()).length >= counted);
});
