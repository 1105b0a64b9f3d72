// One Chromium for a file of tests, and pages that keep a record of everything that
// went wrong in them.
import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { chromium as executablePath, load } from "./places.mjs";

const { chromium } = load("playwright-core");

// Nothing is asked of the world: without these, Chromium looks up hosts of its maker.
const ARGUMENTS = [
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-domain-reliability",
  "--disable-gpu",
  "--disable-quic",
  "--disable-sync",
  "--metrics-recording-only",
  "--no-default-browser-check",
  "--no-first-run",
  "--no-pings",
];

/** Starts the browser. */
export function launch() {
  return chromium.launch({
    executablePath,
    args: ARGUMENTS,
    // Containers, in which checks run as root, offer no sandbox.
    chromiumSandbox: false,
  });
}

/** Records the troubles of a page; `allow` names those that a test expects. */
export class Watch {
  troubles = [];
  lines = [];
  allowed = [];

  constructor(page, origin) {
    this.origin = origin;
    page.on("console", (message) => {
      const line = `${message.type()}: ${message.text()} (${message.location().url ?? ""})`;
      this.lines.push(line);
      if (message.type() === "error" || message.type() === "warning") this.add(line);
    });
    page.on("pageerror", (error) => this.add(`uncaught: ${error.stack ?? error}`));
    page.on("dialog", (dialog) => {
      this.add(`dialog: ${dialog.message()}`);
      dialog.dismiss().catch(() => {});
    });
    page.on("crash", () => this.add("the page crashed"));
    page.on("requestfailed", (request) => {
      const reason = request.failure()?.errorText;
      // A search that another one replaced, or that a page left behind.
      if (reason !== "net::ERR_ABORTED") this.add(`failed: ${request.url()} ${reason}`);
    });
    page.on("request", (request) => {
      const url = request.url();
      this.lines.push(`request: ${request.method()} ${url}`);
      if (!url.startsWith(`${this.origin}/`) && !/^(blob:|about:|data:image\/)/.test(url)) {
        this.add(`beyond the origin: ${url}`);
      }
    });
    page.on("popup", (popup) => this.add(`popup: ${popup.url()}`));
  }

  add(trouble) {
    this.lines.push(`! ${trouble}`);
    this.troubles.push(trouble);
  }

  /** Takes what matches as expected, from the beginning of the test. */
  allow(...patterns) {
    this.allowed.push(...patterns);
  }

  /** Returns the troubles that no test expected. */
  unexpected() {
    return this.troubles.filter((it) => !this.allowed.some((pattern) => pattern.test(it)));
  }
}

/**
 * Takes the files of the page from the folder that KODIAK_PAGE names, if it does, for
 * those who change the page: the program need not be built again.
 */
export async function override(page, origin) {
  const folder = process.env.KODIAK_PAGE;
  if (!folder) return;
  const files = (url) => url.origin === origin && /^\/(page\/[^/]+)?$/.test(url.pathname);
  await page.route(files, async (route) => {
    const { origin: asking = origin } = route.request().headers();
    if (asking !== origin) return route.continue();
    const name = new URL(route.request().url()).pathname.split("/").at(-1) || "index.html";
    const response = await route.fetch().catch(() => null);
    if (!response) return route.abort("connectionrefused");
    const headers = { ...response.headers() };
    for (const header of ["content-encoding", "content-length", "etag"]) delete headers[header];
    const types = { js: "text/javascript", css: "text/css", html: "text/html; charset=utf-8", svg: "image/svg+xml" };
    headers["content-type"] = types[name.split(".").at(-1)];
    const body = await readFile(join(folder, name)).catch(() => null);
    if (body) await route.fulfill({ status: 200, headers, body });
    else await route.fulfill({ response });
  });
}
