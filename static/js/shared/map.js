/**
 * The map of a page. The only module that uses Leaflet (the global L).
 *
 * folium makes the map (ridedash/maps.py) and leaves it in a global whose name is in `data-map`.
 * Everything that moves or has text is drawn here, with DOM nodes and textContent. Positions are
 * WGS84 degrees.
 */

// px of space for the controls on the map
const FIT = { paddingTopLeft: [40, 84], paddingBottomRight: [48, 36], maxZoom: 16 };
const PIN_SIZE = 36; // px; the tip of a pin is at the middle of its bottom edge
const STOP_SIZE = 18;
const POINT_SIZE = 28;
const CAB_SIZE = 44;
const HOME_SIZE = 26;
const LEAST_SHARE = 0.3; // a trip that fills less than this share of the view is fitted again
const MOTION_MS = 600; // longer than Leaflet's motions
const NEAR_ZOOM = 15; // from this zoom on, numbered points have room
const SVG = "http://www.w3.org/2000/svg";

/** Paths of a pin in a field of 36 by 36; map.css fills them. */
const PIN_BODY =
  "M18 34.5c-5.6-6.8-11-12.6-11-18.9C7 9.4 11.9 4.5 18 4.5s11 4.9 11 11.1c0 6.3-5.4 12.1-11 18.9Z";
const PIN_MARK = {
  pickup: "M18 11.5a4 4 0 1 1 0 8 4 4 0 0 1 0-8Z",
  drop: "M14.2 11.7h7.6v7.6h-7.6Z",
};
/** A house in a field of 24 by 24: the property. */
const HOME_PATH = "M5 20V9.5L12 4l7 5.5V20h-5v-5.5h-4V20Z";
/** Paths of a cab from above, its front upwards, in a field of 44 by 44. */
const CAB_PARTS = [
  [
    "cab-body",
    "M22 4c5.4 0 8.4 2.6 9 7.6l.8 16.4c.2 7-2.6 11-9.8 11" +
      "s-10-4-9.8-11l.8-16.4C13.6 6.6 16.6 4 22 4Z",
  ],
  ["cab-glass", "M15.3 15.5c4-2.1 9.4-2.1 13.4 0l-1 4.8c-3.8-1.1-7.6-1.1-11.4 0Z"],
  ["cab-glass", "M16.3 31.2c3.8 1.2 7.6 1.2 11.4 0l.6 3.3c-3.8 1.9-8.8 1.9-12.6 0Z"],
  ["cab-light", "M15 7.6l3-1.4.3 1.6-3.1 1.5ZM29 7.6l-3-1.4-.3 1.6 3.1 1.5Z"],
];

export class RideMap {
  /**
   * `element` has data-map (the name of the global) and, when the server drew a zone, data-zone.
   * With data-home, {lat, lng, name} as JSON, the property is marked; the tiles name it from the
   * zoom data-names-from on. With data-by-night the layer
   * data-tiles gets its tiles from that address when the page becomes dark, and from data-by-day
   * when it becomes light. With a button [data-map-again] the view follows the ride until a person
   * moves it; then it stays, until the button is pressed.
   */
  constructor(element) {
    this.element = element;
    this.map = window[element.dataset.map];
    this.pins = new Map();
    this.stops = [];
    this.marks = [];
    this.shapes = new Map();
    const zone = element.dataset.zone && window[element.dataset.zone];
    if (zone) this.shapes.set("boundary", zone);
    this.map.on("zoomend", () => this.#far());
    this.#far();
    this.#followNight();
    this.home = JSON.parse(element.dataset.home ?? "null");
    this.namesFrom = Number(element.dataset.namesFrom);
    if (this.home) this.#markHome(this.home);
    this.#yieldToPeople();
    this.#nameZoom();
  }

  /** Call `chosen(lat, lng)` when the user clicks the map. */
  onPick(chosen) {
    this.map.on("click", (event) => {
      const { lat, lng } = event.latlng.wrap();
      chosen(lat, lng);
    });
  }

  /** The centre of the view: {lat, lng}. */
  center() {
    const { lat, lng } = this.map.getCenter().wrap();
    return { lat, lng };
  }

  /**
   * Draw a pin. There is one `pickup` and one `drop` (a second call moves it), and any number of
   * `stop-pickup` and `stop-drop`. `label` is its accessible name. With `onMove(lat, lng)` the user
   * can drag the pin.
   */
  pin(kind, lat, lng, label = "", onMove = null) {
    if (kind.startsWith("stop-")) return this.#stop(kind, lat, lng, label);
    const old = this.pins.get(kind);
    if (old) {
      old.setLatLng([lat, lng]);
      name(old.getElement(), label);
      return { remove: () => this.unpin(kind) };
    }
    const marker = this.#marker(lat, lng, pinDrawing(kind), PIN_SIZE, PIN_SIZE - 1.5, {
      draggable: Boolean(onMove),
      keyboard: false,
      zIndexOffset: 400,
    });
    if (onMove) {
      marker.on("dragend", () => {
        const position = marker.getLatLng().wrap();
        onMove(position.lat, position.lng);
      });
    }
    name(marker.getElement(), label);
    this.pins.set(kind, marker);
    return { remove: () => this.unpin(kind) };
  }

  /** Remove the pickup or the drop pin. */
  unpin(kind) {
    this.pins.get(kind)?.remove();
    this.pins.delete(kind);
  }

  /** Remove all pins of stops. */
  clearStops() {
    for (const stop of this.stops) stop.remove();
    this.stops = [];
  }

  /**
   * Draw numbered pickup points [{lat, lng, number, name}] in place of those shown. `chosen(point)`
   * is called on a click or the Enter key. Returns {choose(number)}, which highlights one.
   */
  points(list, chosen = null) {
    for (const { marker } of this.marks) marker.remove();
    this.marks = list.map((point) => {
      const face = node("span", "centred map-point-face heavy as-label");
      face.textContent = String(point.number);
      const marker = this.#marker(point.lat, point.lng, face, POINT_SIZE, POINT_SIZE / 2, {
        keyboard: Boolean(chosen),
        interactive: Boolean(chosen),
        zIndexOffset: 200,
      });
      name(marker.getElement(), `${point.number}. ${point.name}`, chosen ? "button" : "img");
      if (chosen) marker.on("click", () => chosen(point));
      return { point, marker, face };
    });
    return {
      choose: (number) => {
        for (const { point, face } of this.marks)
          face.classList.toggle("is-chosen", point.number === number);
      },
    };
  }

  /** Draw the boundary of a zone [[lat, lng], …]; an empty list removes it. */
  boundary(ring) {
    this.#shape(
      "boundary",
      ring.length
        ? L.polygon(ring, {
            className: "map-zone",
            weight: 2,
            dashArray: "6 5",
            interactive: false,
          })
        : null,
    );
  }

  /** Draw a path [[lat, lng], …] with an outline; an empty list removes it. */
  line(points) {
    const drawn =
      points.length > 1 &&
      L.layerGroup([
        L.polyline(points, { className: "map-line-casing", weight: 7, interactive: false }),
        L.polyline(points, { className: "map-line", weight: 4, interactive: false }),
      ]);
    this.#shape("line", drawn || null);
  }

  /** Draw a dotted line through the places of a trip; an empty list removes it. */
  hint(points) {
    this.#shape(
      "hint",
      points.length > 1
        ? L.polyline(points, {
            className: "map-hint",
            weight: 2.5,
            dashArray: "1 7",
            interactive: false,
          })
        : null,
    );
  }

  /**
   * Fit the view to [[lat, lng], …], without animation for users who prefer reduced motion. A map
   * that a person has moved stays, unless the person has `asked` for this.
   */
  fit(points, { asked = false, ...options } = {}) {
    if (!points.length) return;
    this.wanted = points;
    if (asked) this.#follow(true);
    if (!this.following) return;
    const animate = !matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.fitting = true;
    this.map.fitBounds(L.latLngBounds(points), { ...FIT, ...this.#margins(), animate, ...options });
    // moveend ends the motion; if the view fits already there is none, so a timer ends it too
    if (options.animate === false) this.fitting = false;
    else setTimeout(() => (this.fitting = false), MOTION_MS);
  }

  /** The margins of a fit: a low map gives its height to the points. */
  #margins() {
    const { y } = this.map.getSize();
    const [[left, top], [right, bottom]] = [FIT.paddingTopLeft, FIT.paddingBottomRight];
    return {
      paddingTopLeft: [left, Math.min(top, 0.3 * y)],
      paddingBottomRight: [right, Math.min(bottom, 0.15 * y)],
    };
  }

  /** Call `show()` when a person asks to see everything. */
  onAll(show) {
    this.element.querySelector("[data-map-all]")?.addEventListener("click", show);
  }

  /**
   * Whether positions are inside the view and fill at least LEAST_SHARE of its width or height; at
   * the highest zoom of a fit they need not fill it.
   */
  frames(points) {
    if (!points.every((point) => this.shows(...point))) return false;
    if (this.map.getZoom() >= FIT.maxZoom) return true;
    const whole = this.map.getSize();
    const pixels = points.map((point) => this.map.latLngToContainerPoint(point));
    const part = L.bounds(pixels).getSize();
    return Math.max(part.x / whole.x, part.y / whole.y) >= LEAST_SHARE;
  }

  /** Areas that labels must not cover: {x, y, width, height} in px; x and y are of the centre. */
  boxes() {
    const around = this.element.getBoundingClientRect();
    const parts = this.element.querySelectorAll(
      ".leaflet-bar, .map-way:not([hidden]), .map-credit, .map-pin, .map-stop, .map-home",
    );
    return [...parts].map((part) => {
      const { x, y, width, height } = part.getBoundingClientRect();
      return { x: x - around.x + width / 2, y: y - around.y + height / 2, width, height };
    });
  }

  get zoom() {
    return this.map.getZoom();
  }

  /** Whether a position is inside the view, and not next to its edge. */
  shows(lat, lng) {
    return this.map.getBounds().pad(-0.05).contains([lat, lng]);
  }

  /**
   * The marker of a cab. `place(lat, lng, bearing)` moves it at once and turns it to its bearing;
   * the caller animates. `say(words)` writes beside it. `element` is its node (for styling old
   * positions), `remove()` removes it.
   */
  cab() {
    const turn = node("span", "map-cab-turn");
    const drawing = picture(CAB_SIZE);
    for (const [part, path] of CAB_PARTS) drawing.append(shape(part, path));
    turn.append(drawing);
    let marker = null;
    let angle = 0;
    const element = node("span", "map-cab");
    const flag = node("span", "strong if-any map-cab-flag as-label no-wrap");
    element.append(turn, flag);
    const settle = () => (element.style.transform = this.#rest(marker.getLatLng()));
    return {
      element,
      say: (words) => (flag.textContent = words),
      place: (lat, lng, bearing = null) => {
        if (marker) marker.setLatLng([lat, lng]);
        else {
          marker = this.#marker(lat, lng, element, CAB_SIZE, CAB_SIZE / 2, {
            interactive: false,
            keyboard: false,
            zIndexOffset: 1000,
          });
          this.map.on("zoom viewreset", settle); // each zoom has its own fraction
        }
        settle();
        if (Number.isFinite(bearing)) {
          // rotate in the shorter direction
          angle += ((((bearing - angle) % 360) + 540) % 360) - 180;
          turn.style.transform = `rotate(${angle}deg)`;
        }
      },
      remove: () => {
        this.map.off("zoom viewreset", settle);
        marker?.remove();
        marker = null;
      },
    };
  }

  /**
   * Add a canvas over all other markers, for markers that are too many to be nodes. `paint(pen, at,
   * size)` draws all of it, where `at(lat, lng)` is a position in px {x, y}. `paint` runs whenever
   * the map moves, and when the returned function is called. Clicks and pointer moves call
   * `pointed(kind, {x, y})` with "click" or "mousemove".
   */
  canvas(paint, pointed) {
    const canvas = node("canvas", "map-canvas leaflet-zoom-hide");
    canvas.setAttribute("aria-hidden", "true");
    const pane = this.map.createPane("cabs"); // map.css puts it above lines and pins
    pane.append(canvas);
    const draw = () => {
      const size = this.map.getSize();
      const ratio = devicePixelRatio || 1;
      const [width, height] = [Math.round(size.x * ratio), Math.round(size.y * ratio)];
      if (canvas.width !== width || canvas.height !== height)
        [canvas.width, canvas.height] = [width, height];
      [canvas.style.width, canvas.style.height] = [`${size.x}px`, `${size.y}px`];
      L.DomUtil.setPosition(canvas, this.map.containerPointToLayerPoint([0, 0]));
      const pen = canvas.getContext("2d");
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      pen.clearRect(0, 0, size.x, size.y);
      paint(pen, (lat, lng) => this.map.latLngToContainerPoint([lat, lng]), size);
    };
    this.map.on("move zoomend resize", draw);
    for (const kind of ["click", "mousemove"])
      this.map.on(kind, (event) => pointed(kind, event.containerPoint));
    draw();
    return draw;
  }

  /** Tell Leaflet that the size of the element has changed. */
  resized() {
    this.map.invalidateSize({ animate: false });
  }

  /**
   * The fraction of a pixel that Leaflet rounds off a marker's position, so that a slow cab moves
   * smoothly.
   */
  #rest(position) {
    const exact = this.map.project(position).subtract(this.map.getPixelOrigin());
    const whole = exact.round();
    return `translate(${(exact.x - whole.x).toFixed(2)}px, ${(exact.y - whole.y).toFixed(2)}px)`;
  }

  /** Leave the view alone once a person has moved it, until the button is pressed. */
  #yieldToPeople() {
    this.following = true;
    this.fitting = false; // whether a motion of our own is under way
    this.wanted = [];
    this.again = this.element.querySelector("[data-map-again]");
    if (!this.again) return;
    const buttons = this.again.parentElement;
    L.DomEvent.disableClickPropagation(buttons);
    L.DomEvent.disableScrollPropagation(buttons);
    this.map.on("moveend", () => (this.fitting = false));
    this.map.on("dragstart", () => this.#follow(false));
    this.map.on("zoomstart movestart", () => this.fitting || this.#follow(false));
    this.again.addEventListener("click", () => this.fit(this.wanted, { asked: true }));
  }

  #follow(on) {
    this.following = on;
    if (this.again) this.again.hidden = on || !this.wanted.length;
  }

  /** Translate the names of Leaflet's buttons, which are English. */
  #nameZoom() {
    const { zoomIn, zoomOut } = this.element.dataset;
    for (const [way, words] of Object.entries({ in: zoomIn, out: zoomOut })) {
      const button = this.element.querySelector(`.leaflet-control-zoom-${way}`);
      if (button && words) name(button, words, "button");
    }
  }

  #markHome({ lat, lng, name: label }) {
    const drawing = document.createElementNS(SVG, "svg");
    drawing.setAttribute("viewBox", "0 0 24 24");
    drawing.append(shape("home-mark", HOME_PATH));
    const face = node("span", "centred map-home");
    face.append(drawing);
    const marker = this.#marker(lat, lng, face, HOME_SIZE, HOME_SIZE / 2, {
      keyboard: false,
      interactive: false,
      zIndexOffset: -1000,
    });
    name(marker.getElement(), label);
  }

  #followNight() {
    const { tiles, byDay, byNight } = this.element.dataset;
    if (!byNight) return;
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", ({ matches }) =>
      window[tiles].setUrl(matches ? byNight : byDay),
    );
  }

  /** Draw numbered points as dots at low zoom, where their numbers would overlap. */
  #far() {
    this.element.classList.toggle("is-far", this.map.getZoom() < NEAR_ZOOM);
  }

  #stop(kind, lat, lng, label) {
    const face = node("span", `map-stop map-${kind}`);
    const marker = this.#marker(lat, lng, face, STOP_SIZE, STOP_SIZE / 2, {
      keyboard: false,
      interactive: false,
    });
    name(marker.getElement(), label);
    this.stops.push(marker);
    return { remove: () => marker.remove() };
  }

  #marker(lat, lng, html, size, tip, options) {
    const icon = L.divIcon({
      html,
      className: "map-mark",
      iconSize: [size, size],
      iconAnchor: [size / 2, tip],
    });
    return L.marker([lat, lng], { icon, ...options }).addTo(this.map);
  }

  #shape(key, layer) {
    this.shapes.get(key)?.remove();
    this.shapes.delete(key);
    if (layer) this.shapes.set(key, layer.addTo(this.map));
  }
}

function pinDrawing(kind) {
  const drawing = picture(PIN_SIZE);
  drawing.append(shape("pin-body", PIN_BODY), shape("pin-mark", PIN_MARK[kind] ?? PIN_MARK.drop));
  const holder = node("span", `map-pin map-pin-${kind}`);
  holder.append(drawing);
  return holder;
}

function picture(size) {
  const drawing = document.createElementNS(SVG, "svg");
  drawing.setAttribute("viewBox", `0 0 ${size} ${size}`);
  drawing.setAttribute("aria-hidden", "true");
  return drawing;
}

function shape(part, path) {
  const drawn = document.createElementNS(SVG, "path");
  drawn.setAttribute("class", part);
  drawn.setAttribute("d", path);
  return drawn;
}

function node(tag, className) {
  const made = document.createElement(tag);
  made.className = className;
  return made;
}

function name(element, label, role = "img") {
  if (!element) return;
  element.setAttribute("role", role);
  if (label) {
    element.setAttribute("aria-label", label);
    element.title = label;
  } else {
    element.setAttribute("aria-hidden", "true");
  }
}
