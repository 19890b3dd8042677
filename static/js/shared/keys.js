/**
 * Single-key shortcuts of all staff pages. Users can switch them off; in a text field only Esc
 * works, which leaves the field.
 */

import { isShown } from "./slots.js";

const acts = new Map([["", new Map()]]); // a selector, or "" for the page -> key -> function
// users can switch shortcuts off (WCAG 2.1.4); Esc and the button for help still work
const off = document.body.dataset.shortcuts === "off";
const help = document.querySelector("[data-keys-help]");

/**
 * Run `act` when a key is pressed outside of text fields; `key` as in KeyboardEvent, letters in
 * lower case. With the selector `within` only presses inside its elements count, and they don't run
 * the page's own function for that key.
 */
export function onKey(key, act, within = "") {
  if (!acts.has(within)) acts.set(within, new Map());
  acts.get(within).set(key, act);
}

function actOf(key, target) {
  for (const [within, keys] of acts)
    if (within && keys.has(key) && target.closest?.(within)) return keys.get(key);
  return acts.get("").get(key);
}

const FIELD = "input, textarea, select, [contenteditable=true]";

/** Whether an element accepts typed text. */
function types(element) {
  const field = element?.closest?.(FIELD);
  return Boolean(field) && !["radio", "checkbox"].includes(field.type);
}

function showHelp() {
  if (help && !help.open) help.showModal();
}

function pressed(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing)
    return;
  if (document.querySelector("dialog[open]")) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (key === "Escape" && event.target.closest?.(FIELD)) return event.target.blur();
  if (types(event.target)) return;
  const act = key === "Escape" || !off ? actOf(key, event.target) : null;
  if (!act || (event.repeat && !"jk".includes(key))) return;
  event.preventDefault();
  act(event);
}

onKey("?", showHelp);
onKey("/", () => {
  const field = document.getElementById("search");
  field?.focus();
  field?.select();
});
onKey("n", () => {
  const field = document.getElementById("guest-find");
  if (isShown(field)) field.focus();
  else location.assign("/rides/new");
});
document.addEventListener("keydown", pressed);
document.querySelector("[data-keys-button]")?.addEventListener("click", showHelp);
// a click beside the dialog closes it
help?.addEventListener("click", (event) => event.target === help && help.close());
