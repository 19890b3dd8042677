/** The trip of the booking form on the board's map, while no ride is chosen. */

export class DraftTrip {
  constructor(map) {
    this.map = map;
    this.ends = [];
    this.free = true; // whether no ride is chosen
    document.addEventListener("ridedash:trip", ({ detail }) => this.#take(detail.ends));
  }

  /** A ride was chosen (false), or none is chosen any more (true). */
  show(free) {
    if (free === this.free) return;
    this.free = free;
    if (!free && this.ends.length) this.#clear();
    this.#draw();
  }

  #take(ends) {
    const known = JSON.stringify(ends);
    if (known === this.known) return;
    const was = this.ends.length;
    [this.known, this.ends] = [known, ends];
    if (this.free && was && !ends.length) this.#clear();
    this.#draw();
  }

  #draw() {
    if (!this.free || !this.ends.length) return;
    const points = this.ends.map(({ lat, lng }) => [lat, lng]);
    ["pickup", "drop"].forEach((end, n) => this.map.pin(end, ...points[n], this.ends[n].name));
    this.map.hint(points);
    // at once: Leaflet ignores a second fit while it zooms
    if (!this.map.frames(points)) this.map.fit(points, { animate: false });
  }

  #clear() {
    for (const end of ["pickup", "drop"]) this.map.unpin(end);
    this.map.hint([]);
  }
}
