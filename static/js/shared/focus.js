/** Keeps the focus on the page when an answer removes or hides the element that has it. */

import { isShown } from "./slots.js";

/**
 * Run `change`, which may remove or hide parts of `part`. If the focus was there and is lost, it
 * goes to the first of `places` that is shown: the field that the part belongs to, or the next one.
 */
export function keepFocus(part, change, ...places) {
  const inside = part.contains(document.activeElement);
  change();
  const now = document.activeElement;
  if (!inside || (part.contains(now) && isShown(now))) return;
  places.find((place) => isShown(place))?.focus({ preventScroll: true });
}
