/**
 * Plays a story: takes step after step of a run, and asks again while something is to come. The
 * run stands on the server, so a page that is loaded anew, or a second one, does nothing twice.
 */

import { askQuietly } from "../shared/ask.js";

const BETWEEN_MS = 2_500; // for the sentence to be said
const SAME_MS = 300; // where the next step says the same, such as the next of ten bookings
const AFTER_ERROR_MS = 2_000;

const OVER = new Set(["ended", "failed", "dropped"]);
const FINAL = new Set([400, 401, 403, 404]);

/** Whether nothing more comes of a run. */
export function isOver(moment) {
  return OVER.has(moment.state);
}

/** Whether an answer of this status is final: asking again would change nothing. */
export function isFinal(status) {
  return FINAL.has(status);
}

/**
 * One press of Step: {ok, status, body}, the body being the moment after it. `hands` names the
 * screens that do by themselves what they can: {desk: "1"}.
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
 * Play a run from a moment on. `speed` is that of the clock while something is to come, 0 to leap.
 * `onMoment(moment)` is called for each moment, `hands(moment)` before each step is taken: see
 * `take`; what they promise is waited for. `onTrouble(words, status)` is called when there was no
 * moment, with "" for no answer at all; it is asked again, unless that is final. Returns a function
 * that ends the playing; the story stays where it is then.
 */
export function play(moment, how) {
  const { speed, onMoment, onTrouble, hands = () => ({}), between = BETWEEN_MS } = how;
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
    const heard = next.next === next.say ? Math.min(between, SAME_MS) : between;
    const wait = next.refused ? AFTER_ERROR_MS : next.again_s * 1000 || heard;
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
