// The page as a person uses it. Names of elements are here and in no test.
import assert from "node:assert/strict";

import { until } from "./program.mjs";

export class View {
  constructor(page, context, watch, desk) {
    Object.assign(this, { page, context, watch, desk });
    this.query = page.locator("#query");
    this.hits = page.locator("#hits [data-id]");
    this.selected = page.locator("#hits [data-id][aria-selected=true]");
    this.reader = page.locator("#reading");
    this.body = page.locator("#reading .prose");
    this.chips = page.locator("#chips");
    this.facets = page.locator("#facets");
    this.missing = page.locator("#missing");
    this.nothing = page.locator("#nothing");
    this.summary = page.locator("#summary");
    this.announcer = page.locator("#announce");
    this.banner = page.locator("#banner");
    this.toasts = page.locator("#toasts");
    this.dialog = page.locator("dialog[open]");
    this.signInForm = page.locator("#signin");
  }

  /** Waits until the page knows who it is and has drawn its view. */
  async ready() {
    await this.page.locator("#app:not([inert])").waitFor();
  }

  async signedOut() {
    await this.page.locator("#signin:not([hidden]) #token").waitFor();
  }

  /** Signs in by pasting a token. */
  async signIn(token) {
    await this.signedOut();
    await this.signInForm.locator("#token").fill(token);
    await this.signInForm.getByRole("button", { name: "Sign in" }).click();
  }

  /** Waits until the hits of a query are painted: by words, or with meaning, too. */
  async settled(query, stage = "done") {
    const done = stage === "done" ? "[aria-busy=false]" : "";
    const selector = `#results[data-query=${JSON.stringify(query)}]${done}`;
    await this.page.locator(selector).waitFor({ state: "attached" });
  }

  /** Types a query in place of the one that is there. */
  async search(query, stage) {
    await this.query.fill("");
    await this.query.pressSequentially(query);
    await this.settled(query, stage);
  }

  async key(...keys) {
    for (const key of keys) await this.page.keyboard.press(key);
  }

  /** Returns the ids of the hits in their order. */
  ids() {
    return this.hits.evaluateAll((hits) => hits.map((hit) => hit.dataset.id));
  }

  /** Returns what the hits say, in their order. */
  texts() {
    return this.hits.evaluateAll((hits) => hits.map((hit) => hit.innerText));
  }

  /** Returns the hits whose title has a text. */
  hit(title) {
    return this.hits.filter({ has: this.page.locator(".row-title", { hasText: title }) });
  }

  /** Opens a hit by a click and waits for its text. */
  async open(title) {
    await this.hit(title).first().click();
    await this.reading(title);
  }

  /** Waits until a note is being read. */
  async reading(title) {
    await this.reader.getByRole("heading", { name: title }).first().waitFor();
  }

  /** Returns a part beside the note: "Similar", "Links", "Backlinks", "Outline". */
  beside(name) {
    return this.reader.locator(".beside").getByLabel(name, { exact: true });
  }

  facet(kind, value) {
    return this.facets.locator(`[data-key="${kind}:${value}"]`);
  }

  /** Returns the name of what has the focus: its id, role or element, and text. */
  focused() {
    return this.page.evaluate(() => {
      const it = document.activeElement;
      if (!it || it === document.body) return "nothing";
      const name = it.getAttribute("aria-label") ?? it.innerText?.trim().slice(0, 40) ?? "";
      return `${it.id ? `#${it.id}` : (it.getAttribute("role") ?? it.localName)} ${name}`.trim();
    });
  }

  /** Asserts that the focus is within an element that can be seen. */
  async assertFocusIn(selector) {
    await until(
      () => this.page.evaluate((selector) => !!document.activeElement?.closest(selector), selector),
      5000,
      `the focus is in ${selector}`,
    ).catch(async () => assert.fail(`the focus is on ${await this.focused()}, not in ${selector}`));
  }

  /** Asserts that text appears. */
  async shows(locator, text) {
    await locator.filter({ hasText: text }).first().waitFor();
  }

  /** Returns the address behind the origin. */
  address() {
    return this.page.url().slice(this.desk.server.origin.length);
  }

  /** Asks the API as the page does. */
  api(method, path, body) {
    return this.page.evaluate(
      async ([method, path, body]) => {
        const secret = Object.values(sessionStorage).find((value) => value.length >= 32);
        const answer = await fetch(path, {
          method,
          headers: { "Kodiak-Secret": secret, "Content-Type": "application/json" },
          body: body === null ? undefined : JSON.stringify(body),
        });
        const text = await answer.text();
        return { status: answer.status, body: text && JSON.parse(text) };
      },
      [method, path, body ?? null],
    );
  }
}
