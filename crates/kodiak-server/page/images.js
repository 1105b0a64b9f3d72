// Images of notes. They need the secret, so they are fetched, once they come near. A
// drawing (SVG) may contain scripts, which do not run in an image, but would in the origin
// of the page if its address were opened as one of a document: its address holds it
// itself (`data:`), which is of no origin. Other pictures are blobs of a type that is no
// document.

import { documentPath, send } from "./api.js";

/// The pictures that are no documents.
const PICTURES = /^image\/(png|jpeg|gif|webp|avif|bmp|x-icon|vnd\.microsoft\.icon)$/;
const DRAWING = "image/svg+xml";

let addresses = [];
let observer = null;

/// Loads the images below `root` when they come near.
export function load(root, id) {
  observer ??= new IntersectionObserver(near, { root: document.getElementById("reading"), rootMargin: "600px" });
  for (const image of root.querySelectorAll("img[data-file]")) {
    image.dataset.document = id;
    image.decoding = "async";
    observer.observe(image);
  }
}

/// Gives up all images.
export function unload() {
  observer?.disconnect();
  for (const address of addresses) URL.revokeObjectURL(address);
  addresses = [];
}

function near(entries) {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    observer.unobserve(target);
    fetchImage(target);
  }
}

async function fetchImage(image) {
  const path = image.dataset.file.split("/").map(encodeURIComponent).join("/");
  try {
    const response = await send(`/api/${documentPath(image.dataset.document, `/files/${path}`)}`);
    const type = (response.headers.get("content-type") ?? "").split(";")[0].trim();
    const content = await response.blob();
    if (!image.isConnected) return;
    const address = type === DRAWING ? await inlined(content) : blobbed(content, type);
    image.addEventListener("error", () => missing(image), { once: true });
    image.src = address;
  } catch {
    missing(image);
  }
}

function blobbed(content, type) {
  if (!PICTURES.test(type)) throw new TypeError(`${type} is no picture`);
  const address = URL.createObjectURL(content.slice(0, content.size, type));
  addresses.push(address);
  return address;
}

function inlined(content) {
  return new Promise((done, failed) => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result);
    reader.onerror = () => failed(reader.error);
    reader.readAsDataURL(content.slice(0, content.size, DRAWING));
  });
}

function missing(image) {
  const note = document.createElement("span");
  note.className = "broken";
  note.textContent = image.alt || image.dataset.file;
  note.title = "The image could not be loaded";
  image.replaceWith(note);
}
