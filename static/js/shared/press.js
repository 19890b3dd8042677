/**
 * Tracks a press of the pointer, from down to the click that follows. If an element moves
 * meanwhile, the click misses it; so code that changes the page by itself waits for `released()`.
 */

// a longer press is a drag, or its end is not reported, as when a list box of the system opens
const MOST_MS = 1_000;
let press = null; // {over, done, limit} of the current press

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

// a touch causes two presses: by its pointer, and by the emulated mouse
for (const kind of ["pointerdown", "mousedown"])
  document.addEventListener(kind, begin, { capture: true });
for (const kind of ["pointerup", "mouseup", "pointercancel", "dragend"])
  document.addEventListener(kind, () => setTimeout(end), { capture: true }); // after the click
