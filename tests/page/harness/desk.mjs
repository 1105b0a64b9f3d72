// A file of tests has one desk: a program with a filled home, its server, a browser, and
// pages that are signed in. Everything ends with the tests.
import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test as nodeTest } from "node:test";

import { launch, override, Watch } from "./browser.mjs";
import { failures } from "./places.mjs";
import { Program, until } from "./program.mjs";
import { View } from "./view.mjs";
import { fill } from "./world.mjs";

/** The time for one test, which is only reached if something hangs or a machine is busy. */
const TIMEOUT = 240_000;
/** The time for one wait of a page. */
const WAIT = 30_000;
const WIDE = { width: 1280, height: 800 };

export class Desk {
  /**
   * Creates the desk of a file of tests. `world` fills the home, `serve` are the
   * arguments of the server.
   */
  constructor({ serve = [], world = {}, meaning = false, environment } = {}) {
    this.views = [];
    before(async () => {
      // A machine that builds something else at the same time takes minutes for it.
      this.program = await Program.create({ meaning });
      if (world) await fill(this.program, world);
      this.browser = await launch();
      this.server = await this.program.serve(serve, { environment });
      // A link works for a minute: it is used at once, and its session by every test.
      await this.signIn();
    }, { timeout: TIMEOUT });
    after(async () => {
      await this.browser?.close();
      await this.program?.remove();
    });
  }

  /** Defines a test, which gets a view of the page: signed in, unless `signIn` is false. */
  test(name, options, body = options) {
    if (typeof options === "function") options = {};
    nodeTest(name, { timeout: TIMEOUT, ...options }, async (context) => {
      const start = this.views.length;
      try {
        const view = options.signIn === false ? await this.stranger(options) : await this.owner(options);
        await body(view, context);
        for (const { watch } of this.views.slice(start)) {
          assert.deepEqual(watch.unexpected(), [], "the page had troubles");
        }
      } catch (error) {
        await this.keep(name, this.views.slice(start));
        throw error;
      } finally {
        await Promise.all(this.views.splice(start).map((view) => view.context.close()));
      }
    });
  }

  /** Opens a page that is not signed in, in a profile of its own. */
  async stranger({ path = "/", ...options } = {}) {
    const view = await this.view(options);
    // A page asks who it is, and is told that it is no one.
    view.watch.allow(/status of 401.*api\/session/);
    await view.page.goto(this.server.origin + path);
    return view;
  }

  /** Opens a page that is signed in by link, in a profile of its own. */
  async owner({ path = "/", ...options } = {}) {
    const view = await this.view(options);
    await this.resume(view, this.session);
    await view.page.goto(this.server.origin + path);
    await view.ready();
    return view;
  }

  /** Signs in by link and keeps the session. */
  async signIn() {
    const view = await this.view({});
    await view.page.goto(await this.server.link());
    await view.ready();
    this.session = await this.sessionOf(view);
    await view.context.close();
    this.views.pop();
  }

  /** Opens a page that is signed in with a token. */
  async holder(token, { path = "/", ...options } = {}) {
    const view = await this.stranger(options);
    await view.signIn(token);
    await view.ready();
    if (path !== "/") await view.page.goto(this.server.origin + path);
    await view.ready();
    return view;
  }

  /** Returns what makes a tab signed in: cookies and what the tab keeps. */
  async sessionOf(view) {
    const cookies = await view.context.cookies();
    const kept = await view.page.evaluate(() => ({ ...sessionStorage }));
    return { cookies, kept };
  }

  /** Makes a view one that is signed in. */
  async resume(view, { cookies, kept }) {
    await view.context.addCookies(cookies);
    const { origin } = this.server;
    await view.page.addInitScript(([origin, kept]) => {
      if (location.origin !== origin || sessionStorage.getItem("kodiak-test")) return;
      sessionStorage.setItem("kodiak-test", "1");
      for (const [name, value] of Object.entries(kept)) sessionStorage.setItem(name, value);
    }, [origin, kept]);
  }

  async view({ viewport = WIDE, theme = "light", motion = "reduce", init, ...rest } = {}) {
    const { locale = "en-GB", timezoneId = "Europe/Berlin", permissions = [] } = rest;
    const context = await this.browser.newContext({
      viewport,
      locale,
      timezoneId,
      permissions,
      colorScheme: theme,
      reducedMotion: motion,
      serviceWorkers: "block",
    });
    context.setDefaultTimeout(WAIT);
    if (init) await context.addInitScript(init);
    return this.tab({ context });
  }

  /** Opens another tab of a view's profile. */
  async tab({ context }, path) {
    const page = await context.newPage();
    await override(page, this.server.origin);
    const view = new View(page, context, new Watch(page, this.server.origin), this);
    this.views.push(view);
    if (path !== undefined) await page.goto(this.server.origin + path);
    return view;
  }

  /** Keeps what pages looked like and said when a test failed. */
  async keep(name, views) {
    await mkdir(failures, { recursive: true });
    const safe = name.replace(/[^a-z0-9]+/gi, "-").slice(0, 80);
    for (const [number, { page, watch }] of views.entries()) {
      const file = join(failures, `${safe}-${number + 1}`);
      await page.screenshot({ path: `${file}.png`, timeout: 5000 }).catch(() => {});
      await writeFile(`${file}.log`, `${page.url()}\n${watch.lines.join("\n")}\n`);
    }
    await writeFile(join(failures, `${safe}-server.log`), this.server?.log ?? "");
  }
}

export { assert, until };
