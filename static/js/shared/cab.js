/**
 * The marker of a cab on a map: it is there while a position is known, and moves from each position
 * to the next.
 */

import { Glide } from "./glide.js";

const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export class Cab {
  constructor(map) {
    this.map = map;
    this.drawn = this.glide = null;
  }

  /**
   * Move to {lat, lng, bearing} within `ms`, or at once when no position was known. Null removes
   * the cab.
   */
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

  /** Whether the cab is still on its way to the latest position. */
  get moves() {
    return Boolean(this.glide?.frame);
  }

  remove() {
    this.glide?.stop();
    this.drawn?.remove();
    this.drawn = this.glide = null;
  }

  /** Show words beside the cab: the minutes until it arrives. */
  say(words) {
    this.drawn?.say(words);
  }

  /** Show whether the position is older than it should be. */
  stale(late) {
    this.drawn?.element.classList.toggle("is-stale", late);
  }
}
