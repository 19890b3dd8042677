/**
 * All cabs of the board on one canvas. Each is a sign with the guest's room, or initials, in the
 * colour of the ride's row in the list; a moving cab also has an arrow in its direction. More cabs
 * than SIGNS are dots, those that cover each other one circle with their number; the chosen cab and
 * that under the pointer, or of the row with the focus, are signs with a label. This module does
 * not use Leaflet.
 */

import { dots } from "./dots.js";
import { apart, overlaps, placed } from "./labels.js";

const FONT = "system-ui, sans-serif";
const SIZE = 13; // px: the text in a sign
const SIGNS = 12; // the most cabs that are all signs
const LISTED = 3; // cabs of a circle that its label names
const NEAR = 12; // px around a sign within which a click selects its cab
const ARROW = 11; // px from the edge of a sign to the tip of its arrow
// degrees, about ten metres: a cab that has moved less than this is treated as standing
const STANDS = 1e-4;
const MAX_SIGN = 7; // characters
const MAX_LABEL = 36;

export class Fleet {
  /**
   * `look(id)` returns {sign, eta, tone, label, moves, filled, needs, stale} of a ride;
   * `chosen(id)` is called on a click on a cab, `several(points)` on a click on a circle of cabs.
   */
  constructor(map, { look, chosen, several = () => {} }) {
    this.map = map;
    this.look = look;
    this.chosen = chosen;
    this.several = several;
    this.cabs = [];
    this.shown = [];
    this.stood = new Map(); // id -> position of a cab, and how far its sign was moved
    this.current = null;
    this.over = null; // the cab under the pointer, or of the row with the focus
    this.pile = ""; // the circle under the pointer: the ids of its cabs
    this.colours = new Map();
    this.widths = new Map(); // widths of texts, in px
    this.element = map.element;
    this.picking = null; // a function: whether a form waits for a click on the map
    this.redraw = map.canvas(
      (pen, at, size) => this.#paint(pen, at, size),
      (kind, point) => this.#pointed(kind, point),
    );
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#fresh());
  }

  /** Cabs as [id, lat, lng, bearing or null]. */
  show(cabs) {
    this.cabs = cabs;
    this.redraw();
  }

  choose(id) {
    this.current = id;
    this.redraw();
  }

  /** Name the cab of a ride, because its row has the focus; null for none. */
  light(id) {
    if (this.over === id) return;
    this.over = id;
    this.redraw();
  }

  #fresh() {
    this.colours.clear();
    this.redraw();
  }

  #colour(name) {
    if (!this.colours.has(name))
      this.colours.set(name, getComputedStyle(this.element).getPropertyValue(`--${name}`).trim());
    return this.colours.get(name);
  }

  #paint(pen, at, size) {
    this.shown = [];
    for (const [id, lat, lng, bearing] of this.cabs) {
      const { x, y } = at(lat, lng);
      if (x < -NEAR || y < -NEAR || x > size.x + NEAR || y > size.y + NEAR) continue;
      this.shown.push(this.#cab(pen, { id, lat, lng, x, y, bearing }));
    }
    const isNamed = ({ id }) => id === this.current || id === this.over;
    if (this.cabs.length > SIGNS) this.#group(isNamed);
    else this.#spread(size);
    const last = this.shown.filter(isNamed);
    for (const cab of this.shown) this.#leader(pen, cab);
    for (const cab of this.shown) if (!last.includes(cab)) this.#mark(pen, cab);
    this.#home(pen, at, size);
    for (const cab of last) this.#sign(pen, cab);
    const taken = [];
    for (const cab of last) taken.push(this.#label(pen, cab, size, taken));
    const pile = this.shown.find((each) => each.cabs && keyOf(each) === this.pile);
    if (pile) this.#label(pen, pile, size, [...last, ...taken]);
  }

  /** A cab with its appearance and the box of its sign. */
  #cab(pen, cab) {
    const look = this.look(cab.id);
    const room = [...look.sign].slice(0, MAX_SIGN).join("");
    const fits = look.eta && look.eta.length <= MAX_SIGN;
    const sign = fits ? `${room} · ${look.eta}` : room;
    return this.#sized(pen, { ...look, ...cab, sign }, SIZE);
  }

  /** Draw all cabs but the named ones as dots from here on. */
  #group(isNamed) {
    const named = this.shown.filter(isNamed);
    const others = dots(this.shown.filter((cab) => !isNamed(cab)));
    this.shown = others.map(({ cabs, ...box }) =>
      cabs.length > 1 ? { ...summed(cabs), ...box, cabs } : { ...cabs[0], ...box, isDot: true },
    );
    this.shown.push(...named);
    this.stood.clear();
  }

  #mark(pen, shown) {
    if (shown.cabs || shown.isDot) this.#dot(pen, shown);
    else this.#sign(pen, shown);
  }

  /** A dot, or a circle with the number of cabs in it. */
  #dot(pen, { x, y, width, cabs, tone, filled, stale, needs }) {
    const colour = this.#colour(stale ? "hint" : tone);
    const card = this.#colour("card");
    const isRing = cabs || !filled;
    pen.beginPath();
    pen.arc(x, y, width / 2, 0, 2 * Math.PI);
    pen.lineWidth = isRing ? 3 : 2;
    pen.fillStyle = isRing ? card : colour;
    pen.strokeStyle = isRing ? colour : card;
    pen.fill();
    pen.stroke();
    if (cabs) this.#write(pen, `${cabs.length}`, x, y, { size: SIZE, colour });
    if (needs) this.#badge(pen, x + width / 2, y - width / 2);
  }

  #sized(pen, cab, text) {
    const height = text + 9;
    const width = Math.max(height, this.#width(pen, cab.sign, text) + 12);
    return { ...cab, text, height, width };
  }

  /**
   * Move signs apart that would cover each other, the property, a pin or a button. Signs of
   * standing cabs come first; if possible they stay in place until their cab moves or the map is
   * zoomed.
   */
  #spread(size) {
    const zoom = this.map.zoom;
    for (const cab of this.shown) {
      const before = this.stood.get(cab.id);
      if (before?.zoom === zoom && stands(before, cab)) cab.kept = before.moved;
    }
    this.shown.sort((a, b) => Number(!a.kept) - Number(!b.kept) || a.id - b.id);
    this.shown = apart(this.shown, this.map.boxes(), size);
    this.stood = new Map(
      this.shown.map(({ id, lat, lng, x, y, fromX = x, fromY = y }) => [
        id,
        { lat, lng, zoom, moved: [x - fromX, y - fromY] },
      ]),
    );
  }

  /** A line between the position of a cab and its sign, if the sign was moved away from there. */
  #leader(pen, { x, y, fromX, fromY, tone, stale }) {
    if (fromX === undefined) return;
    const colour = this.#colour(stale ? "hint" : tone);
    pen.strokeStyle = pen.fillStyle = colour;
    pen.lineWidth = 2;
    pen.beginPath();
    pen.moveTo(fromX, fromY);
    pen.lineTo(x, y);
    pen.stroke();
    pen.beginPath();
    pen.arc(fromX, fromY, 4, 0, 2 * Math.PI);
    pen.fill();
  }

  #sign(pen, shown) {
    // the chosen sign is larger, but other signs don't move because of that
    const cab = shown.id === this.current ? this.#sized(pen, shown, SIZE + 2) : shown;
    const { x, y, width, height } = cab;
    const tone = this.#colour(cab.stale ? "hint" : cab.tone);
    const card = this.#colour("card");
    pen.lineJoin = "round";
    if (cab.moves && cab.bearing !== null) this.#arrow(pen, cab, tone);
    pen.lineWidth = 2;
    pen.fillStyle = cab.filled ? tone : card;
    pen.strokeStyle = cab.filled ? card : tone;
    if (cab.stale) pen.setLineDash([4, 3]);
    rounded(pen, cab, height / 2);
    pen.fill();
    pen.stroke();
    pen.setLineDash([]);
    if (cab.id === this.current) {
      pen.strokeStyle = this.#colour("accent");
      pen.lineWidth = 3;
      rounded(pen, { x, y, width: width + 8, height: height + 8 }, height / 2 + 4);
      pen.stroke();
    }
    this.#write(pen, cab.sign, x, y, { size: cab.text, colour: cab.filled ? card : tone });
    if (cab.needs) this.#badge(pen, x + width / 2 - 2, y - height / 2 + 1);
  }

  /** The direction of the cab, drawn outside its sign. */
  #arrow(pen, { x, y, bearing, width, height }, colour) {
    const angle = (bearing * Math.PI) / 180;
    const [right, down] = [Math.sin(angle), -Math.cos(angle)];
    const edge = Math.min(
      width / 2 / Math.max(Math.abs(right), 1e-6),
      height / 2 / Math.max(Math.abs(down), 1e-6),
    );
    const [from, to] = [edge - 2, edge + ARROW];
    pen.beginPath();
    pen.moveTo(x + right * to, y + down * to);
    pen.lineTo(x + right * from - down * 8, y + down * from + right * 8);
    pen.lineTo(x + right * from + down * 8, y + down * from - right * 8);
    pen.closePath();
    pen.lineWidth = 3;
    pen.strokeStyle = this.#colour("card");
    pen.stroke();
    pen.fillStyle = colour;
    pen.fill();
  }

  #badge(pen, x, y) {
    pen.beginPath();
    pen.arc(x, y, 8, 0, 2 * Math.PI);
    pen.fillStyle = this.#colour("warn");
    pen.fill();
    this.#write(pen, "!", x, y, { size: 12, colour: this.#colour("card") });
  }

  /** The name of the property at its marker: over the tiles' names, until they have it too. */
  #home(pen, at, size) {
    const { home, zoom, namesFrom } = this.map;
    if (!home || zoom >= namesFrom) return;
    const text = shortened(home.name);
    const mark = { ...at(home.lat, home.lng), width: 28, height: 28 };
    const sides = { width: this.#width(pen, text, 12) + 10, height: 20 };
    const box = placed(mark, sides, size, [...this.map.boxes(), ...this.shown]);
    if (!box.free) return;
    this.#plate(pen, box, text);
  }

  /** The label beside a mark, off the marks and the labels that are there; its box. */
  #label(pen, cab, size, labels) {
    const text = shortened(cab.label);
    if (!text) return { ...cab, width: 0, height: 0 };
    const others = [...this.shown.filter((each) => each !== cab), ...labels];
    const sides = { width: this.#width(pen, text, 12) + 12, height: 22 };
    const around = { ...cab, width: cab.width + 16, height: cab.height + 16 };
    const box = placed(around, sides, size, [...this.map.boxes(), ...others]);
    this.#plate(pen, box, text);
    return box;
  }

  #plate(pen, box, text) {
    pen.fillStyle = this.#colour("card");
    pen.strokeStyle = this.#colour("edge");
    pen.lineWidth = 1;
    rounded(pen, box, 6);
    pen.fill();
    pen.stroke();
    this.#write(pen, text, box.x, box.y, { size: 12, colour: this.#colour("ink") });
  }

  #write(pen, text, x, y, { size, colour }) {
    pen.font = `650 ${size}px ${FONT}`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillStyle = colour;
    pen.fillText(text, x, y + 1);
  }

  #width(pen, text, size) {
    const key = `${size}${text}`;
    if (!this.widths.has(key)) {
      pen.font = `650 ${size}px ${FONT}`;
      this.widths.set(key, pen.measureText(text).width);
    }
    return this.widths.get(key);
  }

  /** What is at a point, or near it: the cab by its sign or position, or a circle; null if none. */
  #at(point) {
    const here = { ...point, width: 1, height: 1 };
    const near = { ...point, width: 2 * NEAR, height: 2 * NEAR };
    const nearest = (box) =>
      this.shown
        .filter((cab) => overlaps(cab, box) || (cab.fromX && overlaps(ownPosition(cab), box)))
        .reduce((best, cab) => (!best || far(cab, point) < far(best, point) ? cab : best), null);
    return nearest(here) ?? nearest(near);
  }

  #pointed(kind, point) {
    if (this.picking?.()) return;
    const found = this.#at(point);
    if (kind === "click") return void (found && this.#pressed(found));
    const [id, pile] = [found?.id ?? null, found?.cabs ? keyOf(found) : ""];
    if (id === this.over && pile === this.pile) return;
    [this.over, this.pile] = [id, pile];
    this.element.classList.toggle("is-over-cab", found !== null);
    this.redraw();
  }

  #pressed({ id, cabs }) {
    if (cabs) this.several(cabs.map(({ lat, lng }) => [lat, lng]));
    else this.chosen(id);
  }
}

/** The look of several cabs as one: their common tone, and a label that names the first. */
function summed(cabs) {
  const first = cabs.slice(0, LISTED).map(({ sign }) => sign);
  const rest = cabs.length - first.length;
  return {
    tone: cabs.every(({ tone }) => tone === cabs[0].tone) ? cabs[0].tone : "ink-2",
    stale: cabs.every(({ stale }) => stale),
    needs: cabs.some(({ needs }) => needs),
    label: [...first, ...(rest ? [`+${rest}`] : [])].join(" · "),
  };
}

/** The cabs of a circle as one text, by which it is known again. */
function keyOf({ cabs }) {
  return cabs.map(({ id }) => id).join();
}

/** A path around a box {x, y, width, height}, where x and y are its centre. */
function rounded(pen, { x, y, width, height }, radius) {
  pen.beginPath();
  pen.roundRect(x - width / 2, y - height / 2, width, height, radius);
}

function shortened(text) {
  const letters = [...text];
  return letters.length > MAX_LABEL ? `${letters.slice(0, MAX_LABEL - 1).join("")}…` : text;
}

/** Whether a cab has stayed in place. */
function stands(before, { lat, lng }) {
  return Math.abs(before.lat - lat) < STANDS && Math.abs(before.lng - lng) < STANDS;
}

/** The box of a cab's own position, when its sign was moved away from it. */
function ownPosition({ fromX, fromY }) {
  return { x: fromX, y: fromY, width: 1, height: 1 };
}

function far(cab, { x, y }) {
  return (cab.x - x) ** 2 + (cab.y - y) ** 2;
}
