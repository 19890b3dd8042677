/**
 * A press of the pointer, from down to the click that follows. What moves meanwhile takes the click
 * away from what was meant: what changes a page by itself waits for `released()`.
 */

const MOST_MS = 1_000; // a longer one is a drag, or its end is not told: a list box of the system
let press = null; // {over, done, limit} of the press under way

/** Resolves when no press is under way: at once, or after the click. */
export function released() {
  return press?.over ?? Promise.resolve();
}

function begin() {
  if (press) return;
  press = { limit: setTimeout(end, MOST_MS) };
  press.over = new Promise((done) => (press.done = done));
}

function end() {
  clearTimeout(press?.limit);
  press?.done();
  press = null;
}

// a touch is a press twice: by its pointer, and by the mouse that it stands for
for (const kind of ["pointerdown", "mousedown"])
  document.addEventListener(kind, begin, { capture: true });
for (const kind of ["pointerup", "mouseup", "pointercancel", "dragend"])
  document.addEventListener(kind, () => setTimeout(end), { capture: true }); // after the click
