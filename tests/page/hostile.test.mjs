// Notes that attack their readers stay text.
import { assert, Desk, until } from "./harness/desk.mjs";
import { NOTES } from "./harness/hostile.mjs";

const desk = new Desk({ serve: ["--allow-write"], world: { memories: false, sessions: false, extra: NOTES } });

/** Sees code that runs, wherever it runs. */
const CANARY = () => {
  window.opened = 0;
  window.open = () => (window.opened += 1);
};

const origin = () => desk.server.origin;
const hash = (id) => `/#/note/${id}`;

/** Asserts that nothing has run and that the page is where it was. */
async function inert({ page }) {
  const state = await page.evaluate(() => ({
    pwned: window.pwned ?? null,
    polluted: {}.pwned ?? null,
    opened: window.opened,
    origin: location.origin,
    scripts: [...document.querySelectorAll("script")].filter((it) => !it.src.startsWith(location.origin)).length,
    frames: document.querySelectorAll("iframe, frame, object, embed, portal, svg script").length,
    // Nothing of a note bears what the page goes by.
    duplicates: [...document.querySelectorAll("[id]")].map((it) => it.id).filter((id, at, all) => all.indexOf(id) !== at),
  }));
  assert.deepEqual(state, {
    pwned: null,
    polluted: null,
    opened: 0,
    origin: origin(),
    scripts: 0,
    frames: 0,
    duplicates: [],
  });
}

/** Returns what a rendered note has that no note may have. */
const forbidden = (body) =>
  body.evaluate((body) => {
    const found = [];
    const elements = [...body.querySelectorAll("*")];
    for (const it of elements) {
      const allowed = /^(a|abbr|b|blockquote|br|caption|cite|code|col|colgroup|dd|del|details|dfn|div|dl|dt|em|figcaption|figure|h[1-6]|hr|i|img|input|ins|kbd|li|mark|ol|p|pre|q|rp|rt|ruby|s|samp|section|small|span|strike|strong|sub|summary|sup|table|tbody|td|tfoot|th|thead|time|tr|tt|u|ul|var|wbr|bdo|bdi|center|aside|header|footer|article|nav|hgroup|area|map|acronym|data|strong|button)$/;
      if (!allowed.test(it.localName)) found.push(it.outerHTML.slice(0, 120));
      if (it.namespaceURI !== "http://www.w3.org/1999/xhtml") found.push(`namespace: ${it.outerHTML.slice(0, 120)}`);
      for (const { name, value } of it.attributes) {
        if (/^on|^(style|srcset|srcdoc|ping|formaction|action|background|is|autofocus|name|download)$/i.test(name)) {
          found.push(`${name} of ${it.outerHTML.slice(0, 120)}`);
        }
        if (/^(href|src|xlink:href|cite)$/i.test(name)) {
          const { protocol } = new URL(value, document.baseURI);
          const here = it.localName === "img" ? /^(blob|data):$/ : /^(https?|mailto):$/;
          if (!here.test(protocol)) found.push(`${name}: ${value.slice(0, 120)}`);
          if (it.localName === "a" && !value.startsWith("#/") && !/noopener/.test(it.rel)) found.push(`rel: ${it.outerHTML.slice(0, 120)}`);
        }
      }
      if (it.localName === "input" && !(it.type === "checkbox" && it.disabled)) found.push(it.outerHTML);
    }
    return found;
  });

for (const [name, title] of [
  ["links", "Links that run"],
  ["tags", "Tags that run"],
  ["tags-reversed", "Tags backwards"],
  ["inline", "Tags inline"],
  ["quoted", "Tags in lists"],
  ["images", "Images from elsewhere"],
  ["markup", "<b>title</b>"],
  ["odd", "hostile"],
  ["fields", "Fields that run"],
]) {
  desk.test(`${name}: read and clicked, it stays text`, { init: CANARY }, async (view) => {
    const { page, body, watch } = view;
    // An image that is not shown is asked for and refused.
    watch.allow(/\/files\/.*(40[0-9])/, /status of (400|403|404|415)/);
    const path = `notes/hostile/${name}.md`;
    const { id } = (await desk.program.json("get", path)).documents?.[0] ?? (await desk.program.json("get", path));
    await page.goto(origin() + hash(id));
    await body.waitFor();
    await view.reading(title);
    assert.deepEqual(await forbidden(body), []);
    await inert(view);
    // Pointers and keys run nothing either.
    const tried = await body.evaluate((body) => {
      const all = [...body.querySelectorAll("*")];
      for (const it of all) {
        for (const kind of ["mouseover", "focus", "load", "error", "toggle", "begin"]) it.dispatchEvent(new Event(kind));
        // Links are clicked where they would lead somewhere within the page.
        const outside = it.localName === "a" && /^(https?|mailto):/.test(it.getAttribute("href") ?? "");
        if (it.click && !outside && !it.closest("a[data-id]")) it.click();
      }
      return all.length;
    });
    assert(tried > 0, "there is something to click");
    await page.waitForTimeout(300);
    await inert(view);
  });
}

desk.test("markup in titles, names, tags and fields is text in every list", { init: CANARY }, async (view) => {
  const { page } = view;
  await view.search("hostile");
  assert((await view.ids()).length >= 5);
  await inert(view);
  const html = await page.evaluate(() => document.querySelector("main").innerHTML);
  assert.doesNotMatch(html, /<img src="?x|<script|<b>title/);
  assert.match(await page.evaluate(() => document.querySelector("main").innerText), /<b>title<\/b>/);
  // A mark of direction is within an element that keeps it from what is beside.
  const loose = await page.evaluate(() => {
    const found = [];
    const walker = document.createTreeWalker(document.querySelector("#hits"), NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (!/[\u202A-\u202E\u2066-\u2069]/.test(node.data)) continue;
      let it = node.parentElement;
      while (it && !/isolate|plaintext/.test(getComputedStyle(it).unicodeBidi)) it = it.parentElement;
      const texts = it?.closest("#hits [data-id] *") ? it.textContent : null;
      if (texts === null || it.querySelectorAll(".tag").length > 1) found.push(node.data);
    }
    return found;
  });
  assert.deepEqual(loose, []);
  await page.goto(`${origin()}/#/timeline`);
  await view.hits.first().waitFor();
  await inert(view);
  await page.goto(`${origin()}/#/status`);
  await page.locator("#status").waitFor();
  await inert(view);
});

desk.test("an address that was tampered with is only a query", { init: CANARY }, async (view) => {
  const { page, watch } = view;
  watch.allow(/40[04]/);
  const payloads = [
    `/#/?q=${encodeURIComponent('<img src=x onerror="window.pwned=1">')}`,
    `/#/?q=x&tag=${encodeURIComponent('"><script>window.pwned=1</script>')}`,
    `/#/?q=x&source=../../etc&after=javascript:alert(1)&before=%00`,
    `/#/note/${encodeURIComponent("../../status")}`,
    `/#/note/${encodeURIComponent('<svg onload="window.pwned=1">')}?line=-1`,
    "/#/note/aaaaaa?line=99999999999999999999",
    "/#javascript:window.pwned=1",
    "/#//evil.example/",
    "/#/timeline?from=9999999-01-01&to=x&unit=<script>",
    "/#code=not-a-code",
    "/#/%E0%A4%A",
    "/#/note/%E0%A4%A?line=%E0%A4%A",
  ];
  for (const payload of payloads) {
    watch.allow(/401/);
    await page.goto("about:blank");
    await page.goto(origin() + payload);
    await page.locator("#app:not([inert]), #signin:not([hidden])").waitFor();
    await page.waitForTimeout(100);
    await inert(view);
  }
});

desk.test("the address of an image, opened as a document, is of no origin", { init: CANARY }, async (view) => {
  const one = await desk.program.json("get", "notes/hostile/images.md");
  const { id } = one.documents?.[0] ?? one;
  view.watch.allow(/\/files\/.*(40[0-9])/, /status of (400|403|404|415)/);
  await view.page.goto(origin() + hash(id));
  await view.body.waitFor();
  const drawings = view.body.locator("img[alt=svg]");
  await until(() => drawings.first().evaluate((it) => it.complete && it.naturalWidth > 0));
  const addresses = await view.body.locator("img[src]").evaluateAll((all) => all.map((it) => [it.src, it.dataset.file]));
  assert(addresses.length > 0);
  for (const [address, file] of addresses) {
    const tab = await view.context.newPage();
    await tab.goto(address);
    // A picture has the origin of the page, but is no document in which anything runs.
    const { own, type, secrets } = await tab.evaluate(() => ({
      own: self.origin,
      type: document.contentType,
      secrets: (() => { try { return Object.keys(sessionStorage).length + document.cookie.length; } catch { return 0; } })(),
    }));
    if (/svg|xml|html/.test(type)) assert.notEqual(own, origin(), file);
    assert.equal(secrets, 0, file);
    await tab.close();
  }
  assert(addresses.some(([address]) => address.startsWith("data:image/svg+xml")), "a drawing is shown");
  await inert(view);
});

desk.test("what is served as an image is shown only if it is one", { init: CANARY }, async (view) => {
  const one = await desk.program.json("get", "notes/hostile/images.md");
  const { id } = one.documents?.[0] ?? one;
  await view.page.route("**/files/**", (route) => route.fulfill({ status: 200, contentType: "text/html", body: "<script>window.pwned=1</script>" }));
  await view.page.goto(origin() + hash(id));
  await view.body.waitFor();
  await until(() => view.body.locator("img[data-file]").count().then((left) => left === 0));
  assert((await view.body.locator(".broken").count()) > 0);
  await inert(view);
});

desk.test("an image is served so that it cannot act", {}, async (view) => {
  const one = await desk.program.json("get", "notes/hostile/images.md");
  const { id } = one.documents?.[0] ?? one;
  const cookies = (await view.context.cookies()).map(({ name, value }) => `${name}=${value}`).join("; ");
  const secret = Object.values(await view.page.evaluate(() => ({ ...sessionStorage }))).find((value) => value.length >= 32);
  const headers = { Cookie: cookies, "Kodiak-Secret": secret };
  const ask = (path) => fetch(`${origin()}/api/documents/${id}/files/${path}`, { headers });
  const svg = await ask("hostile/evil.svg").then(async (answer) => (answer.ok ? answer : ask("evil.svg")));
  assert.equal(svg.status, 200);
  assert.match(svg.headers.get("content-security-policy"), /sandbox/);
  assert.equal(svg.headers.get("x-content-type-options"), "nosniff");
  assert.match(svg.headers.get("content-type"), /^image\/svg\+xml/);
  for (const path of [
    "../secret.png",
    "..%2fsecret.png",
    "%2e%2e/%2e%2e/secret.png",
    "..%5csecret.png",
    "%2fetc%2fhostname",
    "links.md",
    "hostile/links.md",
    "garden/pictures/../../../secret.png",
    ".trash/x.png",
    "x%00.png",
    "con",
  ]) {
    const answer = await ask(path);
    assert([400, 403, 404, 415].includes(answer.status), `${path}: ${answer.status}`);
    assert.doesNotMatch(answer.headers.get("content-type") ?? "", /image|html/);
  }
});
