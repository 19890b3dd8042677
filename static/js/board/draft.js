/**
 * The trip of the booking form on the board's map, while no ride is chosen; and clicks on the map,
 * which set an end of the trip that has no place yet.
 */

export class DraftTrip {
  /** `line` shows the words for an end (data-pickup, data-drop) while a click sets that end. */
  constructor(map, fleet, line) {
    this.map = map;
    this.line = line;
    this.ends = [];
    this.served = true; // whether the service goes to both ends
    this.asked = null; // the end for which the form waits
    this.free = true; // whether no ride is chosen
    document.addEventListener("ridedash:trip", ({ detail }) => this.#take(detail));
    document.addEventListener("ridedash:aim", (event) => this.#aim(event));
    fleet.picking = () => this.#aims;
    map.onPick((lat, lng) => {
      if (!this.#aims) return;
      const detail = { end: this.asked, lat, lng };
      document.dispatchEvent(new CustomEvent("ridedash:picked", { detail }));
    });
  }

  get #aims() {
    return this.free && this.asked !== null;
  }

  #aim(event) {
    this.asked = event.detail.end;
    if (this.#aims) event.preventDefault();
    this.#tellAim();
  }

  #tellAim() {
    this.line.hidden = !this.#aims;
    this.line.textContent = this.line.dataset[this.asked] ?? "";
    this.map.element.classList.toggle("is-asked", this.#aims);
  }

  /** A ride was chosen (false), or none is chosen any more (true). */
  show(free) {
    if (free === this.free) return;
    this.free = free;
    this.#tellAim();
    if (!free && this.ends.length) this.#clear();
    this.#draw();
  }

  #take({ ends, served = true }) {
    const known = JSON.stringify([ends, served]);
    if (known === this.known) return;
    [this.known, this.ends, this.served] = [known, ends, served];
    if (this.free) this.#clear();
    this.#draw();
  }

  #draw() {
    if (!this.free) return;
    const points = [];
    ["pickup", "drop"].forEach((end, n) => {
      const place = this.ends[n];
      if (!place) return;
      points.push([place.lat, place.lng]);
      this.map.pin(end, place.lat, place.lng, place.name);
    });
    if (points.length < 2) return;
    this.map.hint(points);
    // outside of the service area there is nothing to show; not animated, because Leaflet ignores a
    // second fit during a zoom
    if (this.served && !this.map.frames(points)) this.map.fit(points, { animate: false });
  }

  #clear() {
    for (const end of ["pickup", "drop"]) this.map.unpin(end);
    this.map.hint([]);
  }
}
