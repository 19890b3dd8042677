/** Printable pages: a button that prints, and one that copies the link beside it. */

import { copyText } from "./copy.js";

for (const button of document.querySelectorAll("[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => print());
}
for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const field = document.querySelector("[data-link]");
    const copied = await copyText(field.value);
    field.select();
    button.querySelector("span").textContent = copied
      ? button.dataset.copied
      : button.dataset.byHand;
  });
}
