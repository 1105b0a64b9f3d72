// Events between the parts of the page: `code` of a sign-in link, `signed-in`, `signed-out`,
// `left`, `offline`, `reached` for each answer of the server, `online`, `status`,
// `documents`, `terms` when the words to mark are known, and `written` for what was changed
// on this page.

const bus = new EventTarget();

/// Calls `listener` with the detail of each event of this name.
export function on(name, listener) {
  bus.addEventListener(name, (event) => listener(event.detail));
}

/// Sends an event to all who listen.
export function emit(name, detail) {
  bus.dispatchEvent(new CustomEvent(name, { detail }));
}
