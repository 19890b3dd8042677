/**
 * The form of the look of kiosks: shows a chosen picture in both shapes before it is sent, darker
 * than it is and with the chosen part in view. The server darkens it with more care
 * (ridedash/face/photo_crops.py). A file that the browser can't read shows nothing here.
 */

import { watchFile } from "./files.js";

const form = document.querySelector("[data-kiosk-look]");
const tries = form.querySelector("[data-look-tries]");
const SIZES = { wide: [640, 400], tall: [400, 640] };
const PARTS = { left: [0, 0.5], right: [1, 0.5], top: [0.5, 0], bottom: [0.5, 1] };
let picture = null;

function cropped(shape) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = SIZES[shape];
  const scale = Math.max(canvas.width / picture.width, canvas.height / picture.height);
  const [across, down] = PARTS[form.elements.focus.value] ?? [0.5, 0.5];
  const width = picture.width * scale;
  const height = picture.height * scale;
  const left = (canvas.width - width) * across;
  const top = (canvas.height - height) * down;
  const drawing = canvas.getContext("2d");
  drawing.drawImage(picture, left, top, width, height);
  drawing.fillStyle = "rgb(0 0 0 / 0.6)";
  drawing.fillRect(0, 0, canvas.width, canvas.height);
  return canvas.toDataURL("image/jpeg");
}

function show() {
  if (picture) {
    for (const image of tries.querySelectorAll("[data-look]")) {
      image.src = cropped(image.dataset.look);
    }
    tries.hidden = false;
  }
}

watchFile(form.elements.picture, async (file) => {
  try {
    picture = await createImageBitmap(file);
  } catch {
    picture = null;
  }
  show();
});
form.elements.focus.addEventListener("change", show);
