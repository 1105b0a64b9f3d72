// Transcripts, session records and memories.
import { assert, Desk, until } from "./harness/desk.mjs";

const desk = new Desk({});

desk.test("a turn of a transcript is read within its conversation", async (view) => {
  await view.search("token bucket for each client");
  await view.page.goto(`${desk.server.origin}/#/?q=nightly%20export%20noon&source=claude-code`);
  await view.settled("nightly export noon");
  await view.hits.first().click();
  const turns = view.reader.locator(".turn");
  await turns.first().waitFor();
  const found = view.reader.locator(".turn.found");
  assert.equal(await found.count(), 1);
  assert.match(await found.innerText(), /nightly export/);
  const inView = await found.evaluate((it) => it.getBoundingClientRect().top < innerHeight && it.getBoundingClientRect().bottom > 0);
  assert(inView);
  const speakers = await turns.evaluateAll((all) => all.map((it) => it.dataset.speaker));
  assert(speakers.includes("user") && speakers.includes("assistant"), speakers.join());
  // What tools said is folded, and unfolds.
  const tools = view.reader.locator("details.tools").first();
  assert.equal(await tools.evaluate((it) => it.open), false);
  await tools.locator("summary").click();
  await tools.getByText(/metrics/).first().waitFor();
  assert.match(await view.reader.innerText(), /claude --resume 5e1d3a52/);
  // Markdown within turns is rendered.
  assert((await view.reader.locator(".turn strong").count()) > 0);
  assert.match(await view.reader.locator(".turn pre code").first().innerText(), /Bucket::new/);
});

desk.test("tool traffic that was found is unfolded", async (view) => {
  await view.page.goto(`${desk.server.origin}/#/?q=tile_queue_length&source=claude-code`);
  await view.settled("tile_queue_length");
  await view.hits.first().click();
  await view.reader.locator(".turn").first().waitFor();
  await view.reader.getByText(/tile_queue_length|metrics/).first().waitFor();
});

desk.test("a session record shows decisions and lessons", async (view) => {
  await view.page.goto(`${desk.server.origin}/#/?q=tile%20cache%20dropped&source=sessions`);
  await view.settled("tile cache dropped");
  await view.hits.first().click();
  await view.shows(view.reader, "Removed the cache of our own");
  const record = view.reader.locator(".record");
  assert.match(await record.innerText(), /Decisions[\s\S]*Removed the cache[\s\S]*Lessons[\s\S]*Measure the memory/);
});

desk.test("a superseded memory shows its correction, and the correction what it corrects", async (view) => {
  await view.page.goto(`${desk.server.origin}/#/?q=tile%20API%20requests%20a%20minute&source=memory`);
  await view.settled("tile API requests a minute");
  const texts = await view.texts();
  const older = texts.findIndex((text) => /100 requests/.test(text));
  const newer = texts.findIndex((text) => /600 requests/.test(text));
  assert(newer >= 0 && older > newer, texts.join("\n---\n"));
  assert.match(texts[older], /superseded/);
  // The title of a memory is its text, which is said once.
  assert.equal(texts[older].match(/100 requests/g).length, 1, texts[older]);
  assert.equal(await view.hits.nth(older).locator("mark", { hasText: "requests" }).count(), 1);
  await view.hits.nth(older).click();
  await view.shows(view.reader, "Corrected by");
  await view.reader.locator(".notice a").first().click();
  await view.shows(view.reader, "600 requests");
  await view.shows(view.reader, "Corrects");
  await until(async () => /100 requests/.test(await view.reader.locator(".notices").innerText()));
});
