/**
 * How long something is ago. A device's wall clock may be set back, and its other clock may stand
 * still while it sleeps: the one that has gone on for longer is right.
 */

/** This moment, for `passed`. */
export function clocks() {
  return [Date.now(), performance.now()];
}

/** Milliseconds since then. */
export function passed(from) {
  return Math.max(...clocks().map((now, i) => now - from[i]));
}
