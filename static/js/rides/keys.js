/** The shortcuts for one ride: each opens a panel or presses a button of the page. */

import { onKey } from "../shared/keys.js";
import { isShown } from "../shared/slots.js";

const STOPS = ["withdraw", "abort", "cancel", "arm"];
const SAID_MS = 6_000;
let saying = null;

/**
 * `current()` returns the root of the ride that the keys apply to, or a promise of it; null when
 * there is none.
 */
export function rideKeys(current) {
  const on = (key, act) =>
    onKey(key, async () => {
      const root = await current();
      if (root) act(root);
    });
  const orSay = (key, act, words) => on(key, (root) => act(root) || say(root, root.dataset[words]));
  orSay(
    "l",
    (root) => press(root.querySelector('[data-out] [data-link-use="follower"]')),
    "notNow",
  );
  orSay("d", (root) => openPanel(root, "drop"), "notNow");
  orSay("x", (root) => STOPS.some((name) => openPanel(root, name)), "notNow");
  orSay(
    "o",
    (root) => press(root.querySelector("[data-code]:not([hidden]) [data-code-button]")),
    "noCode",
  );
  orSay("w", (root) => press(root.querySelector("[data-show-guest]")), "notNow");
  on("r", (root) =>
    press(
      root.querySelector('[data-action="again"] [type=submit]') ??
        root.querySelector('[data-refill="again"]'),
    ),
  );
  on("t", (root) => press(root.querySelector('[data-refill="return"]')));
}

/**
 * Open a panel of a ride and focus its first field or button, but in a panel of a grave action the
 * button that closes it. Returns false if the panel is missing, hidden or has no fields.
 */
export function openPanel(root, name) {
  const panel = root.querySelector(`[data-action="${name}"]`);
  if (!panel || panel.hidden || !panel.querySelector("input, button")) return false;
  if (panel.localName === "details") panel.open = true;
  const grave = panel.classList.contains("action-grave");
  const first =
    panel.querySelector(grave ? "[data-close]" : "input:not([type=hidden]), [type=submit]") ??
    panel.querySelector("button");
  // the outcome is unknown: the text of the state has to be read before the question is answered
  if (name === "resolve") root.querySelector(".state").scrollIntoView({ block: "start" });
  else panel.scrollIntoView({ block: "nearest" });
  first?.focus({ preventScroll: true });
  return true;
}

function press(button) {
  if (!button || button.disabled || !isShown(button)) return false;
  button.scrollIntoView({ block: "nearest" });
  button.click();
  return true;
}

/** Show for a moment why a key did nothing. */
function say(root, words) {
  const line = root.querySelector("[data-key-said]");
  clearTimeout(saying);
  line.textContent = words;
  line.scrollIntoView({ block: "nearest" });
  saying = setTimeout(() => (line.textContent = ""), SAID_MS);
}
