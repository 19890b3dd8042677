/**
 * Measures and limits elapsed time. A device's wall clock may be set back, and its monotonic clock
 * may stand still during sleep: so the larger difference of the two is taken.
 */

/** The present times of both clocks, for `passed`. */
export function clocks() {
  return [Date.now(), performance.now()];
}

/** The milliseconds since a moment that `clocks` returned. */
export function passed(from) {
  return Math.max(...clocks().map((now, i) => now - from[i]));
}

/**
 * A signal that aborts after `ms`, or when `signal` aborts, if one is given. Not every supported
 * browser has AbortSignal.any.
 */
export function timeLimit(ms, signal) {
  const first = new AbortController();
  for (const each of [AbortSignal.timeout(ms), signal].filter(Boolean)) {
    const abort = () => first.abort(each.reason);
    if (each.aborted) abort();
    each.addEventListener("abort", abort, { signal: first.signal });
  }
  return first.signal;
}
