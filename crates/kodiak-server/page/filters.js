// Filters: chips of those that are set, and a panel with counts of those that could be.

import { api, isAborted } from "./api.js";
import { DATES, LISTS, isFiltered, noFilters, requested } from "./address.js";
import { byId, grouped, h, put } from "./element.js";
import { spans } from "./periods.js";

const NAMES = { source: "Source", tag: "Tag", kind: "Kind", project: "Project" };
const SHOWN = 8;
const PERIODS = [["", "any time"], ["7d", "past week"], ["1m", "past month"], ["3m", "past 3 months"], ["1y", "past year"]];

const chips = byId("chips");
const panel = byId("facets");
const button = byId("show-filters");
let place = null;
let change = () => {};
let counts = null;
let counting = new AbortController();
let wide = new Set();
let timer;
const groups = h("div");
const fields = new Map([["after", "From"], ["before", "Before"]].map(dateField));

/// Calls `listener` with the new filters when the user changes them.
export function onFilters(listener) {
  change = listener;
}

/// Shows the filters of a place.
export function showFilters(next) {
  const other = JSON.stringify([next.query, next.filters]) !== JSON.stringify(place && [place.query, place.filters]);
  place = next;
  const set = LISTS.flatMap((name) => place.filters[name].map((value) => [name, value]));
  set.push(...DATES.filter((name) => place.filters[name]).map((name) => [name, place.filters[name]]));
  const at = [...chips.children].indexOf(document.activeElement);
  put(chips, set.map(chip), set.length > 1 ? h("button", { class: "plain", type: "button", text: "Clear all", on: { click: () => change(noFilters()) } }) : null);
  chips.hidden = set.length === 0;
  // The chip that had the focus is gone: the next one gets it, or else the search field.
  if (at >= 0) (chips.children[Math.min(at, chips.children.length - 1)] ?? byId("query")).focus();
  button.classList.toggle("set", isFiltered(place.filters));
  if (other && !panel.hidden) count();
}

/// Tells that the hits of a place are shown, so that counting delays nothing.
export function answered() {
  if (!panel.hidden) count();
}

/// Opens or closes the panel; `focus` moves the focus into it.
export function toggle(open = panel.hidden, focus = false) {
  if (!open && panel.contains(document.activeElement)) button.focus();
  panel.hidden = !open;
  button.setAttribute("aria-expanded", String(open));
  if (!open) return;
  draw();
  if (focus) panel.querySelector("button")?.focus();
  count();
}

export function isOpen() {
  return !panel.hidden;
}

function chip([name, value]) {
  const text = `${name}: ${name === "after" ? (periodName(value) ?? value) : value}`;
  return h("button", {
    class: "chip", type: "button", "aria-label": `Remove filter ${text}`,
    on: { click: () => change(without(name, value)) },
  }, h("span", { dir: "auto", text }), h("span", { class: "cross", "aria-hidden": "true", text: "×" }));
}

function periodName(value) {
  return PERIODS.find(([period]) => period === value)?.[1];
}

function without(name, value) {
  const filters = structuredClone(place.filters);
  if (DATES.includes(name)) filters[name] = "";
  else filters[name] = filters[name].filter((it) => it !== value);
  return filters;
}

function withValue(name, value) {
  const filters = structuredClone(place.filters);
  if (DATES.includes(name)) filters[name] = value;
  else filters[name] = [...filters[name], value];
  return filters;
}

/// Asks for the counts, a moment after the hits.
function count() {
  counting.abort();
  counting = new AbortController();
  clearTimeout(timer);
  const { signal } = counting;
  timer = setTimeout(async () => {
    try {
      const body = { query: place.query, ...requested(place.filters) };
      counts = await api("facets", { body, signal });
      draw();
    } catch (error) {
      if (!isAborted(error) && !counts) put(groups, h("p", { class: "note", text: "The counts could not be loaded." }));
    }
  }, 60);
}

function draw() {
  put(groups, LISTS.map((name) => group(name, counts?.[`${name}s`] ?? [])), times());
  for (const [name, field] of fields) {
    // What is half typed stays.
    if (field !== document.activeElement) field.value = dated(name);
  }
  if (!panel.hasChildNodes()) panel.append(groups, h("div", { class: "dates" }, [...fields.values()].map((field) => field.parentNode)));
}

function group(name, found) {
  const set = place.filters[name];
  const others = set.filter((value) => !found.some((it) => it.value === value));
  const all = [...others.map((value) => ({ value })), ...found];
  if (all.length === 0 || (all.length === 1 && set.length === 0 && name !== "tag")) return null;
  const limit = wide.has(name) ? Infinity : SHOWN;
  const items = all.slice(0, limit).map(({ value, count }) => {
    const on = set.includes(value);
    const click = () => change(on ? without(name, value) : withValue(name, value));
    return h("button", { class: "facet", type: "button", "aria-pressed": String(on), data: { key: `${name}:${value}` }, on: { click } },
      h("span", { dir: "auto", text: value }), count === undefined ? null : h("span", { class: "value", text: grouped(count) }));
  });
  const more = () => {
    wide.add(name);
    draw();
    panel.querySelector(`[data-key="${CSS.escape(`${name}:${all[limit].value}`)}"]`)?.focus();
  };
  return titled(NAMES[name], items,
    all.length > limit ? h("button", { class: "plain", type: "button", text: `${all.length - limit} more`, on: { click: more } }) : null);
}

function titled(name, ...items) {
  return h("div", { class: "facet-group", role: "group", "aria-label": name }, h("p", { class: "name", text: name }), h("div", { class: "facet-list" }, items));
}

/// Returns the periods to choose from, and the years or months with their counts.
function times() {
  const { after, before } = place.filters;
  const choice = (key, name, range, count) => {
    const on = after === range.after && before === range.before;
    const click = () => change({ ...structuredClone(place.filters), ...(on ? { after: "", before: "" } : range) });
    return h("button", { class: "facet", type: "button", "aria-pressed": String(on), data: { key: `date:${key}` }, on: { click } },
      h("span", { text: name }), count === undefined ? null : h("span", { class: "value", text: grouped(count) }));
  };
  const all = spans(counts?.months ?? []);
  return [
    titled("Date", PERIODS.map(([value, name]) => choice(value, name, { after: value, before: "" }))),
    all.length > 1 ? titled("Written in", all.map(({ name, count, ...range }) => choice(name, name, range, count))) : null,
  ];
}

/// Returns the field of a date that begins or ends a range. A date is taken when it is
/// whole: each digit that is typed makes another one.
function dateField([name, label]) {
  let typing = false;
  const field = h("input", { type: "date", min: "1000-01-01", max: "9999-12-31", data: { key: name } });
  const take = () => {
    typing = false;
    if (field.validity.valid && field.value !== dated(name)) change({ ...structuredClone(place.filters), [name]: field.value });
  };
  field.addEventListener("keydown", ({ key }) => {
    if (key === "Enter") take();
    else if (key !== "Tab") typing = true;
  });
  field.addEventListener("change", () => typing || take());
  field.addEventListener("blur", () => {
    take();
    field.value = dated(name);
  });
  h("label", { class: "date" }, h("span", { text: label }), field);
  return [name, field];
}

/// Returns the date of a filter; nothing if it is a period.
function dated(name) {
  return /^\d{4}-\d\d-\d\d$/.test(place.filters[name]) ? place.filters[name] : "";
}

button.addEventListener("click", () => toggle());
panel.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  event.stopPropagation();
  toggle(false);
  button.focus();
});

