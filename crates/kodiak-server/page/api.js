// Calls the server. Knows the secret, words failures, and notices when the server is
// gone or the session has ended.

import { emit } from "./bus.js";

const KEY = "secret";

/// A refusal of the server: what happened, and what to do next.
export class Refused extends Error {
  constructor(status, { code, message, next } = {}) {
    super(message ?? `the server answered with ${status}`);
    Object.assign(this, { status, code, next });
  }
}

/// The server cannot be reached.
export class Unreachable extends Error {}

export function secret() {
  return sessionStorage.getItem(KEY);
}

export function keepSecret(value) {
  if (value) sessionStorage.setItem(KEY, value);
  else sessionStorage.removeItem(KEY);
}

/// Reports whether an error only means that another request took over.
export function isAborted(error) {
  return error?.name === "AbortError";
}

/// Sends a request and returns the response, whatever its kind.
export async function send(path, { body, method, signal, accept, last } = {}) {
  const headers = {};
  const own = secret();
  if (own) headers["Kodiak-Secret"] = own;
  if (accept) headers.Accept = accept;
  if (last) headers["Last-Event-ID"] = last;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(path, {
      method: method ?? (body === undefined ? "GET" : "POST"),
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
      cache: "no-store",
      redirect: "error",
    });
  } catch (error) {
    if (isAborted(error)) throw error;
    emit("offline");
    throw new Unreachable("the server cannot be reached");
  }
  emit("reached");
  if (response.ok) return response;
  const problem = await response.json().catch(() => ({}));
  const refused = new Refused(response.status, problem.error);
  if (response.status === 401 && path.startsWith("/api/")) emit("signed-out", refused);
  throw refused;
}

/// Sends a request and returns the object in the answer, or null if there is none.
export async function api(path, options) {
  const response = await send(`/api/${path}`, options);
  return response.status === 204 ? null : response.json();
}

/// Returns the path of a document's resource.
export function documentPath(id, rest = "") {
  return `documents/${encodeURIComponent(id)}${rest}`;
}
