// A transcript as a conversation, with the found turn in view.

import { api, documentPath } from "./api.js";
import { copy } from "./actions.js";
import { focusOn, h, put, refusal, show } from "./element.js";
import * as images from "./images.js";
import * as marking from "./marking.js";
import { toast } from "./toast.js";
import { rendered } from "./trusted.js";
import { age } from "./when.js";

const NAMES = { user: "You", assistant: "Agent", tool: "Tool", system: "System" };

/// Shows the conversation around a turn in the place of its text.
export async function conversation(id, view, signal) {
  const found = await api(documentPath(id, "/conversation"), { signal });
  const turns = h("div", { class: "turns" });
  put(turns, grouped(found.turns));
  put(view.body, page(id, found, turns, "earlier"), turns, page(id, found, turns, "later"));
  view.title.textContent = found.title;
  if (found.resume) view.root.querySelector(".notices").append(resume(found.resume));
}

function resume(command) {
  return h("div", { class: "command" }, h("span", { class: "label", text: "Resume" }), h("code", { text: command }),
    h("button", { type: "button", id: "copy-resume", text: "Copy", "aria-label": "Copy the command that resumes the session", on: { click: () => copy(command, "The command") } }));
}

/// Returns turns with successive tool traffic folded together.
function grouped(turns) {
  const all = [];
  let tools = null;
  // What tools did in the found turn is in view only if nothing else was said in it.
  const spoken = turns.some((turn) => turn.found && !turn.tool);
  for (const turn of turns) {
    if (!turn.tool) {
      tools = null;
      all.push(said(turn));
      continue;
    }
    if (!tools) {
      tools = h("details", { class: "tools" }, h("summary"));
      all.push(tools);
    }
    tools.append(said(spoken ? { ...turn, found: false } : turn));
    if (turn.found && !spoken) tools.open = true;
    const count = tools.children.length - 1;
    tools.firstChild.textContent = count === 1 ? "1 tool message" : `${count} tool messages`;
  }
  return all;
}

function said(turn) {
  const { speaker } = turn;
  const kind = turn.tool ? "tool" : speaker;
  const text = h("div", { class: "said", dir: "auto" });
  text.append(rendered(turn.html));
  if (turn.cut) text.append(h("p", { class: "note", text: "The rest is too long to be shown. The transcript has it." }));
  return h("div", { role: "group", class: `turn ${kind}${turn.found ? " found" : ""}`, data: { id: turn.id, speaker }, "aria-label": NAMES[speaker] ?? speaker },
    h("header", {}, h("b", { text: NAMES[speaker] ?? speaker }), " ", turn.at ? age(turn.at) : null, turn.found ? h("span", { class: "state", text: "found" }) : null),
    text);
}

/// Returns the button that loads earlier or later turns, if there are any.
function page(id, found, turns, which) {
  if (!found[which]) return null;
  const load = async () => {
    // A disabled button would lose the focus.
    if (loading) return;
    loading = true;
    const all = turns.querySelectorAll(".turn");
    const edge = which === "earlier" ? all[0] : all[all.length - 1];
    const query = `${which === "earlier" ? "before" : "after"}=${encodeURIComponent(edge.dataset.id)}`;
    try {
      const next = await api(documentPath(id, `/conversation?${query}`));
      const added = grouped(next.turns);
      insert(turns, added, which);
      images.load(turns, id);
      for (const turn of added) marking.extend(turn);
      if (!next[which] && document.activeElement === button && added.length > 0) focusOn(added[0]);
      show(button, next[which]);
    } catch (error) {
      toast(["Those turns could not be loaded: ", refusal(error)]);
    } finally {
      loading = false;
    }
  };
  let loading = false;
  const button = h("button", { class: "more", type: "button", text: which === "earlier" ? "Earlier turns" : "Later turns", on: { click: load } });
  return button;
}

function insert(turns, added, which) {
  if (which === "later") {
    turns.append(...added);
    return;
  }
  const pane = turns.closest("#reading");
  const before = pane.scrollHeight;
  turns.prepend(...added);
  pane.scrollTop += pane.scrollHeight - before;
}
