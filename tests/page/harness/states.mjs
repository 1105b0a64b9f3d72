// States of the page that come and go, each with what brings it about: for the pictures and
// for those who look for barriers. Answers are held back or replaced, so that they stay.

const refused = { status: 503, json: { error: { code: "busy", message: "the server is busy with other requests", next: "try again" } } };
const never = () => {};

/** Goes to an address without loading the page anew, and so keeps what is routed. */
const go = (view, fragment) => view.page.evaluate((fragment) => (location.hash = fragment), fragment);

export const STATES = {
  "nothing indexed": async (view) => {
    await view.page.route("**/api/recent*", (route) => route.fulfill({ json: { opened: [], often: [], changed: [] } }));
    await view.page.route("**/api/status", (route) => route.fulfill({ json: { exists: false, documents: 0, semantic: null, sources: [], embedding: { embedded: 0, chunks: 0, running: false, model: null }, problems: [] } }));
    await view.page.route("**/api/events", never);
    await view.page.reload();
    await view.shows(view.nothing, "Nothing is indexed yet");
  },
  "first indexing": async (view) => {
    await view.page.route("**/api/recent*", (route) => route.fulfill({ json: { opened: [], often: [], changed: [] } }));
    await view.page.route("**/api/status", (route) => route.fulfill({ json: {
      exists: true, documents: 120, semantic: "all-minilm-l6-v2", doing: "indexing 'notes' (40 %)", problems: [],
      sources: [{ name: "notes", documents: 120, writable: true, indexed_at: null, skipped: 0, problems: 0, secrets_left_out: 0 }],
      embedding: { embedded: 310, chunks: 950, running: true, model: "all-minilm-l6-v2" },
    } }));
    await view.page.route("**/api/events", never);
    await view.page.reload();
    await view.shows(view.nothing, "Indexing for the first time");
  },
  "loading hits": async (view) => {
    await view.page.route("**/api/search", never);
    await view.page.reload();
    await view.page.evaluate(() => {
      history.replaceState(null, "", "#/?q=ramen");
      dispatchEvent(new PopStateEvent("popstate"));
    });
    await view.page.route("**/api/recent*", never);
    await view.page.reload();
    await view.page.locator("#progress:not([hidden])").waitFor();
  },
  "loading a note": async (view) => {
    await view.search("terrace in May");
    await view.page.route("**/rendered*", never);
    await view.hits.first().click();
    await view.shows(view.reader, "Loading…");
  },
  "a search that failed": async (view) => {
    view.watch.allow(/status of 503/);
    await view.page.route("**/api/search", (route) => route.fulfill(refused));
    await go(view, "#/?q=ramen");
    await view.shows(view.nothing, "The search failed");
  },
  "a note that failed": async (view) => {
    view.watch.allow(/status of 503/);
    await view.search("terrace in May");
    await view.page.route("**/rendered*", (route) => route.fulfill(refused));
    await view.hits.first().click();
    await view.shows(view.reader, "could not be loaded");
  },
  "a timeline that failed": async (view) => {
    view.watch.allow(/status of 503/);
    await view.page.route("**/api/timeline*", (route) => route.fulfill(refused));
    await view.page.route("**/api/timeline/counts*", (route) => route.fulfill(refused));
    await go(view, "#/timeline");
    await view.shows(view.nothing, "could not be loaded");
  },
  "a changed note": async (view) => {
    await view.search("terrace strawberries");
    await view.open("A terrace in May");
    await view.page.route("**/rendered*", async (route) => {
      const response = await route.fetch();
      const note = await response.json();
      return route.fulfill({ response, json: { ...note, html: `${note.html}<p>More.</p>`, updated_at: "2030-01-01T00:00:00Z" } });
    });
    await view.page.evaluate(async () => (await import("/page/bus.js")).emit("documents"));
    await view.reader.locator("#changed").waitFor();
  },
  "a message with an undo": async (view) => {
    await view.search("terrace strawberries");
    await view.open("A terrace in May");
    await view.page.evaluate(async () => (await import("/page/toast.js")).toast("“A terrace in May” was moved to the trash", () => {}));
    await view.toasts.locator(".undo").waitFor();
  },
  "the status with problems": async (view) => {
    await view.page.route("**/api/events", never);
    await view.page.route("**/api/status", async (route) => {
      const response = await route.fetch();
      const status = await response.json();
      const [first, ...rest] = status.sources;
      return route.fulfill({ response, json: {
        ...status, doing: "embedding 'notes'",
        sources: [{ ...first, pending: 3, skipped: 2, secrets_left_out: 1, error: "the folder /home/ana/notes is not there" }, ...rest],
        embedding: { ...status.embedding, embedded: 310, chunks: 950, running: true, model: "all-minilm-l6-v2" },
        problems: [{ text: "'notes' cannot be read: the folder /home/ana/notes is not there", command: "kodiak remove notes" }, { text: "3 changes in 'notes' are not indexed", command: "kodiak index" }],
      } });
    });
    await view.page.reload();
    await view.ready();
    await go(view, "#/status");
    await view.shows(view.page.locator("#status"), "problems");
  },
  "an Arabic note": async (view) => {
    await view.search("مراكش");
    await view.hits.first().click();
    await view.body.waitFor();
  },
  "the tags of a note": async (view) => {
    await view.search("terrace strawberries");
    await view.open("A terrace in May");
    await view.page.locator("#edit-tags").click();
    await view.dialog.waitFor();
  },
  "a server that is gone": async (view) => {
    view.watch.allow(/failed: |ERR_|network/);
    await view.search("weekly review");
    await view.context.setOffline(true);
    await view.query.fill("another");
    await view.banner.waitFor();
  },
};
