// The order in which hits are listed when a better answer arrives.

/// Returns the hits to list: those of the next answer in its order, unless the list was
/// touched. Then rows stay where they are, with what the next answer says about them, and
/// new hits follow them.
export function folded(shown, next, touched, most = 50) {
  if (!touched || shown.length === 0) return next.slice(0, most);
  const better = new Map(next.map((hit) => [hit.id, hit]));
  const known = new Set(shown.map((hit) => hit.id));
  const kept = shown.map((hit) => better.get(hit.id) ?? hit);
  const added = next.filter((hit) => !known.has(hit.id));
  return [...kept, ...added].slice(0, Math.max(most, shown.length));
}

/// The least relevance of a hit that is worth a look.
const RELEVANT = 0.1;

/// Returns how many hits stand above the line: as many as are probably relevant, if all
/// the others are below them. Null if there is no line.
export function aboveLine(hits, relevant) {
  if (!relevant) return null;
  const probable = hits.map((hit) => (hit.relevance ?? 0) >= RELEVANT);
  const count = probable.lastIndexOf(true) + 1;
  const sorted = probable.slice(0, count).every(Boolean);
  return sorted && count > 0 && count < hits.length ? count : null;
}
