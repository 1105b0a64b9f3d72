// Makes pictures of each view: `node pictures.mjs FOLDER`. With names after the folder,
// only of those; with sizes such as 390, only at those.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";

import { launch, override, Watch } from "./browser.mjs";
import { Program } from "./program.mjs";
import { STATES } from "./states.mjs";
import { View } from "./view.mjs";
import { fill } from "./world.mjs";

const [folder, ...only] = process.argv.slice(2);
const SIZES = [
  [390, 844],
  [1024, 768],
  [1600, 1000],
].filter(([width]) => !only.some(Number) || only.includes(String(width)));
const wanted = (name) => only.every(Number) || only.includes(name);

const searched = (query, rest = "") => async (view) => {
  await view.go(`/#/?q=${encodeURIComponent(query)}${rest}`);
  await view.settled(query);
};

/** The views, each with what leads there. */
const VIEWS = {
  start: (view) => view.hits.first().waitFor(),
  hits: searched("how do I stop getting distracted"),
  correction: searched("sourdoh startr"),
  uncertain: searched("quarterly revenue of submarine manufacturers"),
  nothing: async (view) => {
    await view.go("/#/?q=ramen&tag=gtd&kind=recipe");
    await view.nothing.waitFor();
  },
  why: async (view) => {
    await searched("weekly review")(view);
    await view.page.locator("#why").click();
    await view.page.locator("dl.why").first().waitFor();
  },
  filters: async (view) => {
    await searched("review", "&tag=gtd")(view);
    await view.page.locator("#show-filters").click();
    await view.facets.locator("[data-key]").first().waitFor();
  },
  note: async (view) => {
    await searched("terrace strawberries")(view);
    await view.open("A terrace in May");
    await view.body.locator("img").first().evaluate((it) => it.decode().catch(() => {}));
  },
  meaning: async (view) => {
    await searched("how do I stop getting distracted")(view);
    await view.key("ArrowDown", "Enter");
    await view.body.waitFor();
  },
  code: async (view) => {
    await searched("SQLite WAL mode")(view);
    await view.open("SQLite WAL mode");
  },
  long: async (view) => {
    await searched("parcel tracking outage")(view);
    await view.open("Postmortem");
  },
  arabic: async (view) => {
    await searched("مراكش")(view);
    await view.hits.first().click();
    await view.body.waitFor();
  },
  japanese: async (view) => {
    await searched("梅雨")(view);
    await view.hits.first().click();
    await view.body.waitFor();
  },
  conversation: async (view) => {
    await searched("nightly export noon", "&source=claude-code")(view);
    await view.hits.first().click();
    await view.reader.locator(".turn").first().waitFor();
  },
  record: async (view) => {
    await searched("tile cache memory", "&source=sessions")(view);
    await view.hits.first().click();
    await view.reader.locator(".record").waitFor();
  },
  superseded: async (view) => {
    await searched('"100 requests"', "&source=memory")(view);
    await view.hits.first().click();
    await view.shows(view.reader, "Corrected by");
  },
  timeline: async (view) => {
    await view.go("/#/timeline");
    await view.hits.first().waitFor();
  },
  "timeline-note": async (view) => {
    await view.go("/#/timeline?after=2025-09-01&before=2026-02-01");
    await view.hit("VACUUM INTO").first().waitFor();
    await view.hits.nth(3).click();
    await view.body.waitFor();
  },
  status: async (view) => {
    await view.go("/#/status");
    await view.shows(view.page.locator("#status"), /notes/);
  },
  keys: async (view) => {
    await view.page.locator("#help").click();
    await view.dialog.waitFor();
  },
  write: async (view) => {
    await view.page.locator("#new").click();
    await view.dialog.waitFor();
  },
  missing: async (view) => {
    await view.go("/#/note/ffffffffffff");
    await view.shows(view.reader, /Document not found/);
  },
  "signed-out": async (view) => {
    await view.context.clearCookies();
    await view.page.evaluate(() => {
      sessionStorage.clear();
      sessionStorage.setItem("kodiak-test", "1");
    });
    await view.page.goto("about:blank");
    await view.page.goto(`${view.desk.server.origin}/`);
    await view.signedOut();
  },
};
for (const [name, reach] of Object.entries(STATES)) VIEWS[name.replaceAll(" ", "-")] ??= reach;

const program = await Program.create({ meaning: true });
let browser;
try {
  await fill(program);
  const server = await program.serve(["--allow-write"]);
  browser = await launch();
  await mkdir(folder, { recursive: true });
  const first = await browser.newContext();
  const start = await first.newPage();
  await override(start, server.origin);
  await start.goto(await server.link());
  await start.locator("#app:not([inert])").waitFor();
  const kept = await start.evaluate(() => ({ ...sessionStorage }));
  const state = await first.storageState();
  await first.close();
  for (const theme of ["light", "dark"]) {
    for (const [width, height] of SIZES) {
      const context = await browser.newContext({
        viewport: { width, height },
        colorScheme: theme,
        reducedMotion: "reduce",
        locale: "en-GB",
        storageState: state,
      });
      context.setDefaultTimeout(10_000);
      await context.addInitScript(([origin, kept]) => {
        if (location.origin !== origin || sessionStorage.getItem("kodiak-test")) return;
        sessionStorage.setItem("kodiak-test", "1");
        for (const [name, value] of Object.entries(kept)) sessionStorage.setItem(name, value);
      }, [server.origin, kept]);
      for (const [name, reach] of Object.entries(VIEWS)) {
        if (!wanted(name)) continue;
        const page = await context.newPage();
        await override(page, server.origin);
        const view = new View(page, context, new Watch(page, server.origin), { server });
        view.go = async (path) => {
          await page.goto(server.origin + path);
          await view.ready();
        };
        try {
          await view.go("/");
          await reach(view);
          await page.waitForTimeout(350);
          await page.screenshot({ path: join(folder, `${name}-${width}-${theme}.png`) });
        } catch (error) {
          console.error(`${name}, ${width} px, ${theme}: ${error.message.split("\n")[0]}`);
          await page.screenshot({ path: join(folder, `${name}-${width}-${theme}-failed.png`) });
          process.exitCode = 1;
        }
        await context.setOffline(false);
        if (name === "signed-out") await context.addCookies(state.cookies);
        await page.close();
      }
      await context.close();
    }
  }
} finally {
  await browser?.close();
  await program.remove();
}
