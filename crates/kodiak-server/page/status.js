// Status: sources, problems and what fixes them, the model, and what is going on.

import { api } from "./api.js";
import { bar } from "./bar.js";
import { copy } from "./actions.js";
import { byId, counted, grouped, h, put, sentence } from "./element.js";
import { EDITORS, chooseEditor, editor } from "./editor.js";
import { embeddingBar } from "./progress.js";
import { current, signOut } from "./signin.js";
import { age } from "./when.js";

const pane = byId("reading");
let shown = false;

/// Shows the status in the reading pane.
export async function show() {
  const first = !shown;
  shown = true;
  document.body.dataset.reading = "";
  if (!first) return;
  document.title = "Status – Kodiak";
  put(pane, frame());
  pane.focus({ preventScroll: true });
  try {
    update(await api("status"));
  } catch (error) {
    put(byId("status"), h("p", { class: "notice", text: `The status could not be loaded: ${error.message}.` }));
  }
}

export function hide() {
  shown = false;
}

/// Shows a newer status.
export function update(status) {
  const view = byId("status");
  if (!shown || !view) return;
  put(view, doing(status), problems(status), sources(status), model(status));
}

function frame() {
  const editors = Object.entries(EDITORS).map(([key, [name]]) => h("option", { value: key, text: name, selected: key === editor() }));
  const session = current() ?? {};
  const rights = session.write ? "may read and write" : "may only read";
  return [
    bar("Status"),
    h("div", { class: "page status-page" },
      h("article", { class: "article" },
        h("header", { class: "head" }, h("h1", { text: "Status" })),
        h("div", { id: "status" }),
        h("section", {}, h("h2", { text: "This page" }),
          h("p", { text: `Kodiak ${session.version ?? ""}. This session ${rights}${session.project ? ` in the project ${session.project}` : ""}.` }),
          h("p", { class: "inline" }, h("label", { for: "editor", text: "Files open in" }),
            h("select", { id: "editor", on: { change: (event) => chooseEditor(event.target.value) } }, editors)),
          h("p", {}, h("button", { type: "button", class: "plain", text: "Sign out", on: { click: signOut } }))))),
  ];
}

function doing(status) {
  const embeds = status.embedding?.running ? embeddingBar(status.embedding) : null;
  if (!status.doing && !embeds) return null;
  return h("section", { class: "doing" }, h("h2", { text: "Working" }), status.doing ? h("p", {}, sentence(status.doing)) : null, embeds);
}

function problems({ problems: all = [], exists }) {
  const known = [...all];
  if (!exists && known.length === 0) known.push({ text: "Nothing is indexed yet", command: "kodiak add FOLDER" });
  if (known.length === 0) return null;
  return h("section", {}, h("h2", { text: known.length === 1 ? "One problem" : `${known.length} problems` }), h("ul", { class: "problems" }, known.map(problem)));
}

function problem({ text, command }) {
  return h("li", {}, h("p", { dir: "auto" }, sentence(text)), command ? commandLine(command) : null);
}

function commandLine(command) {
  return h("div", { class: "command" }, h("code", { text: command }),
    h("button", { type: "button", data: { key: command }, "aria-label": `Copy the command ${command}`, text: "Copy", on: { click: () => copy(command, "The command") } }));
}

function sources({ sources: all, documents }) {
  const rows = all.map((source) => {
    const state = [
      source.pending > 0 ? `${counted(source.pending, "change")} to index` : null,
      source.skipped > 0 ? `${grouped(source.skipped)} skipped` : null,
      source.secrets_left_out > 0 ? `${counted(source.secrets_left_out, "secret")} left out` : null,
      source.problems > 0 ? `${grouped(source.problems)} indexed in spite of a problem` : null,
    ].filter(Boolean);
    return h("li", {},
      h("div", { class: "source-line" },
        h("a", { class: "name", data: { key: `source:${source.name}` }, href: `#/?source=${encodeURIComponent(source.name)}`, dir: "auto", text: source.name }),
        h("span", { class: "value", text: counted(source.documents, "document") }),
        h("span", { class: "when" }, source.indexed_at ? ["indexed ", age(source.indexed_at)] : "never indexed")),
      state.length > 0 ? h("p", { class: "note", text: state.join(" · ") }) : null,
      source.error ? h("p", { class: "trouble", dir: "auto" }, sentence(source.error)) : null);
  });
  return h("section", {}, h("h2", { text: `${counted(documents, "document")} in ${counted(all.length, "source")}` }), h("ul", { class: "sources" }, rows));
}

function model({ semantic, embedding }) {
  const name = embedding?.model ?? semantic;
  if (!name) {
    return h("section", {}, h("h2", { text: "Model" }), h("p", { text: "There is no model: notes are found by words only." }), commandLine("kodiak model install"));
  }
  const { chunks = 0, embedded = 0, running } = embedding ?? {};
  const said = embedded >= chunks ? `all ${grouped(chunks)} passages are embedded.` : `${grouped(embedded)} of ${grouped(chunks)} passages are embedded.`;
  return h("section", {}, h("h2", { text: "Model" }),
    h("p", {}, h("code", { text: name }), chunks > 0 ? `: ${said}` : "."),
    running ? null : embeddingBar(embedding));
}
