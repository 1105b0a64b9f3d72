// The strip of bars above the timeline: counts over time, and a range that is dragged
// over them or moved by keys.

import { byId, counted, h, put, svg } from "./element.js";
import { dayOf } from "./periods.js";

const HEIGHT = 64;
const STEP = 10;
const GAP = 2;
const DAY = 86_400_000;

const strip = byId("strip");
let buckets = [];
let unit = "week";
let range = null;
/// What the range is called if it begins or ends within a bar.
let within = null;
let whole = "";
let choose = () => {};
let settling = null;
let chart;

/// Draws counts, with the range from `after` to before `before`. `chosen` is called with
/// both as dates, or with two empty texts, when the user takes another range; `units`
/// with the unit that the user wants. `name` is what all of the counts are called.
export function draw(counts, { after, before }, chosen, units, name) {
  ({ buckets, unit } = counts);
  whole = name;
  choose = chosen;
  // A key that was pressed since these counts were asked for still counts.
  if (settling === null) {
    range = covered(after, before);
    within = range && partly(after, before);
  }
  const most = Math.max(1, ...buckets.map(({ count }) => count));
  const bars = buckets.map(({ start, count }, at) => {
    const height = count === 0 ? 1 : Math.max(3, Math.sqrt(count / most) * HEIGHT);
    return svg("rect", { x: at * STEP, y: HEIGHT - height, width: STEP - GAP, height, class: count === 0 ? "count none" : "count" },
      svg("title", { text: `${named(start)}: ${counted(count, "document")}` }));
  });
  const take = (other) => {
    clearTimeout(settling);
    settling = null;
    units(other);
  };
  const width = buckets.length * STEP;
  chart = h("div", { class: "chart" },
    svg("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" }, bars),
    thumb("first"), thumb("last"));
  const focused = strip.contains(document.activeElement) ? document.activeElement : null;
  const again = focused && (focused.dataset.which ? `.${focused.dataset.which}` : `[data-unit=${focused.dataset.unit}]`);
  put(strip,
    h("div", { class: "strip-head" },
      h("span", { class: "range", "aria-live": "polite" }),
      h("span", { class: "value" }),
      h("button", { class: "plain", id: "whole", type: "button", text: "Whole time", on: { click: () => choose("", "") } }),
      h("div", { class: "units", role: "group", "aria-label": "Counts per" }, ["day", "week", "month"].map((it) =>
        h("button", { type: "button", "aria-pressed": String(it === unit), data: { unit: it }, text: it, on: { click: () => take(it) } })))),
    h("div", { class: "strip-body" },
      buckets.length > 0 ? [chart, axis()] : h("p", { class: "note", text: "There is nothing in this time." })));
  drag();
  mark();
  // What had the focus was redrawn, or has nothing more to do.
  if (again) (strip.querySelector(again) ?? strip.querySelector(".thumb"))?.focus({ preventScroll: true });
}

/// Returns the first and the last bucket that a range covers; null for all.
function covered(after, before) {
  if (buckets.length === 0 || (!after && !before)) return null;
  const time = (text, none) => (text && dayOf(text) ? Date.parse(dayOf(text)) : none);
  const from = time(after, -Infinity);
  const to = time(before, Infinity);
  const inside = buckets.map(({ start }) => Date.parse(end(start)) > from && Date.parse(start) < to);
  const first = inside.indexOf(true);
  // A range without anything in it is at one of the ends.
  if (first < 0) return to <= Date.parse(buckets[0].start) ? [0, 0] : [buckets.length - 1, buckets.length - 1];
  return [first, inside.lastIndexOf(true)];
}

/// Returns the days of a range that begins or ends within a bar; null if none does.
function partly(after, before) {
  const [first, last] = [after && dayOf(after), before && dayOf(before)];
  const begins = !first || first === buckets[range[0]].start || (first < buckets[0].start && range[0] === 0);
  const ends = !last || last === end(buckets[range[1]].start) || (last > end(buckets[range[1]].start) && range[1] === buckets.length - 1);
  if (begins && ends) return null;
  const form = { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" };
  const words = (time) => new Date(time).toLocaleDateString("en-GB", form);
  const until = last && words(Date.parse(last) - DAY);
  if (!first) return `Until ${until}`;
  if (!last) return `Since ${words(first)}`;
  return words(first) === until ? until : `${words(first)} to ${until}`;
}

/// Returns the day after the last day of a bucket.
function end(start) {
  const at = new Date(`${start}T00:00:00Z`);
  if (unit === "month") at.setUTCMonth(at.getUTCMonth() + 1);
  else at.setTime(at.getTime() + (unit === "week" ? 7 : 1) * DAY);
  return at.toISOString().slice(0, 10);
}

function named(start) {
  const at = new Date(`${start}T00:00:00Z`);
  const form = unit === "month" ? { month: "long", year: "numeric" } : { day: "numeric", month: "long", year: "numeric" };
  const day = at.toLocaleDateString("en-GB", { ...form, timeZone: "UTC" });
  return unit === "week" ? `week of ${day}` : day;
}

function thumb(which) {
  const key = (event) => {
    const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10, Home: -Infinity, End: Infinity }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const [first, last] = range ?? [0, buckets.length - 1];
    const most = buckets.length - 1;
    const limited = (value, low, high) => Math.max(low, Math.min(high, value));
    range = which === "first" ? [limited(first + by, 0, last), last] : [first, limited(last + by, first, most)];
    within = null;
    mark();
    settle();
  };
  return h("div", { class: `thumb ${which}`, role: "slider", tabindex: "0", data: { which }, "aria-label": which === "first" ? `First ${unit}` : `Last ${unit}`, on: { keydown: key } });
}

/// Takes the range after a moment without another key.
function settle(wait = 350) {
  clearTimeout(settling);
  settling = setTimeout(() => {
    settling = null;
    const all = !range || (range[0] === 0 && range[1] === buckets.length - 1);
    if (all) choose("", "");
    else choose(buckets[range[0]].start, end(buckets[range[1]].start));
  }, wait);
}

/// Shows the range.
function mark() {
  if (buckets.length === 0) return;
  const [first, last] = range ?? [0, buckets.length - 1];
  chart.style.setProperty("--first", first / buckets.length);
  chart.style.setProperty("--last", (last + 1) / buckets.length);
  chart.querySelectorAll(".count").forEach((bar, at) => bar.classList.toggle("outside", at < first || at > last));
  for (const [which, at] of [["first", first], ["last", last]]) {
    const slider = chart.querySelector(`.${which}`);
    slider.setAttribute("aria-valuemin", "0");
    slider.setAttribute("aria-valuemax", String(buckets.length - 1));
    slider.setAttribute("aria-valuenow", String(at));
    slider.setAttribute("aria-valuetext", `${named(buckets[at].start)}: ${counted(buckets[at].count, "document")}`);
  }
  const sum = buckets.slice(first, last + 1).reduce((all, { count }) => all + count, 0);
  strip.querySelector(".strip-head .value").textContent = within ? "" : counted(sum, "document");
  const text = strip.querySelector(".range");
  const one = first === last;
  text.textContent = within ?? (range ? (one ? capital(named(buckets[first].start)) : `${capital(named(buckets[first].start))} to ${named(buckets[last].start)}`) : whole);
  strip.querySelector("#whole").hidden = !range;
}

function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/// Lets the pointer drag a range.
function drag() {
  let from = null;
  const at = (event) => {
    const box = chart.getBoundingClientRect();
    const part = (event.clientX - box.left) / box.width;
    return Math.max(0, Math.min(buckets.length - 1, Math.floor(part * buckets.length)));
  };
  chart.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const { which } = event.target.dataset;
    const [first, last] = range ?? [0, buckets.length - 1];
    from = which === "first" ? last : which === "last" ? first : at(event);
    chart.setPointerCapture(event.pointerId);
    if (!which) range = [from, from];
    within = null;
    mark();
  });
  chart.addEventListener("pointermove", (event) => {
    if (from === null) return;
    const to = at(event);
    range = [Math.min(from, to), Math.max(from, to)];
    mark();
  });
  for (const name of ["pointerup", "pointercancel"]) {
    chart.addEventListener(name, () => {
      if (from === null) return;
      from = null;
      settle(0);
    });
  }
}

/// Returns the years or months below the bars, as many as have room.
function axis() {
  const labels = [];
  let before = null;
  const months = buckets.length > 0 && unit !== "month" && buckets.length < 60 * (unit === "day" ? 7 : 1);
  buckets.forEach(({ start }, at) => {
    const name = months && unit === "day" ? start.slice(0, 7) : start.slice(0, 4);
    if (name === before) return;
    const text = name.length === 4 ? name : new Date(`${start}T00:00:00Z`).toLocaleDateString("en-GB", { month: "short", timeZone: "UTC" });
    before = name;
    const last = labels[labels.length - 1];
    if (last && (at - last.at) / buckets.length < 0.07) return;
    const label = h("span", { text });
    label.style.setProperty("--at", at / buckets.length);
    labels.push({ at, label });
  });
  return h("div", { class: "axis", "aria-hidden": "true" }, labels.map(({ label }) => label));
}
