// Builds elements. Text is always text: no markup is ever parsed here.

const SVG = "http://www.w3.org/2000/svg";

/// Returns an element. Of the properties, `class` and `text` are what they say, `on` has
/// listeners by event, `data` becomes data attributes, and the others become attributes
/// unless they are false, null or undefined.
export function h(tag, props = {}, ...children) {
  return fill(document.createElement(tag), props, children);
}

/// Returns an element of a drawing.
export function svg(tag, props = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

function fill(element, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === false || value === null || value === undefined) continue;
    if (name === "text") element.textContent = value;
    else if (name === "on") {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else if (name === "data") Object.assign(element.dataset, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  add(element, children);
  return element;
}

/// Adds children to an element: elements, texts and lists of them; nothing for null.
export function add(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
}

/// Replaces all that an element has. The focus stays on what has the same id or
/// `data-key`, or else goes to what is next to it.
export function put(element, ...children) {
  const focused = element.contains(document.activeElement) ? document.activeElement : null;
  element.replaceChildren();
  add(element, children);
  if (focused && focused !== element) keepFocus(element, focused);
}

/// Hides or shows an element. The focus leaves what is hidden.
export function show(element, shown = true) {
  const had = !shown && element.contains(document.activeElement);
  element.hidden = !shown;
  if (had) fallBack(element);
}

/// Removes an element, which may have the focus.
export function drop(element) {
  if (!element) return;
  const had = element.contains(document.activeElement);
  const near = element.parentElement;
  element.remove();
  if (had) fallBack(near);
}

/// Moves the focus to a part of a text that is not a control.
export function focusOn(element) {
  if (element.tabIndex < 0) element.tabIndex = -1;
  element.focus({ preventScroll: true });
}

function keepFocus(element, focused) {
  const { id, dataset: { key } } = focused;
  const same = id ? `#${CSS.escape(id)}` : key ? `[data-key="${CSS.escape(key)}"]` : null;
  if (same) element.querySelector(same)?.focus({ preventScroll: true });
  if (!element.contains(document.activeElement)) fallBack(element);
}

/// Gives the focus to the dialog or the pane that an element is in, or else to the list or
/// the search field.
function fallBack(element) {
  const around = element.closest("dialog, #reading");
  const list = element.closest("#results") ? byId("hits") : null;
  for (const it of [around, list, byId("query")]) {
    if (!it?.checkVisibility()) continue;
    it.focus({ preventScroll: true });
    if (document.activeElement === it) return;
  }
}

/// Returns the element of the page with this id.
export function byId(id) {
  return document.getElementById(id);
}

/// Tells people who listen to the page.
export function announce(text) {
  const place = byId("announce");
  // The same text again would not be a change.
  place.textContent = place.textContent === text ? `${text}\u00a0` : text;
}

/// Returns a message of the server as a sentence: with a capital, a full stop, and what
/// is between backticks as code.
export function sentence(message) {
  const text = message.charAt(0).toUpperCase() + message.slice(1);
  const whole = /[.!?:…]$/.test(text) ? text : `${text}.`;
  return whole.split("`").map((part, at) => (at % 2 === 1 ? h("code", { text: part }) : part));
}

/// Returns what a refusal says, as sentences.
export function refusal(error) {
  return error.next ? [sentence(error.message), " ", sentence(error.next)] : sentence(error.message);
}

/// Returns a text with its number: `1 note`, `42 notes`.
export function counted(number, thing) {
  return number === 1 ? `1 ${thing}` : `${grouped(number)} ${thing}s`;
}

/// Returns a number with its thousands apart.
export function grouped(number) {
  return number.toLocaleString("en");
}
