/** The cab on a map: there while its place is known, gliding from one place to the next. */

import { Glide } from "./glide.js";

const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export class Cab {
  constructor(map) {
    this.map = map;
    this.drawn = this.glide = null;
  }

  /** Be at {lat, lng, bearing} within `ms`, at once when it was nowhere before; null: nobody knows where it is. */
  to(position, ms) {
    if (!this.map) return;
    if (!position) {
      this.remove();
      return;
    }
    this.drawn ??= this.map.cab();
    this.glide ??= new Glide((lat, lng, bearing) => this.drawn.place(lat, lng, bearing), { calm });
    this.glide.to(position, ms);
  }

  remove() {
    this.glide?.stop();
    this.drawn?.remove();
    this.drawn = this.glide = null;
  }

  /** Whether its place is older than it should be. */
  stale(late) {
    this.drawn?.element.classList.toggle("is-stale", late);
  }
}
