/**
 * Many cabs on the map: each is a dot, and dots that would cover each other are one circle with
 * their number. Positions and sizes are px.
 */

const DOT = 14;
const PILE = 26; // the circle of several

/** Boxes {x, y, width, height, cabs} around these cabs {x, y}; no two overlap. */
export function dots(cabs) {
  const piles = cabs.map((cab) => pile([cab]));
  for (let at = 1; at < piles.length; at += 1) {
    const meets = piles.findIndex((other, n) => n < at && touch(other, piles[at]));
    if (meets < 0) continue;
    const [second] = piles.splice(at, 1);
    const [first] = piles.splice(meets, 1);
    // the larger circle may touch others, earlier ones too
    piles.push(pile([...first.cabs, ...second.cabs]));
    at = Math.max(meets - 1, 0);
  }
  return piles;
}

function pile(cabs) {
  const size = cabs.length > 1 ? PILE : DOT;
  const mean = (name) => cabs.reduce((sum, cab) => sum + cab[name], 0) / cabs.length;
  return { x: mean("x"), y: mean("y"), width: size, height: size, cabs };
}

function touch(a, b) {
  return Math.hypot(a.x - b.x, a.y - b.y) < (a.width + b.width) / 2;
}
