/**
 * Measures elapsed time. A device's wall clock may be set back, and its monotonic clock may stand
 * still during sleep: so the larger difference of the two is taken.
 */

/** The present times of both clocks, for `passed`. */
export function clocks() {
  return [Date.now(), performance.now()];
}

/** The milliseconds since a moment that `clocks` returned. */
export function passed(from) {
  return Math.max(...clocks().map((now, i) => now - from[i]));
}
