/** How a cab moves between two known points: linear over one poll interval, never beyond the last known one. No DOM. */

/** The place at `share` (0 to 1) of the way between two {lat, lng}. */
export function between(from, to, share) {
  const part = Math.min(1, Math.max(0, share));
  return { lat: from.lat + (to.lat - from.lat) * part, lng: from.lng + (to.lng - from.lng) * part };
}

const JUMP_DEGREES = 0.02; // some two kilometres: no cab does that between two polls, so it is not drawn as a ride

const STEP_MS = 80; // a dozen steps a second look smooth at a cab's speed, and cost a quarter of one for every frame

export class Glide {
  /** `place(lat, lng, bearing)` draws; `next(step)` calls step(ms) a little later; `calm()` says whether to jump. */
  constructor(place, { next = soon, cancel = clearTimeout, calm = () => false } = {}) {
    this.place = place;
    this.next = (step) => next(step);
    this.cancel = (id) => cancel(id);
    this.calm = calm;
    this.at = null;
    this.target = null;
    this.frame = null;
  }

  /** Go to {lat, lng, bearing} within `ms`. The first point, a long jump and calm readers get there at once. */
  to(target, ms) {
    if (this.target && same(this.target, target)) return;
    this.stop();
    const from = this.at;
    this.target = target;
    if (!from || ms <= 0 || this.calm() || far(from, target) || document.hidden) {
      this.#draw(target);
      return;
    }
    let began = null;
    const step = (now) => {
      began ??= now;
      const share = (now - began) / ms;
      this.#draw(between(from, target, share));
      this.frame = share < 1 ? this.next(step) : null;
    };
    this.frame = this.next(step);
  }

  stop() {
    if (this.frame !== null) this.cancel(this.frame);
    this.frame = null;
  }

  #draw({ lat, lng }) {
    this.at = { lat, lng };
    this.place(lat, lng, this.target.bearing ?? null);
  }
}

function soon(step) {
  return setTimeout(() => step(performance.now()), STEP_MS);
}

function same(a, b) {
  return a.lat === b.lat && a.lng === b.lng && a.bearing === b.bearing;
}

function far(a, b) {
  return Math.abs(a.lat - b.lat) > JUMP_DEGREES || Math.abs(a.lng - b.lng) > JUMP_DEGREES;
}
