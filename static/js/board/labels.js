/** Where labels have room on a map. Boxes are {x, y, width, height} in px around their middle. */

const GAP = 4; // px between boxes that were moved apart
const EDGE = 4; // px between a label and the edge of the map

/** Whether two boxes overlap. */
export function overlaps(a, b) {
  return (
    2 * Math.abs(a.x - b.x) < a.width + b.width && 2 * Math.abs(a.y - b.y) < a.height + b.height
  );
}

/**
 * The box of a label of these sides beside a mark: to its right, left, above or below, moved into a
 * map of `size` {x, y}; where it covers fewest of `others`. `free` says whether it covers none.
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
 * place around its own. Returns new boxes, with `fromX` and `fromY` where a box had to move.
 */
export function apart(boxes, fixed) {
  const taken = [...fixed];
  return boxes.map((box) => {
    const free = around(box).find((place) => !taken.some((other) => overlaps(place, other)));
    const found = free ?? box;
    taken.push(found);
    const moved = found.x !== box.x || found.y !== box.y;
    return moved ? { ...found, fromX: box.x, fromY: box.y } : found;
  });
}

function around(box) {
  const [across, along] = [box.width + GAP, box.height + GAP];
  const steps = [
    [0, 0],
    [0, -1],
    [0, 1],
    [1, 0],
    [-1, 0],
    [1, -1],
    [-1, -1],
    [1, 1],
    [-1, 1],
    [0, -2],
    [0, 2],
  ];
  return steps.map(([x, y]) => ({ ...box, x: box.x + x * across, y: box.y + y * along }));
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

function clamped(value, least, most) {
  return Math.max(least, Math.min(most, value));
}
