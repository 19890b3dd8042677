/**
 * The shades of a property's colour for a screen in a lobby, where text needs a contrast of 7:1 (on
 * a desk 4.5 is enough: ridedash/face/colour.py). The hue stays, only the lightness moves. Pure.
 */

const LEAST = 7;
const STEPS = 60;
const BLACK = [0, 0, 0];
const WHITE = [255, 255, 255];
const PAPER = [245, 246, 248]; // the darkest of the light surfaces that text of this colour is on
const NIGHT = [29, 36, 48]; // the lightest of the dark ones

/** {light, dark, hero, heroInk} as CSS colours, of "#rrggbb"; null for anything else. */
export function shades(colour) {
  if (!/^#[0-9a-f]{6}$/i.test(colour ?? "")) return null;
  const own = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
  const whiteText = contrast(own, WHITE) >= contrast(own, BLACK);
  const ink = whiteText ? WHITE : BLACK;
  return {
    light: css(towards(own, BLACK, PAPER)),
    dark: css(towards(own, WHITE, NIGHT)),
    hero: css(towards(own, whiteText ? BLACK : WHITE, ink)),
    heroInk: css(ink),
  };
}

/** The first mixture with `end` that has enough contrast on `ground`. */
function towards(colour, end, ground) {
  for (let step = 0; step <= STEPS; step += 1) {
    const mixed = colour.map((part, i) => Math.round(part + ((end[i] - part) * step) / STEPS));
    if (contrast(mixed, ground) >= LEAST) return mixed;
  }
  return end;
}

function contrast(one, other) {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

function luminance(colour) {
  const [red, green, blue] = colour
    .map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function css(colour) {
  return `rgb(${colour.join(" ")})`;
}
