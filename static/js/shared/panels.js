/**
 * Panels: parts of a page that open and take input. What opens one puts the focus into its first
 * field, so that the next key lands there; Escape closes it and returns the focus to what opened
 * it. A panel is a details element with fields, or a part with `data-opened-by`, the selector of
 * the control that shows it. What has `data-first` gets the focus before a field: in a panel of a
 * grave action the button that keeps the ride. Single keys do nothing in a panel: see keys.js.
 */

import { isShown } from "./slots.js";

const PANEL = "details[open], [data-opened-by]";
const CONTROL = "input:not([type=hidden]), select, textarea, button";
// letters choose in a list box, so it never is the field that gets the focus
const FIELD = "input:not([type=hidden]), textarea";
let touched = false; // whether the last press was by touch: there the focus opens a keyboard

for (const kind of ["pointerdown", "keydown"])
  document.addEventListener(kind, (event) => (touched = event.pointerType === "touch"), {
    capture: true,
  });

/** The panel with this element, or null; the summary of a panel is not in it. */
export function panelOf(node) {
  const panel = node.closest?.(PANEL);
  if (!panel) return null;
  const inside =
    !(node.closest("summary")?.parentElement === panel) && panel.querySelector(CONTROL);
  return inside ? panel : panelOf(panel.parentElement);
}

/** Open a panel, and put the focus into its first field; without one, on its first button. */
export function enter(panel) {
  if (panel.localName === "details") panel.open = true;
  if (touched) return;
  const usable = (selector) =>
    [...panel.querySelectorAll(selector)].find((each) => !each.disabled && isShown(each));
  const first = usable("[data-first]") ?? usable(FIELD) ?? usable(CONTROL);
  const chosen =
    first?.type === "radio" && panel.querySelector(`[name="${CSS.escape(first.name)}"]:checked`);
  (chosen || first)?.focus({ preventScroll: true });
}

/** Close the panel with this element; the focus returns to what opened it. False without one. */
export function leave(node) {
  const panel = panelOf(node);
  if (!panel) return false;
  if (panel.localName === "details") panel.open = false;
  const opener =
    panel.localName === "details"
      ? panel.querySelector("summary")
      : document.querySelector(panel.dataset.openedBy);
  if (isShown(opener)) opener.focus();
  else node.blur();
  return true;
}

document.addEventListener("click", (event) => {
  const panel = event.target.closest?.("summary")?.parentElement;
  if (!panel || panel.open || event.defaultPrevented || !panel.querySelector(CONTROL)) return;
  event.preventDefault(); // at once, and not after the keys that are already on their way
  enter(panel);
});
