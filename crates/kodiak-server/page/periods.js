// Periods of time: those that a filter names by their length, and those that counts are
// shown for.

const DAY = 86_400_000;

/// Returns the day that a limit means, as the server reads it: a date, `today`,
/// `yesterday`, or how long ago it was, as in `7d`, `2w`, `3m` and `1y`. Days begin at
/// midnight UTC. Null for anything else.
export function dayOf(text, now = Date.now()) {
  const found = /^(\d{1,5})\s*([dwmy])$/i.exec(text.trim());
  const today = Math.floor(now / DAY) * DAY;
  if (/^today$/i.test(text)) return iso(today);
  if (/^yesterday$/i.test(text)) return iso(today - DAY);
  if (!found) return Number.isNaN(Date.parse(text)) ? null : iso(Date.parse(text));
  const count = Number(found[1]);
  const unit = found[2].toLowerCase();
  if (unit === "d" || unit === "w") return iso(today - count * (unit === "w" ? 7 : 1) * DAY);
  const then = new Date(today);
  const day = then.getUTCDate();
  then.setUTCDate(1);
  then.setUTCMonth(then.getUTCMonth() - count * (unit === "y" ? 12 : 1));
  // A month that is too short ends on its last day.
  const last = new Date(Date.UTC(then.getUTCFullYear(), then.getUTCMonth() + 1, 0)).getUTCDate();
  then.setUTCDate(Math.min(day, last));
  return iso(then.getTime());
}

/// Returns the years in which documents were written, the latest first, with their number
/// and their limits; the months if there is one year only.
export function spans(months, most = 12) {
  const years = new Set(months.map(({ value }) => value.slice(0, 4)));
  const length = years.size > 1 ? 4 : 7;
  const all = new Map();
  for (const { value, count } of months) all.set(value.slice(0, length), (all.get(value.slice(0, length)) ?? 0) + count);
  const range = (name) => {
    const [year, month = null] = name.split("-").map(Number);
    const next = month === null ? [year + 1, 0] : [year, month];
    return { after: month === null ? `${name}-01-01` : `${name}-01`, before: iso(Date.UTC(...next, 1)) };
  };
  return [...all].reverse().slice(0, most).map(([name, count]) => ({ name, count, ...range(name) }));
}

function iso(time) {
  return new Date(time).toISOString().slice(0, 10);
}
