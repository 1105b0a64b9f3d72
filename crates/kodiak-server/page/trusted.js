// The one place where markup becomes elements: notes, which the server has rendered and
// sanitised. The Content-Security-Policy allows no other policy than this one.

const policy = window.trustedTypes?.createPolicy("kodiak", { createHTML: (html) => html });

/// Returns the elements of a rendered note.
export function rendered(html) {
  const template = document.createElement("template");
  template.innerHTML = policy ? policy.createHTML(html) : html;
  return template.content;
}
