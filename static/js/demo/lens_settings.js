/** The settings of the lens, stored in this browser: whether it is open, its height and its tab. */

const PLACE = "ridedash.lens";

export const kept = read();

/** The stored settings; the usual ones if the storage is broken or not available. */
function read() {
  const usual = { open: false, height: 45, tab: "ride" };
  try {
    return { ...usual, ...JSON.parse(localStorage.getItem(PLACE)) };
  } catch {
    return usual;
  }
}

/** Change some of the settings, and store all. */
export function keep(changed) {
  Object.assign(kept, changed);
  try {
    localStorage.setItem(PLACE, JSON.stringify(kept));
  } catch {
    // in a private window nothing is stored
  }
}
