/**
 * Makes nodes of the kiosk's screens. All texts are inserted as text nodes, so no answer can become
 * markup.
 */

const SVG = "http://www.w3.org/2000/svg";
const OWN_ICONS = /^(aid-.*|ask|erase|globe|volume)$/; // in a sprite that only the kiosk loads
const TILE_PX = 257; // 256, plus one so that no hairline shows between two tiles
const PIN = [
  [
    "k-map-pin",
    `M18 34.5c-5.6-6.8-11-12.6-11-18.9C7 9.4 11.9 4.5 18 4.5
     s11 4.9 11 11.1c0 6.3-5.4 12.1-11 18.9Z`,
  ],
  ["k-map-mark", "M18 11.5a4 4 0 1 1 0 8 4 4 0 0 1 0-8Z"],
];
// characters of the other direction: in a right-to-left sentence, any digit, and any letter that is
// not Arabic or Hebrew
const AGAINST = {
  ltr: /[\p{sc=Arab}\p{sc=Hebr}]/u,
  rtl: /\p{Nd}|(?![\p{sc=Arab}\p{sc=Hebr}])\p{L}/u,
};
const acts = new WeakMap(); // control -> function to call when it is pressed

/** An element with a class and children (nodes or texts); null and "" are left out. */
export function make(tag, className = "", ...children) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  node.append(...children.flat().filter((each) => each !== null && each !== ""));
  return node;
}

/**
 * Give a node the name of the fact that it shows. By this name the lens of a demo finds the fields
 * of answers that the fact comes from.
 */
export function from(name, node) {
  node.dataset.from = name;
  return node;
}

/** A fact inside a sentence, isolated with its own direction. */
export function fact(text, className = "") {
  return make("bdi", className, text ?? "");
}

/** The name of a car, which the service gives in English whatever the guest's language. */
export function carName(text) {
  const node = fact(text);
  node.lang = "en";
  return node;
}

/** The English below a text whose translation no one has read; null if it is not needed. */
export function beneath(english, tag = "p") {
  if (!english) return null;
  const node = make(tag, "k-english", english);
  node.lang = "en";
  node.dir = "ltr";
  return node;
}

/** Lines of a screen, each with its English below if no one has read its translation. */
export function lines(k, ...texts) {
  return texts
    .filter(Boolean)
    .flatMap((text) => [make("p", "k-lead", text), beneath(k.english(text))])
    .filter(Boolean);
}

/** A symbol of a sprite, hidden from screen readers. */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  const use = document.createElementNS(SVG, "use");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const { icons, ownIcons } = document.body.dataset;
  use.setAttribute("href", `${OWN_ICONS.test(name) ? ownIcons : icons}#${name}`);
  svg.append(use);
  return svg;
}

/** The drawing of a kind of car, as at the desk; null if the kind is unknown. */
export function carPicture(drawing) {
  if (!drawing) return null;
  const svg = icon(drawing);
  svg.setAttribute("class", "k-car-picture rigid");
  svg.firstChild.setAttribute("href", `${document.body.dataset.cars}#${drawing}`);
  return svg;
}

/**
 * A control: touches, an audio keypad and screen readers all press it through touch.js. `name`
 * identifies it after the screen was redrawn.
 */
export function control(name, className, act, ...children) {
  const node = make("button", `strong k-press ${className}`, ...children);
  node.type = "button";
  node.dataset.press = name;
  acts.set(node, act);
  return node;
}

/** Give a control a spoken name. */
export function named(node, name) {
  node.setAttribute("aria-label", name);
  return node;
}

/** Do the action of a control; a disabled one does nothing. */
export function press(node) {
  if (!node.disabled && node.isConnected) acts.get(node)?.();
}

/** The picture of the start screen: a road through a town, in the property's colour. */
export function motif() {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "k-motif full");
  svg.setAttribute("viewBox", "0 0 160 90");
  svg.setAttribute("preserveAspectRatio", "xMaxYMin slice");
  svg.setAttribute("aria-hidden", "true");
  for (const d of [
    "M-5 26C30 10 52 34 84 24S138 8 168 20M-5 44c38-12 62 10 92 2s56-8 82-2",
    "M38-5c8 22-6 44 4 66M104-5c-10 26 10 46 2 74M138-5c-6 20 8 38 4 60",
    "M44 62C52 44 72 56 84 40s24-4 34-20",
    "M44 65a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM118 24a4 4 0 1 0 0-8 4 4 0 0 0 0 8Z",
  ]) {
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("d", d);
    svg.append(path);
  }
  svg.children[2].setAttribute("class", "k-motif-way");
  return svg;
}

/** A QR code from the server: {size, path} in modules, drawn dark on white in every theme. */
export function qrCode(qr, label) {
  const svg = document.createElementNS(SVG, "svg");
  const ground = document.createElementNS(SVG, "rect");
  const path = document.createElementNS(SVG, "path");
  svg.setAttribute("viewBox", `0 0 ${Number(qr.size)} ${Number(qr.size)}`);
  svg.setAttribute("class", "k-qr");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", label);
  svg.setAttribute("shape-rendering", "crispEdges");
  for (const side of ["width", "height"]) ground.setAttribute(side, String(Number(qr.size)));
  ground.setAttribute("class", "k-qr-ground");
  path.setAttribute("d", qr.path);
  svg.append(ground, path);
  return svg;
}

/** A map from the server around one place, with a pin in its middle: {width, height, tiles}. */
export function stillMap({ width, height, tiles }, label) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${Number(width)} ${Number(height)}`);
  svg.setAttribute("preserveAspectRatio", "xMidYMid slice");
  svg.setAttribute("class", "k-map full");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", label);
  for (const [href, x, y] of tiles) {
    const image = document.createElementNS(SVG, "image");
    const at = { href, x, y, width: TILE_PX, height: TILE_PX };
    for (const [name, value] of Object.entries(at)) image.setAttribute(name, String(value));
    svg.append(image);
  }
  const pin = document.createElementNS(SVG, "g");
  pin.setAttribute("transform", `translate(${width / 2 - 18} ${height / 2 - 34.5})`);
  for (const [name, d] of PIN) {
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("class", name);
    path.setAttribute("d", d);
    pin.append(path);
  }
  svg.append(pin);
  return svg;
}

/** A text that is read character by character: a plate, a PIN. */
export function spelled(text, className, label = "") {
  const node = make("p", className, text);
  node.setAttribute("role", "img");
  node.setAttribute("aria-label", `${label} ${apart(text)}`.trim());
  node.translate = false;
  return node;
}

/** "KA 01" as "K A 0 1". */
export function apart(text) {
  return [...String(text).replaceAll(/\s/g, "")].join(" ");
}

/**
 * The text of a pattern with its slots filled: "{n} of {of}". A fact of the other direction than
 * `direction` is put in Unicode isolates, as in `ridedash/wording/say.py`. A slot without a fact
 * stays as it is.
 */
export function filled(pattern, slots = {}, direction = "ltr") {
  const against = AGAINST[direction];
  const text = (value) =>
    typeof value === "string" && against.test(value) ? `\u2068${value}\u2069` : String(value);
  const fill = (slot, given) => (given === undefined || given === null ? slot : text(given));
  return pattern.replaceAll(/\{(\w+)\}/g, (slot, name) => fill(slot, slots[name]));
}

/** Shows that something is in progress: a quiet ring, which does not move with reduced motion. */
export function working(text) {
  const line = make(
    "p",
    "line secondary k-working gap-4",
    make("span", "k-ring rigid"),
    make("span", "", text),
  );
  line.setAttribute("role", "status");
  return line;
}
