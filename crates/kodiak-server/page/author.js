// Who wrote or said a document, in words.

const SPEAKERS = { user: "said by you", assistant: "said by the agent" };

/// Returns who wrote or said the document of a hit or card; null if that is not known.
export function author({ kind, role, author: name }) {
  const speaker = role ?? (kind === "turn" ? name : null);
  if (speaker) return SPEAKERS[speaker] ?? `said by ${speaker}`;
  return name ? `by ${name}` : null;
}
