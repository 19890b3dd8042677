/** Whether this device can write a language, or would show boxes instead of its letters. */

const SIZE = 24;
const NO_LETTERS = ["\uFDD0", "\uFDD1"]; // by Unicode these never are letters, so no face has them

/**
 * Whether each letter of a text has a picture of its own here. A missing one is as wide as all
 * missing ones and looks like them, but in Firefox, whose boxes hold the letter's number: there the
 * width alone tells. Without a canvas the answer is yes.
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

/** How wide a letter is, and its pixels. */
function look(pen, letter) {
  const { width, height } = pen.canvas;
  pen.clearRect(0, 0, width, height);
  pen.fillText(letter, SIZE / 2, SIZE);
  const picture = pen.getImageData(0, 0, width, height).data.join();
  return { width: pen.measureText(letter).width, picture };
}
