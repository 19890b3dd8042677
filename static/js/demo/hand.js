/** What the hands of the stage wait for: they press nothing that is not there yet. */

const LOOK_MS = 50;
export const PATIENCE_MS = 20_000;
const STILL = matchMedia("(prefers-reduced-motion: reduce)"); // what is typed stands there at once

/** What `look` finds, as soon as it does; null after a while. */
export async function until(look, patience = PATIENCE_MS) {
  const end = Date.now() + patience;
  while (Date.now() < end) {
    const found = look();
    if (found) return found;
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
