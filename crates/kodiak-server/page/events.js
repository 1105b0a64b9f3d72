// Listens to the server's events while the page is visible, and notices when the server
// is gone and back. The stream is read with fetch, because EventSource cannot send the
// secret.

import { Refused, isAborted, send } from "./api.js";
import { emit, on } from "./bus.js";
import { byId } from "./element.js";

const FIRST_WAIT = 500;
const LONGEST_WAIT = 15_000;
/// Without a line for this long the connection is dead: the server sends one every 15 s.
const SILENCE = 40_000;

let listening = null;
let wanted = false;
let offline = false;
/// The id of the last event: the server says what has changed since, if anything has.
let last = "";

/// Starts to listen.
export function listen() {
  wanted = true;
  if (!listening && !document.hidden) run();
}

async function run() {
  const stop = new AbortController();
  listening = stop;
  let wait = FIRST_WAIT;
  while (!stop.signal.aborted) {
    try {
      const response = await send("/api/events", { signal: stop.signal, accept: "text/event-stream", last });
      wait = FIRST_WAIT;
      await read(response, stop);
    } catch (error) {
      if (isAborted(error) && stop.signal.aborted) return;
      // The server has no events; what it answers to requests is enough.
      if (error instanceof Refused && [401, 404].includes(error.status)) {
        listening = null;
        return;
      }
    }
    if (stop.signal.aborted) return;
    await new Promise((done) => setTimeout(done, wait));
    wait = Math.min(wait * 1.7, LONGEST_WAIT);
  }
}

/// Reads events until the stream ends.
async function read(response, stop) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  let timer;
  const heard = () => {
    clearTimeout(timer);
    timer = setTimeout(() => reader.cancel().catch(() => {}), SILENCE);
  };
  try {
    heard();
    for (;;) {
      const { value, done } = await reader.read();
      if (done || stop.signal.aborted) return;
      heard();
      text += value;
      const events = text.split(/\r?\n\r?\n/);
      text = events.pop();
      events.forEach(dispatch);
    }
  } finally {
    clearTimeout(timer);
  }
}

function dispatch(event) {
  let name = "message";
  const data = [];
  for (const line of event.split(/\r?\n/)) {
    if (line.startsWith("event:")) name = line.slice(6).trim();
    else if (line.startsWith("data:")) data.push(line.slice(5).trim());
    else if (line.startsWith("id:")) last = line.slice(3).trim();
  }
  if (name !== "status" && name !== "documents") return;
  let detail = null;
  try {
    detail = data.length > 0 ? JSON.parse(data.join("\n")) : null;
  } catch {
    return;
  }
  emit(name, detail);
}

/// Asks until the server answers anything.
async function probe() {
  for (let wait = FIRST_WAIT; offline; wait = Math.min(wait * 1.7, LONGEST_WAIT)) {
    await new Promise((done) => setTimeout(done, wait));
    if (offline) await send("/health").catch(() => {});
  }
}

function back() {
  if (!offline) return;
  offline = false;
  byId("banner").hidden = true;
  emit("online");
}

on("offline", () => {
  if (offline) return;
  offline = true;
  const banner = byId("banner");
  banner.textContent = "The connection to the server was lost. The page will continue when it is back.";
  banner.hidden = false;
  if (!listening) listen();
  probe();
});
on("reached", back);
on("left", () => {
  wanted = false;
  last = "";
  listening?.abort();
  listening = null;
});
// Browsers allow few connections to one server: hidden tabs give theirs up.
document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    listening?.abort();
    listening = null;
  } else if (wanted && !listening) run();
});
