// Signs in: by the code of a link, by another tab, or by a token that is pasted.

import { Refused, Unreachable, api, keepSecret, secret, send } from "./api.js";
import { codeIn } from "./address.js";
import { emit, on } from "./bus.js";
import { byId, h, put, refusal } from "./element.js";
import { toast } from "./toast.js";

/// How long other tabs have to answer, in milliseconds. One that lays out a long note is busy.
const OTHER_TABS = 400;

const tabs = new BroadcastChannel("kodiak");
let session = null;
/// The code of a link that the server has not answered yet.
let code = null;
/// Whether signing in waits for the server to be back.
let waiting = false;

/// Returns what this session may do; null while signed out.
export function current() {
  return session;
}

/// Signs in if possible, and shows how to if not. A code is kept until the server has
/// answered, and tried again once it is back.
export async function signIn() {
  waiting = false;
  const own = (code ??= taken());
  let refused = null;
  if (own !== null) {
    refused = await exchange({ code: own });
    if (refused instanceof Unreachable) {
      waiting = true;
      return;
    }
    if (code === own) code = null;
    if (session && refused) {
      toast(refusal(refused));
      return;
    }
    // Another session may see other notes.
    if (session) clear({ anew: true });
  } else if (!secret()) await askTabs();
  if (await opened()) return;
  if (!secret() && (await askTabs()) && (await opened())) return;
  show(refused);
}

/// Signs out here and in all other tabs.
export async function signOut() {
  await send("/session", { method: "DELETE" }).catch(() => {});
  tabs.postMessage({ signedOut: true });
  leave(null);
}

/// Takes the code out of the address, where nothing must find it again.
function taken() {
  const found = codeIn(location.hash);
  if (found !== null) history.replaceState(null, "", "/#/");
  return found;
}

/// Exchanges a code or a token for a session; returns the refusal if there is one.
async function exchange(body) {
  try {
    const response = await send("/session", { body });
    keepSecret((await response.json()).secret);
    tabs.postMessage({ secret: secret() });
    return null;
  } catch (error) {
    return error;
  }
}

/// Reports whether a session is open, and says so to the page.
async function opened() {
  try {
    session = await api("session");
  } catch (error) {
    if (!(error instanceof Refused)) {
      waiting = true;
      return true;
    }
    if (error.status !== 401) throw error;
    keepSecret(null);
    return false;
  }
  byId("signin").hidden = true;
  byId("app").hidden = false;
  byId("app").inert = false;
  emit("signed-in", session);
  return true;
}

/// Asks other tabs for the secret; reports whether one gave it.
function askTabs() {
  return new Promise((done) => {
    const timer = setTimeout(() => finish(false), OTHER_TABS);
    const finish = (given) => {
      clearTimeout(timer);
      tabs.removeEventListener("message", hear);
      done(given);
    };
    const hear = ({ data }) => {
      if (!data?.secret) return;
      keepSecret(data.secret);
      finish(true);
    };
    tabs.addEventListener("message", hear);
    tabs.postMessage({ ask: true });
  });
}

tabs.addEventListener("message", ({ data }) => {
  if (data?.ask && session && secret()) tabs.postMessage({ secret: secret() });
  if (data?.signedOut) leave(null);
  // A new sign-in replaces the cookie of all tabs.
  if (data?.secret) {
    keepSecret(data.secret);
    if (!session) opened();
  }
});
on("code", (given) => {
  code = given;
  signIn();
});
on("online", () => waiting && signIn());
on("signed-out", async (refused) => {
  if (!session) return;
  session = null;
  // Another tab may have signed in again since.
  const given = secret();
  if ((await askTabs()) && secret() !== given && (await opened())) return;
  leave(refused);
});

function leave(refused) {
  keepSecret(null);
  clear(refused);
  show(refused);
}

/// Takes away what the session has shown.
function clear(reason) {
  session = null;
  emit("left", reason);
}

/// Shows how to sign in, and why that is necessary if it was refused.
function show(refused) {
  const there = byId("signin-problem");
  if (there && !byId("signin").hidden) {
    // A token may be half typed.
    put(there, refused ? worded(refused) : null);
    return;
  }
  byId("app").hidden = true;
  byId("app").inert = true;
  const field = h("input", {
    id: "token", type: "password", autocomplete: "off", spellcheck: "false",
    "aria-describedby": "signin-problem", required: true,
  });
  const problem = h("p", { id: "signin-problem", class: "problem", role: "alert" });
  const tell = (error) => put(problem, worded(error));
  const submit = async (event) => {
    event.preventDefault();
    const failed = await exchange({ token: field.value.trim() });
    if (failed) {
      tell(failed);
      field.select();
    } else if (!(await opened())) tell(null);
  };
  const view = byId("signin");
  put(
    view,
    h("main", { class: "signin-card", "aria-labelledby": "signin-title" },
      h("p", { class: "brand", text: "Kodiak" }),
      h("h1", { id: "signin-title", text: "Sign in" }),
      h("p", { text: "Open a new link, which works once and for one minute:" }),
      h("ul", { class: "ways" },
        h("li", {}, "press ", h("kbd", { text: "Enter" }), " in the terminal where the server runs, or"),
        h("li", {}, "start it with ", h("code", { text: "kodiak serve --open" }), ".")),
      h("form", { on: { submit } },
        h("label", { for: "token", text: "Or paste a token" }),
        h("div", { class: "inline" }, field, h("button", { class: "primary", type: "submit", text: "Sign in" })),
        h("p", { class: "note" }, h("code", { text: "kodiak token create NAME" }), " makes one.")),
      problem),
  );
  view.hidden = false;
  if (refused) tell(refused);
  document.title = "Sign in – Kodiak";
  field.focus();
}

function worded(error) {
  if (!error) return "The session could not be opened. Cookies must be allowed for this page.";
  return refusal(error);
}
