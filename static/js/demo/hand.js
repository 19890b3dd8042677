/**
 * Shared functions of the "hands", the scripts that operate the screens of the stage: they wait
 * until something is there before they press it. Only one hand is active at a time: the one that
 * began last.
 */

const LOOK_MS = 50;
export const PATIENCE_MS = 20_000;
const LATE_MS = 3_000; // a shorter wait needs no message
// with reduced motion there are no pauses: typed text appears at once
const STILL = matchMedia("(prefers-reduced-motion: reduce)");
const LEFT = new Error("the hand has left its work");

let tell = () => {};
let present = 0; // number of the active hand

/**
 * Call `notify(late)` with true when a hand has waited for seconds, and with false when it
 * continues.
 */
export function whenLate(notify) {
  tell = notify;
}

/** Let the active hand stop, if there is one. */
export function leave() {
  present += 1;
}

/**
 * Resolves to the result of `work(screen)`, or to `left` once another hand has begun or this one
 * was stopped. The work must get its page from `screen()` each time, because that call ends the
 * work in these two cases.
 */
export async function byHand(page, work, left) {
  leave();
  const mine = present;
  const screen = () => {
    if (mine !== present) throw LEFT;
    return page();
  };
  try {
    return await work(screen);
  } catch (error) {
    if (error !== LEFT) throw error;
    return left;
  }
}

/** Resolves to what `look` finds, as soon as it finds something; to null after a while. */
export async function until(look, patience = PATIENCE_MS) {
  const late = setTimeout(() => tell(true), LATE_MS);
  try {
    return await found(look, Date.now() + patience);
  } finally {
    clearTimeout(late);
    tell(false);
  }
}

async function found(look, end) {
  while (Date.now() < end) {
    const it = look();
    if (it) return it;
    await wait(LOOK_MS);
  }
  return null;
}

/** A pause in which the audience can see the screen. */
export function pause(ms) {
  return wait(STILL.matches ? 0 : ms);
}

function wait(ms) {
  return new Promise((done) => setTimeout(done, ms));
}
