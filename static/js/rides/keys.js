/** The shortcuts for one ride: each opens a panel or presses a button of the page. */

import { onKey } from "../shared/keys.js";
import { isShown } from "../shared/slots.js";

/**
 * `current()` returns the root of the ride that is meant, or a promise of it; null when there is
 * none.
 */
export function rideKeys(current) {
  const on = (key, act) =>
    onKey(key, async () => {
      const root = await current();
      if (root) act(root);
    });
  on("l", (root) => press(root.querySelector('[data-out] [data-link-use="follower"]')));
  on("d", (root) => openPanel(root, "drop"));
  on("x", (root) => ["withdraw", "abort", "cancel", "arm"].some((name) => openPanel(root, name)));
  on("o", (root) => press(root.querySelector("[data-code]:not([hidden]) [data-code-button]")));
  on("r", (root) =>
    press(
      root.querySelector('[data-action="again"] [type=submit]') ??
        root.querySelector('[data-refill="again"]'),
    ),
  );
  on("t", (root) => press(root.querySelector('[data-refill="return"]')));
}

/**
 * Open a panel of a ride and focus its safe answer, or its first field; false when it is not
 * offered.
 */
export function openPanel(root, name) {
  const panel = root.querySelector(`[data-action="${name}"]`);
  if (!panel || panel.hidden || !panel.querySelector("input, button")) return false;
  if (panel.localName === "details") panel.open = true;
  const grave = panel.classList.contains("action-grave");
  const first =
    panel.querySelector(grave ? "[data-close]" : "input:not([type=hidden]), [type=submit]") ??
    panel.querySelector("button");
  panel.scrollIntoView({ block: "nearest" });
  first?.focus({ preventScroll: true });
  return true;
}

function press(button) {
  if (!button || button.disabled || !isShown(button)) return;
  button.scrollIntoView({ block: "nearest" });
  button.click();
}
