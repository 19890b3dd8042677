/**
 * Printable pages: a button that prints, and one that copies the link (copy.js). A tile of the
 * card's map that can't be loaded is removed: otherwise browsers show a broken image.
 */

import { watchCopies } from "./copy.js";

for (const button of document.querySelectorAll("[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => print());
}
for (const tile of document.querySelectorAll(".sheet-map image")) {
  tile.decode?.().catch(() => tile.remove());
}
watchCopies(document);
