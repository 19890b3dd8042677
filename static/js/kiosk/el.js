/**
 * Makes nodes of the kiosk's screens. All texts are inserted as text nodes, so no answer can become
 * markup.
 */

const SVG = "http://www.w3.org/2000/svg";
// in a sprite that only the kiosk loads
const OWN_ICONS = /^(aid-.*|ask|erase|globe|hospitals|sights|stations|volume)$/;
const TILE_PX = 257; // 256, plus one so that no hairline shows between two tiles
const PIN = [
  `M18 34.5c-5.6-6.8-11-12.6-11-18.9C7 9.4 11.9 4.5 18 4.5
   s11 4.9 11 11.1c0 6.3-5.4 12.1-11 18.9Z`,
  "M18 11.5a4 4 0 1 1 0 8 4 4 0 0 1 0-8Z",
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

/**
 * A map from the server: {width, height, tiles}, with a pin in its middle; that of a way has
 * `start` and `end` as well, each [x, y].
 */
export function stillMap({ width, height, tiles, start, end }, label) {
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
  if (end) svg.append(wayOf(start, end), pinAt(end, "k-map-pin is-end"));
  svg.append(pinAt(start ?? [width / 2, height / 2], "k-map-pin"));
  return svg;
}

/** A line between both ends: it shows the direction, not the streets, so it is dotted. */
function wayOf([x1, y1], [x2, y2]) {
  const line = document.createElementNS(SVG, "line");
  for (const [name, value] of Object.entries({ x1, y1, x2, y2 }))
    line.setAttribute(name, String(value));
  line.setAttribute("class", "k-map-way");
  return line;
}

function pinAt([x, y], className) {
  const pin = document.createElementNS(SVG, "g");
  pin.setAttribute("transform", `translate(${x - 18} ${y - 34.5})`);
  pin.setAttribute("class", className);
  for (const d of PIN) {
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("d", d);
    pin.append(path);
  }
  return pin;
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
