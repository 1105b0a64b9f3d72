// Links that open a file in an editor. Which editor is chosen on the status page.

export const EDITORS = {
  vscode: ["Visual Studio Code", (file, line) => `vscode://file${file}:${line}`],
  cursor: ["Cursor", (file, line) => `cursor://file${file}:${line}`],
  zed: ["Zed", (file, line) => `zed://file${file}:${line}`],
  idea: ["IntelliJ IDEA", (file, line) => `idea://open?file=${file}&line=${line}`],
  sublime: ["Sublime Text", (file, line) => `subl://open?url=file://${file}&line=${line}`],
  textmate: ["TextMate", (file, line) => `txmt://open?url=file://${file}&line=${line}`],
  emacs: ["Emacs", (file, line) => `org-protocol://open-file?url=${file}&line=${line}`],
};
const KEY = "editor";

/// Returns the key of the chosen editor.
export function editor() {
  const chosen = localStorage.getItem(KEY);
  return chosen in EDITORS ? chosen : "vscode";
}

export function chooseEditor(key) {
  localStorage.setItem(KEY, key);
}

/// Returns the link that opens a file at a line.
export function editorLink(file, line) {
  const path = file.replaceAll("\\", "/").split("/").map(encodeURIComponent).join("/");
  return EDITORS[editor()][1](path.startsWith("/") ? path : `/${path}`, line);
}
