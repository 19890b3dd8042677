/**
 * The face of the property behind the words of a screen: its picture, or a pattern in its colour.
 *
 * A pattern is drawn towards `--k-deep` alone, so that words on it are as easy to read as on the
 * plain colour; the server darkens a picture until white words hold (ridedash/face/).
 */

import { make } from "./el.js";

const SVG = "http://www.w3.org/2000/svg";
const SIDE = 160; // of a pattern's square, in its own units

/** Show the face in a node. `whole`: behind a whole screen, not beside or above its controls. */
export function face(node, { picture, pattern }, { whole = false } = {}) {
  node.replaceChildren(picture ? pictureOf(picture, whole) : patternOf(pattern));
}

/**
 * Beside the controls of a landscape screen the upright crop is shown, above those of an upright
 * screen the wide one; behind a whole screen the other way round.
 */
function pictureOf({ wide, tall }, whole) {
  const found = document.createElement("picture");
  const upright = document.createElement("source");
  upright.media = whole ? "(orientation: portrait)" : "(orientation: landscape)";
  upright.srcset = tall;
  const image = make("img", "k-face-picture full");
  image.alt = "";
  image.src = wide;
  image.addEventListener("error", () => found.replaceWith(patternOf()));
  found.append(upright, image);
  return found;
}

function patternOf(name) {
  const svg = drawn("svg", "k-pattern full", {
    viewBox: `0 0 ${SIDE} ${SIDE}`,
    preserveAspectRatio: "xMidYMid slice",
  });
  const draw = { waves, arches, lattice }[name] ?? waves;
  svg.append(...draw());
  return svg;
}

/** Hills, one before the other, the nearest one the deepest; a low sun, drawn as a ring. */
function waves() {
  const sun = [18, 23, 28].map((r) => drawn("circle", "k-line", { cx: 118, cy: 44, r }));
  const hills = Array.from({ length: 8 }, (_, i) => {
    const y = 46 + i * 15;
    const rise = 16 - i;
    const shift = (i * 47) % 90;
    const crests = `q 22.5 ${-rise} 45 0 t 45 0 t 45 0 t 45 0 t 45 0 t 45 0 t 45 0 t 45 0`;
    return drawn("path", `k-hill k-depth-${i}`, {
      d: `M ${shift - 165} ${y} ${crests} V ${SIDE} H ${shift - 165} Z`,
    });
  });
  return [...sun, ...hills];
}

/** Scallops, as over the doors of old theatres: rings of each row before those of the row above. */
function arches() {
  const rows = Array.from({ length: 15 }, (_, row) =>
    Array.from({ length: 10 }, (_each, column) => {
      const cx = column * 20 - 10 + (row % 2) * 10;
      const cy = row * 12 + 4;
      return [10, 7.5, 5, 2.5].map((r, ring) =>
        drawn("circle", `k-arch k-depth-${Math.floor(row / 2)}`, { cx, cy, r, "data-ring": ring }),
      );
    }),
  );
  return rows.flat(2);
}

/** Stars of eight points and the crosses between them, as in carved screens. */
function lattice() {
  const stars = Array.from({ length: 49 }, (_, i) => {
    const [x, y] = [(i % 7) * 26 + 2, Math.floor(i / 7) * 26 + 2];
    const corners = Array.from({ length: 16 }, (_each, corner) => {
      const angle = (corner * Math.PI) / 8;
      const reach = corner % 2 ? 9.2 : 13;
      const at = (turn) => (turn * reach).toFixed(2);
      return `${at(Math.cos(angle))} ${at(Math.sin(angle))}`;
    });
    return drawn("path", `k-star k-depth-${Math.floor(i / 7)}`, {
      d: `M ${corners.join(" L ")} Z`,
      transform: `translate(${x} ${y})`,
    });
  });
  return stars;
}

function drawn(tag, className, attributes) {
  const node = document.createElementNS(SVG, tag);
  node.setAttribute("class", className);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  return node;
}
