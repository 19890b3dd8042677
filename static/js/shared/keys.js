/**
 * Single-key shortcuts of all staff pages. Users can switch them off; none works in a text field.
 */

import { isShown } from "./slots.js";

const acts = new Map();
// WCAG 2.1.4; Esc and the button for help still work
const off = document.body.dataset.shortcuts === "off";
const help = document.querySelector("[data-keys-help]");

/**
 * Run `act` when a key is pressed outside of fields; `key` as in KeyboardEvent, letters in lower
 * case.
 */
export function onKey(key, act) {
  acts.set(key, act);
}

/** Whether an element accepts typed text. */
function types(element) {
  return Boolean(element?.closest?.("input, textarea, select, [contenteditable=true]"));
}

function showHelp() {
  if (help && !help.open) help.showModal();
}

function pressed(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing)
    return;
  if (document.querySelector("dialog[open]")) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (types(event.target)) {
    if (key === "Escape") event.target.blur();
    return;
  }
  const act = key === "Escape" || !off ? acts.get(key) : null;
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
// a click beside the dialog
help?.addEventListener("click", (event) => event.target === help && help.close());
