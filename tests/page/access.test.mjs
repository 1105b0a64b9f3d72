// Good for everyone: axe in each view and state in both themes, contrast, small windows,
// zoom, and motion.
import { readFileSync } from "node:fs";

import { assert, Desk } from "./harness/desk.mjs";
import { load } from "./harness/places.mjs";
import { STATES as PASSING } from "./harness/states.mjs";

const AXE = readFileSync(load.resolve("axe-core/axe.min.js"), "utf8");
const desk = new Desk({ serve: ["--allow-write"], meaning: true });

/** Each view and state, with what leads there. */
const STATES = {
  "recent notes": (view) => view.hits.first().waitFor(),
  "hits": (view) => view.search("weekly review"),
  "a selected hit": async (view) => {
    await view.search("weekly review");
    await view.key("ArrowDown", "ArrowDown");
  },
  "an uncertain answer": (view) => view.search("quarterly revenue of submarine manufacturers"),
  "a correction": (view) => view.search("sourdoh startr"),
  "why": async (view) => {
    await view.search("weekly review");
    await view.page.locator("#why").click();
    await view.page.locator("dl.why").first().waitFor();
  },
  "nothing found": async (view) => {
    await view.page.goto(`${desk.server.origin}/#/?q=ramen&tag=gtd&kind=recipe`);
    await view.nothing.waitFor();
  },
  "filters": async (view) => {
    await view.page.goto(`${desk.server.origin}/#/?q=review&tag=gtd`);
    await view.settled("review");
    await view.page.locator("#show-filters").click();
    await view.facets.locator("[data-key]").first().waitFor();
  },
  "a note": async (view) => {
    await view.search("terrace in May");
    await view.open("A terrace in May");
    await view.beside("Similar").waitFor();
  },
  "code": async (view) => {
    await view.search("SQLite WAL mode");
    await view.open("SQLite WAL mode");
  },
  "a conversation": async (view) => {
    await view.page.goto(`${desk.server.origin}/#/?q=nightly%20export&source=claude-code`);
    await view.settled("nightly export");
    await view.hits.first().click();
    await view.reader.locator("details.tools summary").first().click();
  },
  "a record": async (view) => {
    await view.page.goto(`${desk.server.origin}/#/?q=tile%20cache&source=sessions`);
    await view.settled("tile cache");
    await view.hits.first().click();
    await view.reader.locator(".record").waitFor();
  },
  "a superseded memory": async (view) => {
    await view.page.goto(`${desk.server.origin}/#/?q=%22100%20requests%22&source=memory`);
    await view.settled('"100 requests"');
    await view.hits.first().click();
    await view.shows(view.reader, "Corrected by");
  },
  "the timeline": async (view) => {
    await view.page.goto(`${desk.server.origin}/#/timeline`);
    await view.page.locator("#strip rect.count").first().waitFor({ state: "attached" });
  },
  "the status": async (view) => {
    await view.page.goto(`${desk.server.origin}/#/status`);
    await view.shows(view.page.locator("#status"), /notes/);
  },
  "the keys": async (view) => {
    await view.page.locator("#help").click();
    await view.dialog.waitFor();
  },
  "a new page": async (view) => {
    await view.page.locator("#new").click();
    await view.dialog.waitFor();
  },
  "a missing note": async (view) => {
    view.watch.allow(/status of 404/);
    await view.page.goto(`${desk.server.origin}/#/note/ffffffffffff`);
    await view.shows(view.reader, /Document not found/);
  },
};

/** Returns what axe finds to be serious. */
async function serious({ page }) {
  // The policy of the page lets no script in but its own; the debugger may.
  await page.evaluate(AXE);
  const found = await page.evaluate(async () => {
    const run = await window.axe.run(document, { resultTypes: ["violations", "incomplete"] });
    const brief = (all) => all.map(({ id, impact, nodes }) => ({
      id,
      impact,
      nodes: nodes.slice(0, 5).map(({ html, any }) => `${html.slice(0, 160)} ${any[0]?.message ?? ""}`),
    }));
    return brief(run.violations);
  });
  return found.filter(({ impact }) => impact === "serious" || impact === "critical");
}

/** Returns what is wider than a small window, and what is too small for a finger. */
const narrow = ({ page }) =>
  page.evaluate(() => {
    const wide = [];
    for (const it of [document.documentElement, document.body, ...document.querySelectorAll("main, section, header, dialog[open]")]) {
      const scrolls = /auto|scroll/.test(getComputedStyle(it).overflowX);
      if (it.scrollWidth > it.clientWidth + 1 && (scrolls || it === document.documentElement)) {
        wide.push(`${it.localName}#${it.id}: ${it.scrollWidth} of ${it.clientWidth}`);
      }
    }
    // 24 px at least, but for links within text.
    const small = [...document.querySelectorAll("button, select, input:not([type=radio], [type=checkbox]), summary, [role=option]")]
      .filter((it) => it.checkVisibility({ visibilityProperty: true }) && !it.disabled && !it.classList.contains("skip"))
      .filter((it) => getComputedStyle(it).display !== "inline")
      .map((it) => [it.outerHTML.slice(0, 100), it.getBoundingClientRect()])
      .filter(([, { width, height }]) => width > 1 && height > 1 && (width < 23.5 || height < 23.5))
      .map(([html, { width, height }]) => `${html} ${Math.round(width)}x${Math.round(height)}`);
    return { wide, small };
  });

/** Looks at a state in both themes, and then in a small window. */
async function look(view) {
  for (const theme of ["light", "dark"]) {
    await view.page.emulateMedia({ colorScheme: theme });
    assert.deepEqual(await serious(view), [], theme);
  }
  await view.page.setViewportSize({ width: 360, height: 740 });
  await view.page.waitForTimeout(100);
  assert.deepEqual(await narrow(view), { wide: [], small: [] }, "at 360 px");
}

for (const [name, reach] of Object.entries({ ...STATES, ...PASSING })) {
  desk.test(`${name}: for everyone, in both themes, in a small window`, async (view) => {
    await reach(view);
    await look(view);
  });
}
desk.test("signed out: for everyone, in both themes, in a small window", { signIn: false }, async (view) => {
  await view.signedOut();
  await look(view);
});

desk.test("from the start in a small window: a hit is opened and Back leads back", { viewport: { width: 360, height: 740 } }, async (view) => {
  await view.search("terrace in May");
  await view.open("A terrace in May");
  assert.equal(await view.hits.first().isVisible(), false, "the note has the window to itself");
  await view.reader.getByRole("button", { name: "Back" }).click();
  await view.hits.first().waitFor();
});

desk.test("zoomed to 200 %, nothing is lost", { viewport: { width: 640, height: 400 } }, async (view) => {
  await view.search("terrace in May");
  await view.open("A terrace in May");
  await view.body.getByRole("heading", { name: "Along the rail" }).scrollIntoViewIfNeeded();
  const { scrollWidth, clientWidth } = await view.page.evaluate(() => document.documentElement);
  assert.equal(scrollWidth, clientWidth);
  await view.reader.getByRole("button", { name: "Back" }).click();
  await view.query.waitFor();
});

desk.test("text twice as large, nothing is cut off", async (view) => {
  await view.page.emulateMedia({});
  const client = await view.context.newCDPSession(view.page);
  await client.send("Emulation.setDeviceMetricsOverride", { width: 1280, height: 800, deviceScaleFactor: 1, mobile: false });
  await view.page.evaluate(() => (document.documentElement.style.fontSize = "200%"));
  await view.search("weekly review");
  await view.open("Weekly review checklist");
  await view.beside("Similar").waitFor();
  assert.equal(await view.page.evaluate(() => getComputedStyle(document.body).fontSize), "30px", "the text is twice as large");
  assert.deepEqual(await cutOff(view), []);
  // The test sees what is cut.
  await view.page.evaluate(() => {
    const button = document.querySelector("#show-filters");
    Object.assign(button.style, { width: "20px", height: "24px", overflow: "hidden" });
  });
  assert.match((await cutOff(view)).join(), /Filter/);
});

/**
 * Returns the texts of which a part cannot be seen: cut by a box that does not scroll, or
 * beyond the window. What ends in an ellipsis says that it goes on.
 */
const cutOff = ({ page }) =>
  page.evaluate(() => {
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const parent = node.parentElement;
      if (!node.data.trim() || !parent.checkVisibility({ visibilityProperty: true }) || parent.closest(".hidden, .skip, option, noscript")) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      const all = [...range.getClientRects()].filter(({ width, height }) => width > 1 && height > 1);
      for (let box = parent; box && all.length > 0; box = box.parentElement) {
        const style = getComputedStyle(box);
        const scrolls = /auto|scroll/.test(style.overflowX + style.overflowY);
        if (scrolls) break;
        if (style.textOverflow === "ellipsis" || style.webkitLineClamp !== "none") break;
        if (!/hidden|clip/.test(style.overflowX + style.overflowY)) continue;
        const { left, right, top, bottom } = box.getBoundingClientRect();
        if (all.some((it) => it.left < left - 2 || it.right > right + 2 || it.top < top - 4 || it.bottom > bottom + 4)) {
          found.push(`${node.data.trim().slice(0, 40)} in ${box.localName}.${box.className}`);
          break;
        }
      }
    }
    return found;
  });

for (const width of [390, 1024, 1600]) {
  desk.test(`the tags of a note are in its row, whole, at ${width} px`, { viewport: { width, height: 800 } }, async (view) => {
    await view.search("review");
    const rows = await view.page.evaluate(() =>
      [...document.querySelectorAll("#hits .row")].map((row) => {
        const { tags = [] } = row.hit;
        const shown = [...row.querySelectorAll(".row-tags .tag")].filter((tag) => {
          const [{ left, right, top, bottom }, box] = [tag.getBoundingClientRect(), row.getBoundingClientRect()];
          const inside = left >= box.left && right <= box.right + 1 && top >= box.top && bottom <= box.bottom + 1;
          return inside && tag.checkVisibility() && tag.scrollWidth <= tag.clientWidth + 1 &&
            (bottom > innerHeight || document.elementsFromPoint((left + right) / 2, (top + bottom) / 2).includes(tag));
        });
        // More than four are counted.
        return { title: row.hit.title, wanted: tags.length > 4 ? 5 : tags.length, shown: shown.length };
      }));
    assert(rows.some(({ wanted }) => wanted >= 2));
    for (const { title, wanted, shown } of rows) assert.equal(shown, wanted, title);
  });
}

desk.test("who wants no motion gets none", { motion: "reduce" }, async (view) => {
  await view.search("weekly review");
  await view.hits.first().click();
  await view.body.waitFor();
  const moving = await view.page.evaluate(() => ({
    animations: document.getAnimations().filter((it) => (it.effect?.getComputedTiming().duration ?? 0) > 50).length,
    smooth: [...document.querySelectorAll("*")].filter((it) => getComputedStyle(it).scrollBehavior === "smooth").length,
  }));
  assert.deepEqual(moving, { animations: 0, smooth: 0 });
});

desk.test("nothing is said by colour alone", async (view) => {
  // Without colour, links in text are underlined, and the selected row differs in shape.
  // The third word has another row, also without a model.
  await view.search("terrace strawberries weekly");
  await view.open("A terrace in May");
  const link = view.body.getByRole("link").first();
  const line = await link.evaluate((it) => {
    const style = getComputedStyle(it);
    return style.textDecorationLine.includes("underline") || style.borderBottomStyle !== "none";
  });
  assert(line, "links are underlined");
  const mark = view.body.locator("mark").first();
  const marked = await mark.evaluate((it) => {
    const style = getComputedStyle(it);
    return (style.fontWeight >= 600 && getComputedStyle(it.parentElement).fontWeight < 600) || style.textDecorationLine.includes("underline");
  });
  assert(marked, "marks differ in more than colour");
  // The selected row differs from the others in shape, and says it.
  await view.page.locator("#hits [aria-selected=true]").first().waitFor();
  const [selected, other] = await view.hits.evaluateAll((rows) => [rows.find((it) => it.ariaSelected === "true"), rows.find((it) => it.ariaSelected !== "true")].map((row) => getComputedStyle(row, "::after").width));
  assert.notEqual(selected, other);
});

desk.test("with more contrast, text has 7 to 1", async (view) => {
  await view.search("terrace strawberries");
  await view.open("A terrace in May");
  await view.beside("Similar").waitFor();
  await view.page.evaluate(AXE);
  for (const colorScheme of ["light", "dark"]) {
    await view.page.emulateMedia({ colorScheme, contrast: "more" });
    const found = await view.page.evaluate(async () => {
      const rules = { "color-contrast-enhanced": { enabled: true } };
      const run = await window.axe.run(document, { runOnly: ["color-contrast-enhanced"], rules });
      return run.violations.flatMap(({ nodes }) => nodes.map(({ html, any }) => `${html.slice(0, 120)} ${any[0]?.message}`));
    });
    assert.deepEqual(found, [], colorScheme);
  }
});

desk.test("with forced colours, focus and selection can be seen", async (view) => {
  await view.page.emulateMedia({ forcedColors: "active" });
  await view.search("weekly review");
  await view.key("ArrowDown");
  const [selected, other] = await view.hits.evaluateAll((rows) =>
    rows.slice(0, 2).map((row) => {
      const { backgroundColor, outlineStyle, borderLeftWidth, boxShadow, color } = getComputedStyle(row);
      return JSON.stringify({ backgroundColor, outlineStyle, borderLeftWidth, boxShadow, color });
    }));
  assert.notEqual(selected, other);
});

desk.test("landmarks and names are there for a screen reader", async (view) => {
  await view.search("weekly review");
  const landmarks = await view.page.evaluate(() => ({
    main: document.querySelectorAll("main:not([hidden])").length,
    search: document.querySelectorAll("search, [role=search]").length,
    nav: document.querySelectorAll("nav").length,
    live: document.querySelectorAll("[aria-live], [role=status], [role=alert]").length,
    lang: document.documentElement.lang,
  }));
  assert.equal(landmarks.main, 1);
  assert(landmarks.search >= 1 && landmarks.nav >= 1 && landmarks.live >= 1);
  assert.equal(landmarks.lang, "en");
  const announced = await view.announcer.innerText();
  await view.search("ramen");
  assert.notEqual(await view.announcer.innerText(), announced);
});
