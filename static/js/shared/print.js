/** Printable pages: a button that prints; copy.js adds the one that copies the link. */

import { watchCopies } from "./copy.js";

for (const button of document.querySelectorAll("[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => print());
}
watchCopies(document);
