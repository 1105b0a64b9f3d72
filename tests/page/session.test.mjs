// Signing in and out, and everything that ends a session.
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { assert, Desk, until } from "./harness/desk.mjs";

const desk = new Desk({ world: { sessions: false } });
/** What a browser logs when a request is refused, as it should be here. */
const REFUSED = /status of (401|403)/;
/** What it logs when there is no server. */
const GONE = /ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_EMPTY_RESPONSE|ERR_FAILED|network error/;

/** Defines a test with a server of its own, to which its pages go. */
function alone(name, arguments_, body) {
  desk.test(name, { signIn: false }, async (stranger, context) => {
    await stranger.page.close();
    const previous = desk.server;
    desk.server = await desk.program.serve(arguments_);
    try {
      await body(context);
      // What a page asks of a server that is stopped under it is no trouble of the page.
      await Promise.all(desk.views.map(({ page }) => page.close()));
    } finally {
      await desk.server.stop("SIGKILL");
      desk.server = previous;
    }
  });
}

alone("a link signs in once; its code leaves the address at once", [], async () => {
  const link = await desk.server.link();
  const view = await desk.view({});
  // The code is sent in a body only.
  const seen = [];
  view.page.on("request", (request) => seen.push(request.url(), request.headers().referer ?? ""));
  await view.page.goto(link);
  await view.ready();
  const code = link.split("#code=")[1];
  assert(!view.page.url().includes(code));
  assert(!seen.some((it) => it.replace(/#.*/, "").includes(code)), seen.join("\n"));
  assert.equal(await view.page.evaluate((code) => JSON.stringify([history.state, { ...sessionStorage }, { ...localStorage }]).includes(code), code), false);
  await view.page.goBack().catch(() => {});
  assert(!view.page.url().includes(code), "the history has the code");

  const second = await desk.view({});
  second.watch.allow(REFUSED);
  await second.page.goto(link);
  await second.signedOut();
  assert.match(await second.signInForm.innerText(), /used|expired|link|code/i);
});

/** Pastes an address into the tab, as a person does: the page is not loaded anew. */
const paste = ({ page }, address) => page.evaluate((address) => (location.href = address), address);

alone("a link that is pasted into a signed-out tab signs in, and leaves no code behind", [], async () => {
  const view = await desk.stranger({ path: "/#/?q=lisbon" });
  view.watch.allow(REFUSED);
  await view.signedOut();
  const link = await desk.server.link();
  const code = link.split("#code=")[1];
  await paste(view, link);
  await view.ready();
  // What the tab was opened for is shown.
  await view.settled("lisbon");
  await view.assertFocusIn("#query");
  assert.equal(view.address(), "/#/?q=lisbon");
  for (const way of ["goBack", "goForward"]) {
    await view.page[way]().catch(() => {});
    assert(!view.page.url().includes(code), `${way} shows the code`);
  }
  // The link has worked once.
  const second = await desk.stranger();
  second.watch.allow(REFUSED);
  await second.signedOut();
  await second.signInForm.locator("#token").fill("half a tok");
  await paste(second, link);
  await second.shows(second.signInForm.getByRole("alert"), /used|expired|link|code/i);
  assert(!second.page.url().includes(code));
  assert.equal(await second.signInForm.locator("#token").inputValue(), "half a tok");
});

alone("a link that is pasted into a signed-in tab begins its session; a used one ends nothing", [], async () => {
  const link = await desk.server.link();
  const view = await desk.holder(await desk.program.run("token", "create", "other"));
  // The stream of the former session ends with it.
  view.watch.allow(REFUSED, GONE);
  await view.search("ramen");
  await view.open("Ramen broth");
  const secret = () => view.page.evaluate(() => Object.values(sessionStorage).join());
  const before = await secret();
  await paste(view, link);
  await until(async () => (await secret()) !== before);
  await view.ready();
  await view.reading("Ramen broth");
  assert(!view.page.url().includes("code="));
  assert.equal((await view.api("GET", "/api/session")).status, 200);
  await paste(view, link);
  await view.toasts.getByText(/used|expired|link|code/i).waitFor();
  assert(!view.page.url().includes("code="));
  await view.search("lisbon");
  assert((await view.ids()).length > 0);
});

for (const code of ["%E0", "%", "nonsense", "a&b=c"]) {
  desk.test(`a link with the code ${code} leads to the form, which says why`, { signIn: false }, async (first) => {
    first.watch.allow(REFUSED);
    const view = await desk.view({});
    view.watch.allow(REFUSED);
    await view.page.goto(`${desk.server.origin}/#code=${code}`);
    await view.signedOut();
    assert((await view.signInForm.getByRole("alert").innerText()).length > 10);
    assert(!view.page.url().includes("code="));
  });
}

for (const how of ["loaded", "pasted"]) {
  alone(`a link that is ${how} while the server does not answer works once it does`, [], async () => {
    const link = await desk.server.link();
    const view = await desk.view({});
    view.watch.allow(GONE, REFUSED, /failed: /);
    let away = true;
    await view.page.route(/\/(session|health|api\/.*)$/, (route) => (away ? route.abort("connectionrefused") : route.fallback()));
    if (how === "pasted") {
      away = false;
      await view.page.goto(desk.server.origin);
      await view.signedOut();
      away = true;
      await paste(view, link);
    } else await view.page.goto(link);
    await view.banner.waitFor();
    assert(!view.page.url().includes("code="));
    away = false;
    await view.ready();
    await view.banner.waitFor({ state: "hidden" });
    await view.search("ramen");
    assert((await view.ids()).length > 0);
  });
}

desk.test("a token that is being typed survives a server that goes and comes back", { signIn: false }, async (view) => {
  view.watch.allow(GONE, REFUSED, /failed: /);
  let away = true;
  await view.page.route(/\/(session|health|api\/.*)$/, (route) => (away ? route.abort("connectionrefused") : route.fallback()));
  await view.page.reload();
  await view.banner.waitFor();
  away = false;
  await view.signedOut();
  await view.signInForm.locator("#token").fill("half a tok");
  away = true;
  await view.signInForm.getByRole("button", { name: "Sign in" }).click();
  await view.banner.waitFor();
  await view.signInForm.locator("#token").fill("half a token");
  away = false;
  await view.banner.waitFor({ state: "hidden" });
  await view.page.waitForTimeout(500);
  assert.equal(await view.signInForm.locator("#token").inputValue(), "half a token");
});

desk.test("a token signs in when it is pasted, and a wrong one is explained", { signIn: false }, async (view) => {
  view.watch.allow(REFUSED);
  await view.signedOut();
  assert.equal(await view.page.title(), "Sign in – Kodiak");
  await view.assertFocusIn("#token");
  for (const wrong of ["nonsense", `kodiak_${"0".repeat(64)}`, "<b>x</b>"]) {
    await view.signIn(wrong);
    const problem = view.signInForm.getByRole("alert");
    await until(async () => (await problem.innerText()).length > 10);
    assert.doesNotMatch(await problem.innerText(), /undefined|null|\[object/);
  }
  await view.signIn(await desk.program.run("token", "create", "pasted"));
  await view.ready();
  await view.search("ramen");
  assert.equal(view.page.url().includes("kodiak_"), false);
  assert.equal(await view.page.evaluate(() => JSON.stringify({ ...sessionStorage, ...localStorage }).includes("kodiak_")), false);
});

desk.test("reloading stays signed in; an address opened signed out is opened after signing in", async (view) => {
  await view.page.goto(`${desk.server.origin}/#/?q=ramen`);
  await view.settled("ramen");
  await view.page.reload();
  await view.settled("ramen");

  const other = await desk.stranger({ path: "/#/?q=lisbon" });
  other.watch.allow(REFUSED);
  await other.signIn(await desk.program.run("token", "create", "deep"));
  await other.settled("lisbon");
});

desk.test("a revoked token ends the session while the page is open", { signIn: false }, async () => {
  const token = await desk.program.run("token", "create", "brief");
  const view = await desk.holder(token);
  view.watch.allow(REFUSED);
  await view.search("ramen");
  await desk.program.run("token", "revoke", "brief");
  // Nothing has to be typed: the stream of events ends with the session.
  await view.signedOut();
  assert.equal(await view.page.locator("#hits").isVisible(), false);
  const text = await view.page.evaluate(() => document.body.innerText);
  assert.doesNotMatch(text, /Ramen/);
  await view.page.reload();
  await view.signedOut();
});

desk.test("a token that expires ends the session", { signIn: false }, async (first) => {
  await first.page.close();
  const token = await desk.program.run("token", "create", "old", "--expires", "1d");
  const view = await desk.holder(token);
  view.watch.allow(REFUSED);
  await view.search("ramen");
  // A day passes: by what the file of the tokens says.
  const names = await readdir(desk.program.home, { recursive: true });
  const file = join(desk.program.home, names.find((it) => /(^|\/)tokens[^/]*$/.test(it)));
  const text = await readFile(file, "utf8");
  const past = text.replace(/("name":\s*"old"[^}]*?"expires_at":\s*)("[^"]*"|\d+)/, (_, start, end) =>
    start + (end.startsWith('"') ? '"2020-01-01T00:00:00Z"' : "1"));
  assert.notEqual(past, text);
  await writeFile(file, past);
  await view.signedOut();
  assert.doesNotMatch(await view.page.evaluate(() => document.body.innerText), /Ramen/);
});

alone("a session that was not used expires, and signing in goes on", ["--session-idle", "4"], async () => {
  const view = await desk.view({});
  view.watch.allow(REFUSED);
  await view.page.goto(await desk.server.link());
  await view.ready();
  // Use keeps it open for longer than its time.
  for (let second = 0; second < 6; second += 1) {
    await view.search(`ramen ${second}`, "words");
    await view.page.waitForTimeout(1000);
  }
  await view.signedOut();
  await view.signIn(await desk.program.run("token", "create", "again"));
  await view.ready();
});

alone("the server goes and comes back: a banner, and signing in again", [], async () => {
  const { port } = desk.server;
  const token = await desk.program.run("token", "create", "steady");
  const view = await desk.holder(token);
  view.watch.allow(GONE, REFUSED);
  await view.search("ramen");
  await desk.server.stop("SIGKILL");
  await view.banner.waitFor();
  assert.match(await view.banner.innerText(), /server/);
  // What was there can still be read, and typing breaks nothing.
  assert((await view.ids()).length > 0);
  await view.query.fill("lisbon");
  await view.page.waitForTimeout(300);
  assert.equal(await view.page.getByText("The search failed").count(), 0);
  await view.shows(view.summary, "Still the results for “ramen”");

  desk.server = await desk.program.serve([], { port });
  // Sessions are in the memory of a server: the new one knows none.
  await view.signedOut();
  await view.banner.waitFor({ state: "hidden" });
  await view.signIn(token);
  await view.ready();
  await view.settled("lisbon");
});

alone("without tokens no one has to sign in, and a restart is survived", ["--no-token"], async () => {
  const { port } = desk.server;
  const view = await desk.stranger();
  view.watch.allow(GONE);
  await view.ready();
  await view.search("ramen");
  await desk.server.stop("SIGKILL");
  await view.banner.waitFor();
  desk.server = await desk.program.serve(["--no-token"], { port });
  await view.banner.waitFor({ state: "hidden", timeout: 30_000 });
  await view.search("lisbon");
  assert.match((await view.texts())[0], /Lisbon/);
});

desk.test("a second tab is signed in by the first, and signing out ends both", async (view) => {
  // Loaded by a click, a tab takes over what the first one keeps: this is one without.
  const second = await desk.tab(view, "/#/?q=ramen");
  await second.settled("ramen");
  const third = await desk.tab(view, "/");
  await third.ready();
  for (const one of [view, second, third]) one.watch.allow(REFUSED);
  const signOut = view.page.getByRole("button", { name: "Sign out" });
  if (!(await signOut.isVisible())) await view.page.goto(`${desk.server.origin}/#/status`);
  await signOut.first().click();
  for (const one of [view, second, third]) {
    await one.signedOut();
    assert.doesNotMatch(await one.page.evaluate(() => document.body.innerText), /Ramen/);
  }
  // The session is over for the server, too, not only for the page.
  const cookies = desk.session.cookies.map(({ name, value }) => `${name}=${value}`).join("; ");
  const secret = Object.values(desk.session.kept).find((value) => value.length >= 32);
  const answer = await fetch(`${desk.server.origin}/api/status`, { headers: { Cookie: cookies, "Kodiak-Secret": secret } });
  assert.equal(answer.status, 401);
});

desk.test("the frame of the page is painted before any module has come", { signIn: false }, async (view) => {
  view.watch.allow(REFUSED);
  const held = [];
  await view.page.route(/\/page\/(?!theme)[^/]+\.js$/, (route) => held.push(route));
  await view.page.goto(`${desk.server.origin}/?again`, { waitUntil: "commit" });
  await until(() => view.page.evaluate(() => performance.getEntriesByName("first-contentful-paint").length > 0));
  assert(held.length > 0, "modules are held back");
  await view.page.getByText("Timeline").waitFor();
  assert(await view.query.isVisible());
  // It does nothing until it is known who asks.
  assert.equal(await view.page.locator("#app").evaluate((it) => it.inert), true);
  for (const route of held.splice(0)) await route.continue();
  await view.page.unroute(/\/page\/(?!theme)[^/]+\.js$/);
  await view.signedOut();
});

desk.test("a tab of a browser that was not signed in gets nothing", { signIn: false }, async (view) => {
  view.watch.allow(REFUSED);
  await view.signedOut();
  for (const path of ["/api/status", "/api/recent", "/api/session", "/api/events", "/api/timeline", "/api/timeline/counts"]) {
    const answer = await view.page.request.get(desk.server.origin + path);
    assert.equal(answer.status(), 401, path);
  }
  for (const path of ["/api/search", "/api/facets", "/api/pages", "/api/memories", "/api/undo", "/api/opened"]) {
    const answer = await view.page.request.post(desk.server.origin + path, { data: {} });
    assert.equal(answer.status(), 401, path);
  }
});
