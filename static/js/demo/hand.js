/**
 * What the hands of the stage wait for: they press nothing that is not there yet. One of them moves
 * at a time: the one that began last.
 */

const LOOK_MS = 50;
export const PATIENCE_MS = 20_000;
const LATE_MS = 3_000; // so long nobody wonders
const STILL = matchMedia("(prefers-reduced-motion: reduce)"); // what is typed stands there at once
const LEFT = new Error("the hand has left its work");

let tell = () => {};
let present = 0; // the hand that moves

/** Call `told(late)` with true when a hand has waited for seconds, with false when it goes on. */
export function whenLate(told) {
  tell = told;
}

/** Let the hand that moves stop where it is, if there is one. */
export function leave() {
  present += 1;
}

/**
 * Resolves to what `work(screen)` comes to, or to `left` once another hand has begun or this one
 * was told to leave. It looks at its page through `screen()` each time: that ends it then.
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

/** What `look` finds, as soon as it does; null after a while. */
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

/** So long the audience sees what there is. */
export function pause(ms) {
  return wait(STILL.matches ? 0 : ms);
}

function wait(ms) {
  return new Promise((done) => setTimeout(done, ms));
}
