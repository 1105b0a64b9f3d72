// Everything without a pointer, and the focus is never lost.
import { assert, Desk, until } from "./harness/desk.mjs";

const desk = new Desk({});

desk.test("from the start to reading and back, by keys alone", async (view) => {
  await view.assertFocusIn("#query");
  await view.page.keyboard.type("weekly review");
  await view.settled("weekly review");
  assert.equal(await view.selected.count(), 0);
  await view.key("ArrowDown");
  await view.assertFocusIn("#query, #hits");
  const [first, second] = await view.ids();
  assert.equal(await view.selected.getAttribute("data-id"), first);
  await view.key("ArrowDown");
  assert.equal(await view.selected.getAttribute("data-id"), second);
  // A screen reader announces the row: the field or the list refers to it.
  const told = await view.page.evaluate(() => document.activeElement.getAttribute("aria-activedescendant"));
  assert.equal(told, await view.selected.getAttribute("id"));
  await view.key("ArrowUp", "Enter");
  await view.body.waitFor();
  await until(() => view.address().startsWith(`/#/note/${first}`));
  await view.assertFocusIn("#reading");
  await view.key("Escape");
  await until(() => view.address().startsWith("/#/?q="));
  await view.assertFocusIn("#query, #hits");
  assert.equal(await view.selected.getAttribute("data-id"), first);
  await view.key("/");
  await view.assertFocusIn("#query");
  assert.equal(await view.query.inputValue(), "weekly review");
});

desk.test("Enter opens the first hit at once", async (view) => {
  await view.page.keyboard.type("ramen");
  await view.settled("ramen");
  await view.key("Enter");
  await view.reading("Ramen broth");
});

desk.test("the list jumps to its ends and stops there", async (view) => {
  await view.page.keyboard.type("the");
  await view.settled("the");
  const ids = await view.ids();
  assert(ids.length > 5);
  await view.key("ArrowDown");
  await view.page.locator("#hits").focus();
  await view.key("End");
  assert.equal(await view.selected.getAttribute("data-id"), ids.at(-1));
  await view.key("ArrowDown");
  assert.equal(await view.selected.getAttribute("data-id"), ids.at(-1));
  // It is in view.
  const inView = await view.selected.evaluate((row) => {
    const { top, bottom } = row.getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight + 1;
  });
  assert(inView);
  await view.key("Home");
  assert.equal(await view.selected.getAttribute("data-id"), ids[0]);
  await view.key("ArrowUp");
  await view.assertFocusIn("#query");
});

desk.test("`?` lists the keys, keeps the focus inside, and Esc gives it back", async (view) => {
  await view.page.keyboard.type("why? ramen");
  await view.settled("why? ramen");
  assert.equal(await view.dialog.count(), 0, "in a field, ? is a letter");
  await view.page.locator("#hits").focus();
  await view.key("?");
  await view.dialog.waitFor();
  assert.match(await view.dialog.innerText(), /Esc/);
  for (let press = 0; press < 12; press += 1) {
    await view.key("Tab");
    const outside = await view.page.evaluate(() => {
      const it = document.activeElement;
      return it !== document.body && !it.closest("dialog") ? it.outerHTML.slice(0, 80) : "";
    });
    assert.equal(outside, "");
  }
  await view.key("Escape");
  await view.dialog.waitFor({ state: "detached" }).catch(() => {});
  assert.equal(await view.page.locator("dialog[open]").count(), 0);
  await view.assertFocusIn("#hits, #query");
});

for (const [name, path] of [
  ["search", "/#/?q=review"],
  ["reading", "note"],
  ["timeline", "/#/timeline"],
  ["status", "/#/status"],
]) {
  desk.test(`Tab leads through ${name} and out again, and shows where it is`, async (view) => {
    if (path === "note") {
      await view.search("deep work");
      await view.open("Deep work");
    } else {
      await view.page.goto(desk.server.origin + path);
      await view.ready();
      await view.page.waitForTimeout(500);
    }
    // How an element looks; the list shows where it is by its active row.
    await view.page.evaluate(() => {
      window.look = (it) => {
        const shown = it.id === "hits" ? (it.querySelector("[aria-selected=true]") ?? it) : it;
        const { outlineStyle, outlineWidth, outlineColor, boxShadow, borderColor, translate } = getComputedStyle(shown);
        return outlineStyle === "none" ? JSON.stringify({ boxShadow, borderColor, translate }) : JSON.stringify({ outlineStyle, outlineWidth, outlineColor, boxShadow, borderColor, translate });
      };
    });
    for (const key of ["Tab", "Shift+Tab"]) {
      const looks = new Map();
      await view.page.evaluate(() => document.activeElement.blur());
      const seen = new Set();
      let wrapped = false;
      for (let press = 0; press < 150 && !wrapped; press += 1) {
        await view.key(key);
        const at = await view.page.evaluate(() => {
          const it = document.activeElement;
          if (!it || it === document.body) return null;
          it.dataset.tabbed ??= String(Math.random());
          const { width, height } = it.getBoundingClientRect();
          const style = getComputedStyle(it);
          const hidden = style.visibility === "hidden" || !!it.closest("[inert], [aria-hidden=true]");
          return { mark: it.dataset.tabbed, html: it.outerHTML.slice(0, 120), size: width * height, look: window.look(it), hidden };
        });
        // Between the last and the first is the browser itself.
        if (!at) continue;
        if (seen.has(at.mark)) {
          wrapped = true;
          break;
        }
        seen.add(at.mark);
        assert(at.size > 0 && !at.hidden, `the focus is on something that cannot be seen: ${at.html}`);
        looks.set(at.mark, at);
      }
      await view.page.evaluate(() => document.activeElement.blur());
      const after = await view.page.evaluate(() => Object.fromEntries([...document.querySelectorAll("[data-tabbed]")].map((it) => [it.dataset.tabbed, window.look(it)])));
      let compared = 0;
      for (const [mark, { look, html }] of looks) {
        if (after[mark] === undefined) continue;
        compared += 1;
        assert.notEqual(look, after[mark], `nothing shows that the focus is on ${html}`);
      }
      assert(compared >= 5, `${compared} were compared`);
      assert(wrapped, "Tab goes on for ever");
      assert(seen.size >= 5, `Tab reaches ${seen.size} things`);
    }
  });
}

desk.test("the focus survives a new answer, a removed filter and a view that changes", async (view) => {
  await view.page.goto(`${desk.server.origin}/#/?q=review&tag=gtd`);
  await view.settled("review");
  await view.chips.getByRole("button", { name: /gtd/ }).focus();
  await view.key("Enter");
  await view.chips.waitFor({ state: "hidden" });
  await view.assertFocusIn("#query");
  for (const [key, place, where] of [["t", "timeline", "#hits, #query"], ["s", "status", "#reading"]]) {
    await view.page.locator("#hits").focus();
    await view.key(key);
    await until(() => view.address().startsWith(`/#/${place}`), 3000, `${key} leads to ${place}`);
    await view.assertFocusIn(where);
  }
  await view.key("Escape");
  await view.assertFocusIn("#hits, #query");
});

desk.test("links come first for those who skip", async (view) => {
  await view.search("deep work");
  await view.open("Deep work");
  await view.page.evaluate(() => {
    document.body.tabIndex = -1;
    document.body.focus();
    document.body.removeAttribute("tabindex");
  });
  await view.key("Tab");
  assert.match(await view.focused(), /Skip/);
  await view.key("Enter");
  await view.assertFocusIn("#results, #hits");
});

desk.test("an input method composes without searching or opening", async (view) => {
  const client = await view.context.newCDPSession(view.page);
  await view.query.focus();
  await client.send("Input.imeSetComposition", { text: "つゆ", selectionStart: 2, selectionEnd: 2 });
  await view.page.waitForTimeout(200);
  assert.equal(await view.body.count(), 0);
  await client.send("Input.insertText", { text: "梅雨" });
  await view.settled("梅雨");
  assert((await view.ids()).length > 0);
});

desk.test("typing while a note is open keeps the focus, whatever the letters are", async (view) => {
  await view.search("ramen");
  await view.open("Ramen broth");
  await view.key("/");
  await view.page.keyboard.type("just some text?", { delay: 20 });
  await view.settled("just some text?");
  await view.assertFocusIn("#query");
  assert.equal(await view.query.inputValue(), "just some text?");
  // The note stays open beside the list.
  assert.match(view.address(), /^\/#\/note\//);
  await view.reading("Ramen broth");
});
