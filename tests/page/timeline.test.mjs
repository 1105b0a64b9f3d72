// What was written and learned over time: a strip of counts and the list under it.
import { assert, Desk, until } from "./harness/desk.mjs";
import { write } from "./harness/world.mjs";

const desk = new Desk({});
const strip = (view) => view.page.locator("#strip");
const range = (view) => strip(view).locator(".range").innerText();

/** Opens the timeline and returns the counts that its strip shows. */
async function open(view, rest = "") {
  const counts = view.page.waitForResponse((response) => response.url().includes("/api/timeline/counts"));
  await view.page.goto(`${desk.server.origin}/#/timeline${rest}`);
  await view.ready();
  await strip(view).locator("rect.count").first().waitFor({ state: "attached" });
  await view.hits.first().waitFor();
  return (await counts).json();
}

const total = ({ buckets }) => buckets.reduce((all, { count }) => all + count, 0);

desk.test("everything is on the strip, the newest in the list first", async (view) => {
  const counts = await open(view);
  const bars = await strip(view).locator("rect.count").count();
  assert.equal(bars, counts.buckets.length);
  assert(bars >= 12 && bars <= 120, `${bars} bars`);
  // Notes, memories and session records; turns of transcripts only where asked for, and
  // that is said.
  assert(total(counts) > 40, `${total(counts)} documents`);
  const { body: turns } = await view.api("POST", "/api/facets", { query: "", kinds: ["turn"] });
  await view.shows(view.summary, new RegExp(`Without ${turns.total} turns of conversations`));
  const { body: status } = await view.api("GET", "/api/status");
  assert.equal(total(counts) + turns.total, status.documents, "nothing else is left out");
  // The list is under the strip.
  const [above, below] = [await strip(view).locator(".chart").boundingBox(), await view.hits.first().boundingBox()];
  assert(above.y + above.height < below.y, "the list is under the strip");
  assert(above.x < below.x + below.width / 2 && above.width > below.width * 2, "the strip is as wide as the list and the note");
  assert.match(await strip(view).innerText(), new RegExp(`${total(counts)} documents`));
  assert.equal((await view.ids()).length, Math.min(total(counts), 100));
  const times = await view.hits.locator("time").evaluateAll((all) => all.map((it) => it.dateTime));
  assert(times.length > 10);
  assert.deepEqual(times, times.toSorted().reverse(), "the newest is first");
  for (const text of ["Whole time", "day", "week", "month"]) assert((await strip(view).innerText()).includes(text));
});

desk.test("a range is dragged, kept in the address, and taken back", async (view) => {
  await open(view);
  const all = (await view.ids()).length;
  const box = await strip(view).locator(".chart").boundingBox();
  const y = box.y + box.height / 2;
  await view.page.mouse.move(box.x + box.width * 0.85, y);
  await view.page.mouse.down();
  await view.page.mouse.move(box.x + box.width * 0.9, y, { steps: 4 });
  await view.page.mouse.move(box.x + box.width - 3, y, { steps: 4 });
  const listed = view.page.waitForResponse((response) => /\/api\/timeline\?/.test(response.url()));
  await view.page.mouse.up();
  await until(() => /after=\d{4}-/.test(view.address()));
  await until(async () => (await view.ids()).length < all && (await view.ids()).length > 0);
  assert.match(await range(view), /\d{4} to /);
  // What is listed is from this range.
  const { entries } = await (await listed).json();
  const parameters = new URLSearchParams(view.address().split("?")[1]);
  assert.equal((await view.ids()).length, entries.length);
  for (const { created_at: at } of entries) {
    assert(at >= parameters.get("after") && at < parameters.get("before"), at);
  }
  const shared = view.address();
  await view.page.reload();
  await view.ready();
  await view.hits.first().waitFor();
  assert.equal(view.address(), shared);
  assert.match(await range(view), /\d{4} to /);
  await strip(view).getByRole("button", { name: "Whole time" }).click();
  await until(() => !view.address().includes("after="));
  await until(async () => (await view.ids()).length === all);
});

desk.test("keys move the range", async (view) => {
  await open(view);
  const first = strip(view).getByRole("slider").first();
  await first.focus();
  const before = await first.getAttribute("aria-valuetext");
  await view.key("PageUp", "PageUp", "ArrowRight");
  assert.notEqual(await first.getAttribute("aria-valuetext"), before);
  await until(() => view.address().includes("after="));
  await until(async () => (await view.focused()).startsWith("slider"), 3000, "the slider keeps the focus");
  await view.key("Home");
  await until(() => !view.address().includes("after="));
});

desk.test("counts per day, week and month agree", async (view) => {
  await open(view);
  const sums = [];
  const start = (day, unit) => {
    const at = new Date(`${day}T00:00:00Z`);
    if (unit === "month") at.setUTCDate(1);
    if (unit === "week") at.setUTCDate(at.getUTCDate() - ((at.getUTCDay() + 6) % 7));
    return at.toISOString().slice(0, 10);
  };
  const days = await view.api("GET", "/api/timeline/counts?everything=true&unit=day&from=2025-10-27&to=2026-02-01");
  for (const unit of ["week", "month"]) {
    // What the days of a week or a month have is what it has.
    const expected = new Map();
    for (const { start: day, count } of days.body.buckets) expected.set(start(day, unit), (expected.get(start(day, unit)) ?? 0) + count);
    const { body } = await view.api("GET", `/api/timeline/counts?everything=true&unit=${unit}&from=2025-10-27&to=2026-02-01`);
    assert(body.buckets.some(({ count }) => count > 0));
    for (const { start: day, count } of body.buckets) assert.equal(count, expected.get(day) ?? 0, `${unit} of ${day}`);
  }
  for (const unit of ["month", "week", "day"]) {
    const { status, body } = await view.api("GET", `/api/timeline/counts?everything=true&unit=${unit}&from=2025-11-01&to=2026-01-01`);
    assert.equal(status, 200);
    assert.equal(body.unit, unit);
    const starts = body.buckets.map(({ start }) => start);
    assert.deepEqual(starts, [...starts].sort());
    sums.push(total(body));
  }
  assert(sums[0] > 0 && sums[0] === sums[2], sums.join());
  await strip(view).getByRole("button", { name: "month" }).click();
  await until(async () => (await strip(view).getByRole("button", { name: "month" }).getAttribute("aria-pressed")) === "true");
});

desk.test("a period is a range of the strip, and what is in it is listed", async (view) => {
  const { home } = desk.program;
  await write(home, "notes/old-diary.md", "---\ncreated: 2021-03-04\n---\n# An old diary\n\nLong ago.\n");
  await desk.program.run("index");
  await open(view, "?after=3m");
  const [first, last] = await strip(view).getByRole("slider").evaluateAll((all) => all.map((it) => Number(it.getAttribute("aria-valuenow"))));
  assert(first > 0 && last >= first, `from ${first} to ${last}`);
  assert.notEqual(await range(view), "Whole time");
  // The bar of the first chosen month, week or day contains the day three months ago, or follows it.
  const outside = await strip(view).locator("rect.count.outside").count();
  assert.equal(outside, first);
  assert.match(await strip(view).getByRole("slider").first().getAttribute("aria-valuetext"), /\d documents?$/);
});

desk.test("a turn is listed if its kind is asked for, and a button asks", async (view) => {
  await open(view);
  await view.summary.locator("#turns").click();
  await until(() => view.address().includes("kind=turn"));
  await until(async () => (await view.texts()).some((text) => /claude-code/.test(text)));
  const { body } = await view.api("GET", "/api/timeline/counts?everything=true&kind=turn");
  assert(total(body) > 0);
  assert.match(await strip(view).innerText(), new RegExp(`${total(body)} documents`));
  await view.assertFocusIn("#results, #query");
});

desk.test("all sources are listed, however many there are", async (view) => {
  const { home } = desk.program;
  for (let number = 0; number < 12; number += 1) {
    await write(home, `many/${number}/one.md`, `---\ncreated: 2024-05-${10 + number}\n---\n# One of source ${number}\n\nA text.\n`);
    await desk.program.run("add", `${home}/many/${number}`, "--name", `many-${number}`);
  }
  await open(view, "?after=2024-05-01&before=2024-06-01");
  await until(async () => (await view.ids()).length >= 12);
  const text = (await view.texts()).join("\n");
  for (let number = 0; number < 12; number += 1) assert.match(text, new RegExp(`many-${number}\\b`));
});

for (const timezoneId of ["America/New_York", "Asia/Tokyo"]) {
  desk.test(`a day is the same day in ${timezoneId}`, { timezoneId }, async (view) => {
    await open(view, "?after=2025-05-11&before=2025-05-12");
    await view.shows(view.page.locator("#hits .group"), "Sunday, 11 May 2025");
    assert.equal(await view.page.locator("#hits .group").count(), 1);
    assert.equal(await range(view), "11 May 2025");
    assert.match(await view.hit("A terrace in May").locator("time").getAttribute("title"), /11 May 2025/);
  });
}

desk.test("a day of many notes is listed to its end", async (view) => {
  const { home } = desk.program;
  for (let number = 0; number < 230; number += 1) await write(home, `bulk/${number}.md`, `# Bulk ${number}\n\nOne of many.\n`);
  await desk.program.run("add", `${home}/bulk`);
  await open(view, "?source=bulk");
  const count = async () => (await view.ids()).length;
  assert.equal(await count(), 100);
  for (const expected of [200, 230]) {
    const first = await count();
    // What was just indexed may redraw the list: then the key is pressed again.
    await until(async () => {
      await view.page.locator("#earlier").press("Enter", { timeout: 3000 }).catch(() => {});
      return until(async () => (await count()) > first, 3000).catch(() => false);
    });
    assert.equal(await count(), expected);
    // The focus is on the first that came.
    await view.assertFocusIn("#hits");
    assert.equal(await view.selected.getAttribute("data-id"), (await view.ids())[first]);
  }
  assert.equal(new Set(await view.ids()).size, 230);
  assert.equal(await view.page.locator("#earlier").isVisible(), false);
});

desk.test("Esc leads from the timeline to the search", async (view) => {
  await open(view, "?source=memory");
  await view.query.focus();
  await view.key("Escape");
  await until(() => view.address() === "/#/?source=memory");
});

desk.test("chips narrow the strip and the list alike", async (view) => {
  const counts = await open(view, "?source=memory");
  await view.shows(view.chips, /memory/);
  for (const text of await view.texts()) assert.match(text, /memory/);
  assert.equal(total(counts), 5);
  assert.equal((await view.ids()).length, 5);
});

desk.test("an entry is read beside the list, and Esc leads back to the timeline", async (view) => {
  await open(view);
  await view.hits.nth(2).click();
  await view.body.waitFor();
  assert.match(view.address(), /^\/#\/note\/.*in=timeline/);
  assert(await strip(view).isVisible());
  await view.key("Escape");
  await until(() => view.address().startsWith("/#/timeline"));
  assert((await view.ids()).length > 5);
  await view.page.goBack();
});
