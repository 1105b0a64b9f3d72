// What can be done with a document: open it elsewhere, copy its id or path, change it.

import { api, documentPath } from "./api.js";
import { h, refusal } from "./element.js";
import { editorLink } from "./editor.js";
import { toast } from "./toast.js";
import { editTags, forgetDocument } from "./writing.js";

/// Returns the row of actions of a document that is read at a line.
export function actions(document_, line) {
  const button = (id, text, click, title) => h("button", { id, type: "button", text, title, on: { click } });
  const link = (id, text, href) => h("a", { id, href, text, rel: "noopener" });
  const file = document_.file ?? document_.path;
  const all = [];
  if (document_.url) all.push(link("open-app", document_.url.startsWith("bear:") ? "Open in Bear" : "Open", document_.url));
  if (document_.opens) all.push(button("open-editor", "Open in editor", () => openEditor(document_, line)));
  else if (document_.file) all.push(link("open-editor", "Open in editor", editorLink(document_.file, line ?? 1)));
  all.push(button("copy-id", "Copy id", () => copy(document_.id, "The id")));
  all.push(button("copy-path", "Copy path", () => copy(file, "The path")));
  if (document_.editable) {
    all.push(button("edit-tags", "Edit tags", () => editTags(document_)));
    all.push(button("forget", "Forget", () => forgetDocument(document_)));
  }
  return h("div", { class: "actions" }, h("div", { class: "buttons" }, all));
}

/// Puts a text on the clipboard and says so.
export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    toast(`${what} was copied`);
  } catch {
    toast(`${what} could not be copied: ${text}`);
  }
}

async function openEditor(document_, line) {
  try {
    await api(documentPath(document_.id, "/open"), { body: line ? { line } : {} });
    toast("Opened in the editor");
  } catch (error) {
    toast(refusal(error));
  }
}
