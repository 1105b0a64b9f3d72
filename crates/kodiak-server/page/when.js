// Words times as the terminal does: by how long ago they were.

import { h } from "./element.js";

const UNITS = [
  [365 * 86_400, "year"],
  [30 * 86_400, "month"],
  [7 * 86_400, "week"],
  [86_400, "day"],
  [3_600, "hour"],
  [60, "minute"],
];

/// Returns when something was or will be: `2 minutes ago`, `in 3 weeks`.
export function relative(then, now = Date.now()) {
  const age = (now - Date.parse(then)) / 1000;
  if (Number.isNaN(age)) return "";
  const seconds = Math.abs(age);
  const unit = UNITS.find(([length]) => seconds >= length);
  if (!unit) return "just now";
  const number = Math.floor(seconds / unit[0]);
  const words = `${number} ${unit[1]}${number === 1 ? "" : "s"}`;
  return age < 0 ? `in ${words}` : `${words} ago`;
}

/// Returns a moment in full. Dates without a time are stored as midnight.
export function exact(moment) {
  const at = new Date(moment);
  if (Number.isNaN(at.getTime())) return moment;
  return isDate(moment)
    ? at.toLocaleDateString("en-GB", { dateStyle: "long", timeZone: "UTC" })
    : at.toLocaleString("en-GB", { dateStyle: "long", timeStyle: "short" });
}

/// Returns the day of a moment. Dates without a time are stored as midnight in UTC.
export function day(moment) {
  const form = { weekday: "long", day: "numeric", month: "long", year: "numeric" };
  return new Date(moment).toLocaleDateString("en-GB", isDate(moment) ? { ...form, timeZone: "UTC" } : form);
}

function isDate(moment) {
  return /T00:00:00(\.0+)?Z$/.test(moment);
}

/// Returns an element that says how long ago a moment was.
export function age(moment, props = {}) {
  if (!moment) return null;
  return h("time", { datetime: moment, title: exact(moment), text: relative(moment), ...props });
}
