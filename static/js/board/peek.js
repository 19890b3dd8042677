/**
 * Shows what the list knows of a ride while its page is loading: state, plate, guest and
 * destination are on the row already.
 */

import { setText } from "../shared/slots.js";

/** A filled copy of `pattern`, whose cells have the names of a row's cells. */
export function peek(pattern, row) {
  const shown = pattern.cloneNode(true);
  const tone = [...row.classList].find((name) => name.startsWith("tone-"));
  shown.querySelector(".state").classList.add(tone);
  shown.querySelector("[data-own]").href = row.querySelector(".row-link").href;
  for (const cell of shown.querySelectorAll("[data-cell]")) {
    const known = row.querySelector(`[data-cell="${cell.dataset.cell}"]`);
    if (cell.dataset.cell === "icon") {
      cell.replaceChildren(known.querySelector("svg").cloneNode(true));
      continue;
    }
    const words = known.textContent.trim();
    (cell.closest("[data-part]") ?? cell).hidden = !words;
    setText(cell, words);
  }
  return shown;
}
