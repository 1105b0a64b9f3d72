// Marks are byte ranges of UTF-8; strings of the page count UTF-16 units.

/// Returns the pieces of a text: `[text, marked]`, in order, none of them empty. Ranges
/// that overlap, go back or are beyond the end are ignored.
export function pieces(text, marks) {
  const ranges = converted(text, marks);
  const all = [];
  let at = 0;
  for (const [start, end] of ranges) {
    if (start < at || end <= start) continue;
    if (start > at) all.push([text.slice(at, start), false]);
    all.push([text.slice(start, end), true]);
    at = end;
  }
  if (at < text.length) all.push([text.slice(at), false]);
  return all;
}

/// Returns pieces without the first units of their text.
export function beyond(all, units) {
  const rest = [];
  let left = units;
  for (const [text, marked] of all) {
    if (text.length > left) rest.push([text.slice(left), marked]);
    left = Math.max(0, left - text.length);
  }
  return rest;
}

/// Returns ranges of bytes as ranges of UTF-16 units.
export function converted(text, marks) {
  const wanted = [...new Set(marks.flat())].sort((one, other) => one - other);
  const units = new Map();
  let byte = 0;
  let unit = 0;
  let next = 0;
  for (const character of text) {
    while (next < wanted.length && wanted[next] <= byte) units.set(wanted[next++], unit);
    if (next === wanted.length) break;
    byte += bytesOf(character.codePointAt(0));
    unit += character.length;
  }
  while (next < wanted.length && wanted[next] <= byte) units.set(wanted[next++], unit);
  const known = marks.map(([start, end]) => [units.get(start), units.get(end)]);
  return known.filter(([start, end]) => start !== undefined && end !== undefined);
}

function bytesOf(point) {
  if (point < 0x80) return 1;
  if (point < 0x800) return 2;
  return point < 0x10000 ? 3 : 4;
}
