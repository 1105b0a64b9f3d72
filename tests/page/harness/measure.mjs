// Measures the page from within the browser: from a key to its hits in the page and to the
// frame in which they are painted, beside the frame with the letter itself, which is the
// share of the display; tasks that hold the page up; the first paint; what is transferred.
import { text } from "node:stream/consumers";

import { launch } from "./browser.mjs";

const [address, pace] = process.argv.slice(2);
const queries = JSON.parse(await text(process.stdin));
const interval = 1000 / Number(pace);
const LOADS = 7;
const FRESH_LOADS = 3;

/** Runs in the page before its own code. */
const METER = () => {
  const meter = { keys: [], shown: [], letters: [], superseded: 0, settled: [], longTasks: [], typing: false };
  window.meter = meter;
  const longTasks = new PerformanceObserver((list) => {
    if (meter.typing) meter.longTasks.push(...list.getEntries().map(({ duration }) => duration));
  });
  longTasks.observe({ entryTypes: ["longtask"] });
  let waiting = [];
  // A task after the frame: by then it was painted.
  const painted = (done) => requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => done(performance.now());
    channel.port2.postMessage(null);
  });
  addEventListener("DOMContentLoaded", () => {
    const field = document.getElementById("query");
    const results = document.getElementById("results");
    field.addEventListener("keydown", (event) => {
      if (event.key.length === 1) Object.assign(meter, { pressed: event.timeStamp, key: true });
    }, true);
    field.addEventListener("input", () => {
      const { pressed, key } = meter;
      waiting.push({ query: field.value, at: pressed });
      // Emptying the field is no key.
      if (key) painted((now) => meter.letters.push(now - pressed));
      meter.key = false;
    }, true);
    new MutationObserver(() => {
      const query = results.dataset.query;
      const at = waiting.findLastIndex((one) => one.query === query);
      if (at >= 0) {
        meter.superseded += at;
        const [{ at: pressed }] = waiting.splice(0, at + 1).slice(-1);
        if (query) {
          meter.shown.push(performance.now() - pressed);
          painted((now) => meter.keys.push(now - pressed));
        }
      }
      if (query && query === field.value && results.ariaBusy === "false") {
        const { pressed } = meter;
        painted((now) => (meter.last = { query, time: now - pressed }));
      }
    }).observe(results, { attributes: true, attributeFilter: ["data-query", "aria-busy"] });
  });
};

const firstPainted = (page) => page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime);

// What the very first page of a browser costs: it starts its processes.
const freshPaint = [];
for (let load = 0; load < FRESH_LOADS; load += 1) {
  const fresh = await launch();
  try {
    const page = await fresh.newPage();
    await page.goto(address, { waitUntil: "load" });
    await page.locator("#app:not([inert])").waitFor();
    await page.waitForTimeout(200);
    freshPaint.push(await firstPainted(page));
  } finally {
    await fresh.close();
  }
}

const browser = await launch();
try {
  // What a first visit costs, each time without a cache, and what an answer of one line
  // costs: the browser's own share.
  const firstPaint = [];
  const barePaint = [];
  let bytes = 0;
  let bytesAgain = 0;
  for (let load = 0; load < LOADS; load += 1) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    const client = await context.newCDPSession(page);
    // The first navigation of a tab starts a process, which is not to be measured.
    for (let turn = 0; turn < 2; turn += 1) {
      await page.goto(`${address}/health?${turn}`, { waitUntil: "load" });
      await page.waitForTimeout(200);
    }
    barePaint.push(await firstPainted(page));
    await client.send("Network.enable");
    await client.send("Network.clearBrowserCache");
    const files = new Map();
    let sum = 0;
    client.on("Network.requestWillBeSent", ({ requestId, request }) => files.set(requestId, request.url));
    client.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
      if (!files.get(requestId)?.includes("/api/")) sum += encodedDataLength;
    });
    await page.goto(address, { waitUntil: "load" });
    await page.locator("#app:not([inert])").waitFor();
    await page.waitForTimeout(500);
    firstPaint.push(await firstPainted(page));
    bytes = sum;
    sum = 0;
    await page.reload({ waitUntil: "load" });
    await page.waitForTimeout(500);
    bytesAgain = sum;
    await context.close();
  }

  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
  const page = await context.newPage();
  await page.addInitScript(METER);
  await page.goto(address);
  await page.locator("#app:not([inert])").waitFor();
  const field = page.locator("#query");
  await field.focus();
  await page.waitForTimeout(1000);
  // The first queries warm the server and the page.
  for (const query of queries.slice(0, 2)) await type(query);
  await page.evaluate(() => Object.assign(window.meter, { keys: [], shown: [], letters: [], superseded: 0, settled: [], typing: true }));
  for (const query of queries) {
    await type(query);
    await page.evaluate(() => window.meter.settled.push(window.meter.last.time));
  }
  const meter = await page.evaluate(() => window.meter);
  console.log(JSON.stringify({
    keys: meter.keys,
    shown: meter.shown,
    letters: meter.letters,
    superseded: meter.superseded,
    settled: meter.settled,
    long_tasks: meter.longTasks,
    first_paint: firstPaint.filter((time) => time > 0),
    bare_paint: barePaint.filter((time) => time > 0),
    fresh_paint: freshPaint.filter((time) => time > 0),
    bytes,
    bytes_again: bytesAgain,
  }));

  /** Types a query at a steady pace, and waits until nothing more comes. */
  async function type(query) {
    await field.fill("");
    await page.evaluate(() => (window.meter.last = null));
    let next = performance.now();
    for (const key of query) {
      await page.keyboard.press(key === " " ? "Space" : key);
      next += interval;
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, next - performance.now())));
    }
    await page.waitForFunction((query) => window.meter.last?.query === query, query, { timeout: 30_000 });
  }
} finally {
  await browser.close();
}
