/**
 * Checks whether this device can display a language, or would show boxes instead of its letters.
 */

const SIZE = 24;
const NO_LETTERS = ["\uFDD0", "\uFDD1"]; // in Unicode these are never letters, so no font has them

/**
 * Whether this device has a glyph for each letter of a text. A missing glyph has the width and the
 * pixels of all missing glyphs, except in Firefox, whose boxes contain the letter's code: there
 * only the width is compared. Without a canvas the result is true.
 */
export function canWrite(text, language) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = SIZE * 2;
  canvas.lang = language;
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  if (!pen) return true;
  pen.font = `${SIZE}px system-ui, sans-serif`;
  pen.textBaseline = "middle";
  const [box, other] = NO_LETTERS.map((letter) => look(pen, letter));
  const numbered = box.picture !== other.picture;
  return [...new Set(text)]
    .filter((letter) => !/[\p{M}\p{P}\p{Z}]/u.test(letter))
    .map((letter) => look(pen, letter))
    .every(({ width, picture }) => width !== box.width || (!numbered && picture !== box.picture));
}

/** The width of a letter, and its pixels. */
function look(pen, letter) {
  const { width, height } = pen.canvas;
  pen.clearRect(0, 0, width, height);
  pen.fillText(letter, SIZE / 2, SIZE);
  const picture = pen.getImageData(0, 0, width, height).data.join();
  return { width: pen.measureText(letter).width, picture };
}
