// What is listed before anything is typed: notes that were opened last, that are opened
// often, and that changed last. If there is no index yet, how far the first one is.

import { Refused, api, isAborted } from "./api.js";
import { on } from "./bus.js";
import { byId, h, put, sentence } from "./element.js";
import * as hits from "./hits.js";
import { embeddingBar } from "./progress.js";

const nothing = byId("nothing");
const MOST = 12;
/// The groups in the answer, each with its heading and how many of it are listed. A group
/// with others below it is short, so that these are in view as well.
const GROUPS = [
  ["opened", "Opened recently", 5],
  ["often", "Opened often", 5],
  ["changed", "Changed recently", MOST],
];
let waiting = null;

/// Lists recent notes, unless something else is wanted by then.
export async function recent(signal, wanted, clear) {
  try {
    const answer = await api(`recent?limit=${MOST}`, { signal });
    if (!wanted()) return;
    clear();
    waiting = null;
    if (list(answer) === 0) await unindexed(null, () => recent(signal, wanted, clear));
  } catch (error) {
    if (isAborted(error) || !wanted()) return;
    clear();
    if (error instanceof Refused) await unindexed(error, () => recent(signal, wanted, clear));
  }
}

/// Lists each note once, in the first group that it belongs to. Returns how many there are.
function list(answer) {
  const headings = new Map();
  const shown = GROUPS.flatMap(([name, heading, most]) => {
    const added = answer[name].filter(({ id }) => !headings.has(id)).slice(0, most);
    for (const { id } of added) headings.set(id, heading);
    return added;
  });
  hits.show(shown, { group: ({ id }) => headings.get(id) });
  return shown.length;
}

/// Says what to do where nothing is indexed, or how far that is.
async function unindexed(error, again) {
  const status = await api("status").catch(() => null);
  if (error && (!status || status.exists)) {
    put(nothing, h("h2", { text: "The list could not be loaded" }), h("p", {}, sentence(error.message)),
      error.next ? h("p", {}, sentence(error.next)) : null);
    nothing.hidden = false;
    return;
  }
  waiting = again;
  firstSteps(status);
}

function firstSteps(status) {
  const working = Boolean(status?.doing);
  put(
    nothing,
    h("h2", { text: working ? "Indexing for the first time" : "Nothing is indexed yet" }),
    working
      ? [h("p", {}, sentence(status.doing)), embeddingBar(status.embedding), h("p", { text: "You can search as soon as the first notes are in." })]
      : [h("p", { text: "Register a folder of notes on a terminal:" }), h("p", {}, h("code", { text: "kodiak add ~/notes" }))],
  );
  nothing.hidden = false;
}

on("status", (status) => {
  if (!waiting) return;
  if (status.exists && status.documents > 0) waiting();
  else firstSteps(status);
});
