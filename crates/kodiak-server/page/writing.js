// Writing: a new page or memory, tags, and forgetting, each with an undo.

import { api, documentPath } from "./api.js";
import { emit, on } from "./bus.js";
import { dialog } from "./dialog.js";
import { h, put, refusal } from "./element.js";
import { goToDocument, goToList } from "./navigate.js";
import { refresh } from "./reading.js";
import { toast } from "./toast.js";

const KINDS = ["memory", "decision", "rule", "error", "code", "preference", "fact"];

/// What was written but not saved when the dialog was closed.
let draft = null;

/// Prepares what writing needs.
export function bindWriting() {
  // Leaving the page with an unsaved text asks first.
  addEventListener("beforeunload", (event) => {
    const text = document.querySelector("#write textarea")?.value ?? draft?.text;
    if (text?.trim()) event.preventDefault();
  });
  on("left", (refused) => {
    const open = document.querySelector("dialog[open]");
    // A session that ended by itself takes no text away.
    if (refused) open?.close();
    else {
      open?.remove();
      draft = null;
    }
  });
}

/// Opens the dialog for a new page or memory, with what was not saved the last time.
export function write() {
  let what = draft?.what ?? "page";
  const title = h("input", { id: "write-title", name: "title", dir: "auto", autocomplete: "off" });
  const text = h("textarea", { id: "write-text", name: "text", rows: 12, dir: "auto", required: true });
  const tags = h("input", { id: "write-tags", name: "tags", dir: "auto", autocomplete: "off", placeholder: "work, ideas" });
  const kind = h("select", { id: "write-kind" }, KINDS.map((it) => h("option", { text: it, value: it })));
  const folder = h("select", { id: "write-source" });
  const problem = h("p", { class: "problem", role: "alert" });
  const titled = labelled("Title", title);
  const folders = labelled("In", folder);
  // It is asked only where there is a choice.
  let several = false;
  const kinds = labelled("Kind", kind);
  const choices = ["page", "memory"].map((it) =>
    h("label", { class: "choice" }, h("input", { type: "radio", name: "what", value: it, checked: it === what, on: { change: () => choose(it) } }), it === "page" ? " A page" : " A memory"));
  const save = h("button", { class: "primary", type: "submit", text: "Save" });
  let saving = false;
  const submit = async (event) => {
    event.preventDefault();
    // A disabled button would lose the focus.
    if (saving) return;
    saving = true;
    const body = { text: text.value, tags: split(tags.value) };
    if (what === "page") {
      body.title = title.value.trim();
      if (several) body.source = folder.value;
    }
    else if (kind.value !== "memory") body.kind = kind.value;
    try {
      const made = await api(what === "page" ? "pages" : "memories", { body });
      for (const field of [title, text, tags]) field.value = "";
      box.close();
      const said = what === "page" ? "The page was written" : "Remembered";
      toast(made.notice ? `${said}: ${made.notice}` : said, undoing(made.undo, () => goToList()));
      emit("written");
      goToDocument(made.id);
    } catch (error) {
      put(problem, refusal(error));
    } finally {
      saving = false;
    }
  };
  const form = h("form", { class: "form", on: { submit, keydown: saveOnEnter } },
    h("div", { class: "choices", role: "radiogroup", "aria-label": "What to write" }, choices),
    folders, titled, labelled("Text", text), kinds, labelled("Tags, separated by commas", tags), problem,
    h("div", { class: "buttons end" }, save));
  const box = dialog("write", "New", form);
  box.addEventListener("close", () => {
    const unsaved = [title, text, tags].some((field) => field.value.trim());
    draft = unsaved ? { what, title: title.value, text: text.value, tags: tags.value, kind: kind.value, source: folder.value } : null;
    if (unsaved) toast("What you wrote is kept: New opens it again");
  });
  for (const [field, value] of [[title, draft?.title], [text, draft?.text], [tags, draft?.tags], [kind, draft?.kind]]) {
    if (value) field.value = value;
  }
  const choose = (it) => {
    what = it;
    titled.hidden = it === "memory";
    title.required = it === "page";
    kinds.hidden = it === "page";
    folders.hidden = it === "memory" || !several;
    text.rows = it === "page" ? 12 : 5;
  };
  choose(what);
  (what === "page" ? title : text).focus();
  writable().then((names) => {
    several = names.length > 1;
    put(folder, names.map((name) => h("option", { text: name, value: name, selected: name === (draft?.source ?? "pages") })));
    choose(what);
  });
}

/// Returns the names of the sources that pages can be written to.
async function writable() {
  try {
    const { sources } = await api("status");
    return sources.filter((source) => source.writable).map(({ name }) => name);
  } catch {
    // Then the server decides, or says what it needs.
    return [];
  }
}

/// Opens the dialog for the tags of a document.
export function editTags(document_) {
  const before = document_.tags ?? [];
  const tags = h("input", { id: "tags-field", dir: "auto", autocomplete: "off" });
  tags.value = before.join(", ");
  const problem = h("p", { class: "problem", role: "alert" });
  const submit = async (event) => {
    event.preventDefault();
    const now = split(tags.value);
    const body = { add: now.filter((tag) => !before.includes(tag)), remove: before.filter((tag) => !now.includes(tag)) };
    if (body.add.length + body.remove.length === 0) return box.close();
    try {
      const { undo } = await api(documentPath(document_.id, "/tags"), { body });
      box.close();
      toast("The tags were changed", undoing(undo, refresh));
      emit("written");
      refresh();
    } catch (error) {
      put(problem, refusal(error));
    }
  };
  const form = h("form", { class: "form", on: { submit, keydown: saveOnEnter } }, labelled("Tags, separated by commas", tags), problem,
    h("div", { class: "buttons end" }, h("button", { class: "primary", type: "submit", text: "Save" })));
  const box = dialog("tag-editor", "Edit tags", form);
  tags.focus();
}

/// Moves a document to the trash. That can be undone, so it does not ask.
export async function forgetDocument(document_) {
  try {
    const { undo } = await api(documentPath(document_.id), { method: "DELETE" });
    goToList();
    emit("written");
    toast(`“${document_.title || document_.path}” was moved to the trash`, undoing(undo, (card) => goToDocument(card?.id ?? document_.id)));
  } catch (error) {
    toast(refusal(error));
  }
}

/// Returns what undoes a change, and what is shown then.
function undoing(undo, after) {
  if (!undo) return null;
  return async () => {
    try {
      const card = await api("undo", { body: { undo } });
      toast("Undone");
      emit("written");
      after(card);
    } catch (error) {
      toast(refusal(error));
    }
  };
}

/// Saves on Ctrl and Enter, from any field.
function saveOnEnter(event) {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  event.currentTarget.requestSubmit();
}

function labelled(text, field) {
  return h("div", { class: "field" }, h("label", { for: field.id, text }), field);
}

function split(text) {
  return [...new Set(text.split(",").map((tag) => tag.trim().replace(/^#/, "")).filter(Boolean))];
}
