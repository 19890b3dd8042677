/**
 * All cabs of the board on one canvas, with the icon and colour of the list; the chosen one stands
 * out. Does not use Leaflet.
 */

const SIZE = 13; // px: half the size of a cab
const SMALL = 9; // when there are many
const MANY = 60;
const CHOSEN = 17;
const NEAR = 22; // px within which a click selects a cab
const ICON = 24; // the size of a symbol in the sprite

export class Fleet {
  /**
   * `look(id)` returns {icon, tone, label, stale} of a ride; `chosen(id)` is called on a click on a
   * cab.
   */
  constructor(map, { sprite, look, chosen }) {
    this.look = look;
    this.chosen = chosen;
    this.cabs = [];
    this.shown = [];
    this.current = null;
    this.over = null;
    this.icons = new Map();
    this.colours = new Map();
    this.element = map.element;
    this.picking = null; // whether a click on the map is meant for a form that asks for a place
    this.redraw = map.canvas(
      (pen, at, size) => this.#paint(pen, at, size),
      (kind, point) => this.#pointed(kind, point),
    );
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#fresh());
    this.#read(sprite);
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
    const half = this.cabs.length > MANY ? SMALL : SIZE;
    for (const [id, lat, lng, bearing] of this.cabs) {
      const { x, y } = at(lat, lng);
      if (x < -NEAR || y < -NEAR || x > size.x + NEAR || y > size.y + NEAR) continue;
      const cab = { id, x, y, bearing };
      this.shown.push(cab);
      if (id !== this.current && id !== this.over) this.#cab(pen, cab, half);
    }
    for (const cab of this.shown.filter(({ id }) => id === this.current || id === this.over)) {
      this.#cab(pen, cab, cab.id === this.current ? CHOSEN : SIZE + 2);
      this.#label(pen, cab);
    }
  }

  #cab(pen, { id, x, y, bearing }, half) {
    const { icon, tone, stale } = this.look(id);
    const colour = this.#colour(stale ? "hint" : tone);
    pen.lineWidth = 2;
    pen.fillStyle = colour;
    pen.strokeStyle = this.#colour("card");
    if (bearing !== null) this.#nose(pen, x, y, (bearing * Math.PI) / 180, half);
    pen.beginPath();
    pen.arc(x, y, half, 0, 2 * Math.PI);
    pen.fill();
    if (stale) pen.setLineDash([4, 3]);
    pen.stroke();
    pen.setLineDash([]);
    if (id === this.current) this.#ring(pen, x, y, half + 4);
    this.#icon(pen, icon, x, y, half * 1.25);
  }

  #nose(pen, x, y, angle, half) {
    const tip = half + 7;
    pen.beginPath();
    pen.moveTo(x + Math.sin(angle) * tip, y - Math.cos(angle) * tip);
    pen.lineTo(x + Math.sin(angle + 0.6) * half, y - Math.cos(angle + 0.6) * half);
    pen.lineTo(x + Math.sin(angle - 0.6) * half, y - Math.cos(angle - 0.6) * half);
    pen.closePath();
    pen.fill();
    pen.stroke();
  }

  #ring(pen, x, y, radius) {
    pen.strokeStyle = this.#colour("accent");
    pen.lineWidth = 3;
    pen.beginPath();
    pen.arc(x, y, radius, 0, 2 * Math.PI);
    pen.stroke();
  }

  #icon(pen, name, x, y, side) {
    const parts = this.icons.get(name);
    if (!parts) return;
    pen.save();
    pen.translate(x - side / 2, y - side / 2);
    pen.scale(side / ICON, side / ICON);
    pen.strokeStyle = pen.fillStyle = this.#colour("card");
    pen.lineWidth = 2.4;
    pen.lineCap = pen.lineJoin = "round";
    for (const { path, filled, stroked } of parts) {
      if (filled) pen.fill(path);
      if (stroked) pen.stroke(path);
    }
    pen.restore();
  }

  #label(pen, { id, x, y }) {
    const text = this.look(id).label;
    if (!text) return;
    pen.font = "600 12px system-ui, sans-serif";
    const width = pen.measureText(text).width + 12;
    pen.fillStyle = this.#colour("card");
    pen.strokeStyle = this.#colour("edge");
    pen.lineWidth = 1;
    pen.beginPath();
    pen.roundRect(x + 24, y - 11, width, 22, 6);
    pen.fill();
    pen.stroke();
    pen.fillStyle = this.#colour("ink");
    pen.textBaseline = "middle";
    pen.fillText(text, x + 30, y + 1);
  }

  /** The id of the cab that is nearest to a point, or null. */
  #at({ x, y }) {
    let best = null;
    let nearest = NEAR * NEAR; // squares of distances are enough to compare
    for (const cab of this.shown) {
      const distance = (cab.x - x) ** 2 + (cab.y - y) ** 2;
      if (distance > nearest) continue;
      best = cab.id;
      nearest = distance;
    }
    return best;
  }

  #pointed(kind, point) {
    if (this.picking?.()) return;
    const id = this.#at(point);
    if (kind === "click") return void (id !== null && this.chosen(id));
    if (id === this.over) return;
    this.over = id;
    this.element.classList.toggle("is-over-cab", id !== null);
    this.redraw();
  }

  async #read(sprite) {
    const answer = await fetch(sprite, { credentials: "same-origin" }).catch(() => null);
    if (!answer?.ok) return;
    const drawn = new DOMParser().parseFromString(await answer.text(), "image/svg+xml");
    for (const symbol of drawn.querySelectorAll("symbol"))
      this.icons.set(symbol.id, [...symbol.children].map(part));
    this.redraw();
  }
}

/** A path or circle of the sprite, as a canvas draws it. */
function part(element) {
  const path = new Path2D(element.localName === "path" ? element.getAttribute("d") : "");
  const number = (name) => Number(element.getAttribute(name));
  if (element.localName === "circle")
    path.arc(number("cx"), number("cy"), number("r"), 0, 2 * Math.PI);
  return {
    path,
    filled: element.getAttribute("fill") === "currentColor",
    stroked: element.getAttribute("stroke") !== "none",
  };
}
