/** The shortcuts for one ride: each opens a panel or presses a button of the page. */

import { onKey, opening } from "../shared/keys.js";
import { enter } from "../shared/panels.js";
import { isShown } from "../shared/slots.js";

const STOPS = ["withdraw", "abort", "cancel", "arm"];
const SAID_MS = 6_000;
let saying = null;

/**
 * `current()` returns the root of the ride that the keys apply to, or a promise of it; null when
 * there is none.
 */
export function rideKeys(current) {
  const work = async (act) => {
    const root = await current();
    if (root) act(root);
  };
  const on = (key, act) => onKey(key, () => work(act));
  const opens = (key, act) => onKey(key, () => opening(work(orSay(act, "notNow"))));
  opens("d", (root) => openPanel(root, "drop"));
  opens("x", (root) => STOPS.some((name) => openPanel(root, name)));
  on(
    "l",
    orSay((root) => press(root.querySelector('[data-out] [data-link-use="rider"]')), "notNow"),
  );
  on(
    "o",
    orSay(
      (root) => press(root.querySelector("[data-code]:not([hidden]) [data-code-button]")),
      "noCode",
    ),
  );
  on(
    "w",
    orSay((root) => press(root.querySelector("[data-show-guest]")), "notNow"),
  );
  on(
    "u",
    orSay((root) => press(root.querySelector("[data-undo]:not([hidden]) [type=submit]")), "notNow"),
  );
  const refills = (key, button) =>
    on(key, (root) => (begun() ? say(root, root.dataset.begun) : press(button(root))));
  refills(
    "r",
    (root) =>
      root.querySelector('[data-action="again"] [type=submit]') ??
      root.querySelector('[data-refill="again"]'),
  );
  refills("t", (root) => root.querySelector('[data-refill="return"]'));
}

/** An act that says these words if it could do nothing. */
function orSay(act, words) {
  return (root) => act(root) || say(root, root.dataset[words]);
}

/** Whether a ride was begun in the form beside the list: no single key replaces it. */
function begun() {
  const form = document.querySelector("[data-desk-form].is-begun [data-book]");
  return isShown(form) && ["guest_name", "drop"].some((name) => form.elements[name].value.trim());
}

/**
 * Open a panel of a ride with the focus in its first field, or on its first button. Returns false
 * if the panel is missing, hidden or has no fields.
 */
export function openPanel(root, name) {
  const panel = root.querySelector(`[data-action="${name}"]`);
  if (!panel || panel.hidden || !panel.querySelector("input, button")) return false;
  enter(panel);
  // the outcome is unknown: the text of the state has to be read before the question is answered
  if (name === "resolve") root.querySelector(".state").scrollIntoView({ block: "start" });
  else panel.scrollIntoView({ block: "nearest" });
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
