/** What the hands of the stage wait for: they press nothing that is not there yet. */

const LOOK_MS = 50;
export const PATIENCE_MS = 20_000;
const LATE_MS = 3_000; // so long nobody wonders
const STILL = matchMedia("(prefers-reduced-motion: reduce)"); // what is typed stands there at once

let tell = () => {};

/** Call `told(late)` with true when a hand has waited for seconds, with false when it goes on. */
export function whenLate(told) {
  tell = told;
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
