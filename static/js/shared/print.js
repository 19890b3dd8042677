/** Printable pages: a button that prints; copy.js adds the one that copies the link. A tile of the
 * card's map that does not arrive is taken away: browsers draw a torn picture in its place. */

import { watchCopies } from "./copy.js";

for (const button of document.querySelectorAll("[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => print());
}
for (const tile of document.querySelectorAll(".sheet-map image")) {
  tile.decode?.().catch(() => tile.remove());
}
watchCopies(document);
