/**
 * The path that the guest's cab has driven, on the map: from the server when the page opens and
 * after a gap, and from each poll in between.
 */

import { patience } from "../shared/ask.js";

const MOST = 600; // the most points that a page collects before it requests a thinned path

export class Driven {
  /** `address` is the address of the ride's page. */
  constructor(address) {
    this.map = null;
    this.address = `${address}/path.json`;
    this.points = [];
    this.newest = null; // the cab's position in the latest snapshot; null if it has none
    this.known = false; // whether the path has no gap
    this.asking = false;
    this.plate = null;
    this.ended = false;
    this.glides = false; // whether the cab still moves to the latest point
  }

  /** Draw on `map` from now on: a RideMap, or a ChosenMap of the board. */
  drawOn(map) {
    this.map = map;
  }

  /** Positions were missed: a straight line would show a path that no one drove. */
  gap() {
    this.known = false;
  }

  /** Apply a snapshot: its position is the latest point. `glides`: whether the cab moves to it. */
  take({ position, cab, booking_status: status }, glides) {
    const plate = cab?.plate ?? "";
    if (plate !== this.plate) this.gap(); // another cab has another path
    this.plate = plate;
    if (!this.map || !status) return;
    if (!this.known || this.points.length > MOST) this.#ask();
    this.glides = glides && !this.map.jumps;
    this.newest = position ? [position.lat, position.lng] : null;
    if (this.newest) this.#add(this.newest);
    this.#draw();
  }

  /** The cab has reached the latest point: the line ends there, too. */
  arrive() {
    if (!this.glides) return;
    this.glides = false;
    this.#draw();
  }

  end() {
    this.ended = true;
  }

  #add(point) {
    const last = this.points.at(-1);
    if (!last || last[0] !== point[0] || last[1] !== point[1]) this.points.push(point);
  }

  async #ask() {
    if (this.asking) return;
    this.asking = true;
    const { plate } = this;
    try {
      const answer = await fetch(this.address, { credentials: "same-origin", signal: patience() });
      if (!answer.ok) return;
      const { path } = await answer.json();
      if (this.ended || plate !== this.plate) return; // too late, or the path of an earlier cab
      this.points = path;
      this.known = true;
      if (this.newest) this.#add(this.newest);
      this.#draw();
    } catch {
      // no answer: the next poll requests it again
    } finally {
      this.asking = false;
    }
  }

  /** The line ends at the previous position while the cab glides to the latest one. */
  #draw() {
    if (this.ended || !this.known) return;
    this.map.line(this.glides ? this.points.slice(0, -1) : this.points);
  }
}
