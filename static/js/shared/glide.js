/**
 * The motion of a cab between two known positions: linear over the time that the caller gives, and
 * never beyond the last known position. The caller draws.
 */

/** The position at `share` (0 to 1) between two {lat, lng}. */
export function between(from, to, share) {
  const part = Math.min(1, Math.max(0, share));
  return { lat: from.lat + (to.lat - from.lat) * part, lng: from.lng + (to.lng - from.lng) * part };
}

const JUMP_DEGREES = 0.02; // about 2 km: no cab drives that between two polls, so the marker jumps

// 12 steps a second look smooth at the speed of a cab, and cost a fifth of 60 frames
const STEP_MS = 80;

export class Glide {
  /**
   * `place(lat, lng, bearing)` draws; `next(step)` calls step(now) later, with a time in ms, and
   * returns an id for `cancel`; `calm()`: whether to jump.
   */
  constructor(place, { next = soon, cancel = clearTimeout, calm = () => false } = {}) {
    this.place = place;
    this.next = (step) => next(step);
    this.cancel = (id) => cancel(id);
    this.calm = calm;
    this.at = null;
    this.target = null;
    this.frame = null;
  }

  /**
   * Move to {lat, lng, bearing} within `ms`. Jumps to the first position, over a long distance, on
   * a hidden page, and for users who prefer reduced motion.
   */
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
