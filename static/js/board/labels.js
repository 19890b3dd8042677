/**
 * Finds room for labels on a map. Boxes are {x, y, width, height} in px, with x and y at their
 * centre.
 */

const GAP = 4; // px between boxes that were moved apart
const EDGE = 4; // px between a label and the edge of the map
const ASIDE = 3; // how many times its own width a box may move sideways
const AWAY = 8; // how many times its own height a box may move up or down
const GRID = [...Array(2 * AWAY + 1).keys()]
  .flatMap((y) => [...Array(2 * ASIDE + 1).keys()].map((x) => [x - ASIDE, y - AWAY]))
  .filter(([x, y]) => x || y);

/** Whether two boxes overlap. */
export function overlaps(a, b) {
  return (
    2 * Math.abs(a.x - b.x) < a.width + b.width && 2 * Math.abs(a.y - b.y) < a.height + b.height
  );
}

/**
 * The box of a label of this size beside a marker: to its right, to its left, above or below, where
 * the label covers the fewest of `others` and the marker; it is moved into a map of `size` {x, y}.
 * `free`: whether it covers none of them.
 */
export function placed(mark, { width, height }, size, others) {
  const across = (mark.width + width) / 2 + 1;
  const along = (mark.height + height) / 2 + 1;
  const sides = [
    { x: mark.x + across, y: mark.y },
    { x: mark.x - across, y: mark.y },
    { x: mark.x, y: mark.y - along },
    { x: mark.x, y: mark.y + along },
  ].map(({ x, y }) => inside({ x, y, width, height }, size));
  const covered = sides.map(
    (box) => [mark, ...others].filter((other) => overlaps(box, other)).length,
  );
  const least = Math.min(...covered);
  return { ...sides[covered.indexOf(least)], free: least === 0 };
}

/**
 * Move boxes apart: each that overlaps an earlier one, or one of `fixed`, goes to the nearest free
 * place around its own, inside a map of `size` {x, y}, if there is one. A box with `kept` [x, y],
 * the px by which it was moved last time, is moved by the same px again if possible. Returns new
 * boxes, with `fromX` and `fromY`, the old centre, where a box had to move.
 */
export function apart(boxes, fixed, size) {
  const taken = [...fixed];
  return boxes.map((box) => {
    const free = (place) => !taken.some((other) => overlaps(place, other));
    const stayed = stays(box, free) ?? (free(box) ? box : null);
    const found = stayed ?? around(box, size).find(free) ?? box;
    taken.push(found);
    const moved = found.x !== box.x || found.y !== box.y;
    return moved ? { ...found, fromX: box.x, fromY: box.y } : found;
  });
}

/**
 * The box, moved by as many px as last time; null if this place is taken, or if the box has no
 * `kept`. It may overlap others by half of a GAP, because the position of a standing cab varies by
 * some pixels.
 */
function stays(box, free) {
  if (!box.kept) return null;
  const place = { ...box, x: box.x + box.kept[0], y: box.y + box.kept[1] };
  const core = { ...place, width: box.width - GAP, height: box.height - GAP };
  return free(core) ? place : null;
}

/** Places around a box's own, the nearest first. */
function around(box, size) {
  const [across, along] = [box.width + GAP, box.height + GAP];
  const steps = GRID.map(([x, y]) => ({ ...box, x: box.x + x * across, y: box.y + y * along }));
  const from = ({ x, y }) => Math.hypot(x - box.x, y - box.y);
  return steps.filter((place) => isInside(place, size)).sort((a, b) => from(a) - from(b));
}

/** The box, moved into a map as far as that is possible. */
function inside({ x, y, width, height }, size) {
  return {
    x: clamped(x, width / 2 + EDGE, size.x - width / 2 - EDGE),
    y: clamped(y, height / 2 + EDGE, size.y - height / 2 - EDGE),
    width,
    height,
  };
}

function isInside({ x, y, width, height }, size) {
  const [right, down] = [size.x - width / 2, size.y - height / 2];
  return x >= width / 2 && y >= height / 2 && x <= right && y <= down;
}

function clamped(value, least, most) {
  return Math.max(least, Math.min(most, value));
}
