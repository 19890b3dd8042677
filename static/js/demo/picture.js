/**
 * A picture of the stage, drawn by this browser out of the pages in its frames: unlike a capture of
 * the screen, this needs no permission of the user. Each page is copied with its styles into an
 * SVG, which a canvas draws. A drawn SVG loads nothing, so images are embedded as data: URLs;
 * images of other origins are left out.
 */

import { parsed } from "../shared/markup.js";

const SVG = "http://www.w3.org/2000/svg";
const XHTML = "http://www.w3.org/1999/xhtml";
const WIDE_PX = 1_600; // width of the picture, which is at most twice that on the screen
const HEAD_PX = 44; // height of the line of words above the screens
// qualities of the JPEG; the first one is used whose file is small enough
const QUALITIES = [0.9, 0.8, 0.65, 0.5, 0.3];
const MOST_BYTES = 250_000; // the server accepts no larger request
const GROUND = "#1c2230";
const BAND = "#ffd60a"; // the colour of a demo's band
const BAND_WORDS = "#2b1d00";
const files = new Map(); // address -> data: URL, for icons, logos and tiles

/**
 * A JPEG of the visible screens on the floor, under a line of words. Rejects when a page can't be
 * drawn, or when no JPEG is small enough.
 */
export async function picture(floor, screens, words) {
  const box = floor.getBoundingClientRect();
  const zoom = Math.min(2, WIDE_PX / box.width);
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(box.width * zoom);
  canvas.height = Math.round(box.height * zoom) + HEAD_PX;
  const pen = canvas.getContext("2d");
  pen.fillStyle = GROUND;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.fillStyle = BAND;
  pen.fillRect(0, 0, canvas.width, HEAD_PX);
  pen.fillStyle = BAND_WORDS;
  pen.font = "600 20px sans-serif";
  pen.textBaseline = "middle";
  pen.fillText(words, 16, HEAD_PX / 2, canvas.width - 32);
  for (const frame of screens) {
    const at = frame.getBoundingClientRect();
    const drawn = await drawing(frame.contentWindow);
    const left = (at.left - box.left) * zoom;
    const top = (at.top - box.top) * zoom + HEAD_PX;
    pen.drawImage(drawn, left, top, at.width * zoom, at.height * zoom);
  }
  for (const quality of QUALITIES) {
    const blob = await new Promise((done) => canvas.toBlob(done, "image/jpeg", quality));
    if (blob && blob.size < MOST_BYTES) return blob;
  }
  throw new Error("no picture");
}

/** The page of a window as an image. */
async function drawing(view) {
  const page = view.document;
  const copy = page.documentElement.cloneNode(true);
  await complete(page.documentElement, copy, view);
  copy.querySelector("head").replaceChildren();
  const svg = document.createElementNS(SVG, "svg");
  const inner = document.createElementNS(SVG, "foreignObject");
  const size = [
    ["width", view.innerWidth],
    ["height", view.innerHeight],
  ];
  for (const [name, value] of size)
    for (const node of [svg, inner]) node.setAttribute(name, String(value));
  for (const { name, value } of page.documentElement.attributes)
    if (/^(class|dir|lang|data-[\w-]+)$/.test(name)) svg.setAttribute(name, value);
  const scheme = view.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  svg.style.fontSize = view.getComputedStyle(page.documentElement).fontSize;
  svg.style.colorScheme = scheme;
  inner.append(copy);
  svg.append(inner);
  const image = new Image();
  // the styles are inserted as text: as a node of this page, CSP would refuse them
  const style = document.createTextNode(await styles(page));
  const [text, rules] = [svg, style].map((node) => new XMLSerializer().serializeToString(node));
  const whole = text.replace(">", () => `><style>${rules}</style>`);
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(whole)}`;
  await image.decode();
  return image;
}

/** Complete a clone with typed values, canvases, scroll positions and images. */
async function complete(root, copy, view) {
  const nodes = [...root.querySelectorAll("*")];
  const twins = [...copy.querySelectorAll("*")];
  const gone = [];
  for (const [n, node] of nodes.entries()) {
    const twin = twins[n];
    if (node.matches("canvas")) addImage(node, twin);
    if (node.matches("canvas, script, noscript, iframe, link, template, dialog:not([open])"))
      gone.push(twin);
    else if (node.matches("textarea")) twin.textContent = node.value;
    else if (node.matches("input:not([type=password])")) twin.setAttribute("value", node.value);
    if (node.matches("input:checked")) twin.setAttribute("checked", "");
    if (node.matches("option")) twin.toggleAttribute("selected", node.selected);
    if (node.matches("img")) await inline(twin, "src", node.currentSrc || node.src);
    if (node.matches("image")) await inline(twin, "href", node.href.baseVal);
    if (node.matches("use")) await symbol(twin, copy, view);
    if (node.scrollTop && node !== view.document.scrollingElement)
      for (const child of twin.children) child.style.translate = `0 ${-node.scrollTop}px`;
  }
  for (const node of gone) node.remove();
  const { scrollY } = view;
  if (scrollY) copy.querySelector("body").style.marginBlockStart = `${-scrollY}px`;
}

/** Insert the contents of a canvas beside its copy, as an image. */
function addImage(canvas, twin) {
  const image = document.createElementNS(XHTML, "img");
  for (const { name, value } of twin.attributes)
    if (name !== "style") image.setAttribute(name, value);
  image.style.cssText = twin.style.cssText; // set by script, because CSP would refuse the attribute
  try {
    image.setAttribute("src", canvas.toDataURL());
    twin.before(image);
  } catch {
    // the canvas contains an image of another origin, so it can't be read
  }
}

/** Replace the image in an attribute by a data: URL, or remove the attribute if there is none. */
async function inline(node, name, address) {
  node.removeAttribute("srcset");
  const found = await dataOf(address);
  if (found) node.setAttribute(name, found);
  else node.removeAttribute(name);
}

/** Copy the symbol of a sprite into the page. */
async function symbol(use, copy, view) {
  const [file, name] = (use.getAttribute("href") ?? "").split("#");
  if (!file || !name) return;
  const id = `picture-${name}`;
  use.setAttribute("href", `#${id}`);
  if (copy.querySelector(`#${CSS.escape(id)}`)) return;
  const sprite = await textOf(new URL(file, view.location.href).href);
  const found = parsed(sprite, "image/svg+xml").getElementById(name);
  if (!found) return;
  const holder = document.createElementNS(SVG, "svg");
  for (const side of ["width", "height"]) holder.setAttribute(side, "0");
  holder.style.position = "absolute";
  found.id = id;
  holder.append(found);
  copy.querySelector("body").append(holder);
}

/** All CSS rules of a page, with their images as data: URLs. */
async function styles(page) {
  const sheets = [...page.styleSheets].filter((sheet) => !sheet.disabled);
  let text = "";
  for (const sheet of sheets) {
    const rules = [...sheet.cssRules].map((rule) => rule.cssText).join("\n");
    text += await withPictures(rules, sheet.href ?? page.location.href);
  }
  // a drawn SVG does not know this font name
  return text.replaceAll(/\bsystem-ui\b/g, "sans-serif");
}

async function withPictures(rules, base) {
  let text = rules;
  for (const [whole, , address] of rules.matchAll(/url\((["']?)([^"')]+)\1\)/g)) {
    if (address.startsWith("data:") || address.startsWith("#")) continue;
    const found = await dataOf(new URL(address, base).href);
    text = text.replaceAll(whole, found ? `url("${found}")` : "none");
  }
  return text;
}

async function textOf(address) {
  const answer = await fetch(address, { credentials: "same-origin" });
  return answer.ok ? answer.text() : "";
}

/** A file of ours as a data: URL; "" if it can't be loaded. */
async function dataOf(address) {
  if (!address || address.startsWith("data:")) return address;
  if (!files.has(address)) files.set(address, await read(address));
  return files.get(address);
}

async function read(address) {
  try {
    const answer = await fetch(address, { credentials: "same-origin" });
    if (!answer.ok) return "";
    const blob = await answer.blob();
    return await new Promise((done, fail) => {
      const reader = new FileReader();
      reader.addEventListener("load", () => done(reader.result));
      reader.addEventListener("error", () => fail(reader.error));
      reader.readAsDataURL(blob);
    });
  } catch {
    return "";
  }
}
