/** What the hands of the stage wait for: they press nothing that is not there yet. */

const LOOK_MS = 50;
const PATIENCE_MS = 9_000;

/** What `look` finds, as soon as it does; null after a while. */
export async function until(look, patience = PATIENCE_MS) {
  const end = Date.now() + patience;
  while (Date.now() < end) {
    const found = look();
    if (found) return found;
    await pause(LOOK_MS);
  }
  return null;
}

/** So long the audience sees what there is. */
export function pause(ms) {
  return new Promise((done) => setTimeout(done, ms));
}
