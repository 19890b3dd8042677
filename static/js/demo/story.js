/**
 * Plays a story: takes one step of a run after the other, and asks again while a step waits. The
 * state of the run is on the server, so a reloaded page, or a second one, repeats nothing.
 */

import { askQuietly } from "../shared/ask.js";

const BETWEEN_MS = 2_500; // pause between two steps, to read out a step's text (`say`)
export const OWN_PACE = "own"; // a speed: a short wait runs visibly, a long one is skipped
const SAME_MS = 300; // if the next step has the same text, such as the next of ten bookings
const AFTER_ERROR_MS = 2_000;

const OVER = new Set(["ended", "failed", "dropped"]);
const FINAL = new Set([400, 401, 403, 404]);

/** Whether a run has ended. */
export function isOver(moment) {
  return OVER.has(moment.state);
}

/** Whether an answer with this status is final: asking again would change nothing. */
export function isFinal(status) {
  return FINAL.has(status);
}

/** Whether this status says that no one is signed in (401), or no manager (403). */
export function isDenied(status) {
  return status === 401 || status === 403;
}

/**
 * Take one step, as the button Step does. Resolves to {ok, status, body}; `body` is the state of
 * the run after the step, here called a moment. `hands` names the screen whose script does this
 * step itself, such as {desk: "1"}. If the desk's form refused the step, `hands.refused` is the
 * message that it showed.
 */
export function take(run, step, speed, hands = {}) {
  return askQuietly(`/demo/runs/${run}/step`, {
    step,
    speed: String(speed),
    ...hands,
    csrf_token: document.querySelector('meta[name="csrf-token"]').content,
  });
}

/**
 * Play a run from a moment on. `speed` is the speed of the sandbox's clock while a step waits; 0
 * sets the clock to the ride's next phase at once, and OWN_PACE lets the server choose.
 * `onMoment(moment)` is called for each moment, and `hands(moment)` before each step (see `take`);
 * both may return promises, which are awaited. `between(moment)` is the pause in milliseconds
 * after a step whose text differs from the next one's.
 * `onTrouble(words, status)` is called for an answer without a moment, with "" for no answer at
 * all; then the request is repeated, unless the status is final. Returns a function that stops the
 * playing; the run stays as it is.
 */
export function play(moment, how) {
  const { speed, onMoment, onTrouble, hands = () => ({}), between = () => BETWEEN_MS } = how;
  let timer = 0;
  let stopped = false;

  async function go(now) {
    const shown = await hands(now);
    if (stopped) return;
    const { ok, status, body: next } = await take(now.run, now.step, speed, shown);
    if (stopped) return;
    if (!ok || !next.run) {
      onTrouble(next.message ?? "", status);
      if (!isFinal(status)) later(AFTER_ERROR_MS, now);
      return;
    }
    await onMoment(next);
    if (stopped || isOver(next)) return;
    const pause = next.next === next.say ? Math.min(between(next), SAME_MS) : between(next);
    const wait = next.refused ? AFTER_ERROR_MS : next.again_s * 1000 || pause;
    later(wait, next);
  }

  function later(ms, now) {
    timer = setTimeout(() => go(now), ms);
  }

  go(moment);
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
