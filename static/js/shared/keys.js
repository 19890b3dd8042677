/**
 * Single-key shortcuts of all staff pages. Users can switch them off; in a text field and in a
 * panel only Esc works, which leaves it. While a panel is loading, letters wait for its field. An
 * answer that removes the element with the focus does not make letters that follow at once
 * shortcuts: a person leaves the form first, by a click or Esc, or pauses. A key that is pressed
 * while a page is loading counts as soon as the script that knows it has come.
 */

import { leave, panelOf } from "./panels.js";
import { isShown } from "./slots.js";

// how long no key is a shortcut while the browser leaves the page, or after a field has gone
const QUIET_MS = 3_000;
// after this pause in typing a key is a shortcut again, although the field with the focus is gone
const PAUSE_MS = 10_000;

const acts = new Map([["", new Map()]]); // a selector, or "" for the page -> key -> function
// users can switch shortcuts off (WCAG 2.1.4); Esc and the button for help still work
const off = document.body.dataset.shortcuts === "off";
const help = document.querySelector("[data-keys-help]");
let coming = 0; // how much is loading that takes text
let held = ""; // what was typed meanwhile
let wordsIn = null; // the panel in which letters were typed just now that no field took
let quietUntil = 0;
let last = null; // what had the focus last, in a form that takes text
let typedAt = 0; // when it got the focus, or a key
let early = ""; // the last key that no script knew, while the page was loading

/**
 * Run `act` when a key is pressed outside of text fields; `key` as in KeyboardEvent, letters in
 * lower case. With the selector `within` only presses inside its elements count, and they don't run
 * the page's own function for that key.
 */
export function onKey(key, act, within = "") {
  if (!acts.has(within)) acts.set(within, new Map());
  acts.get(within).set(key, act);
  if (within || key !== early) return;
  early = "";
  queueMicrotask(act); // once its script has begun
}

function actOf(key, target) {
  for (const [within, keys] of acts)
    if (within && keys.has(key) && target.closest?.(within)) return keys.get(key);
  return acts.get("").get(key);
}

/** What a key without a modifier does on this page, wherever the focus is; undefined for none. */
export function ofPage(key) {
  return acts.get("").get(key);
}

const FIELD = "input, textarea, select, [contenteditable=true]";

/** Whether an element accepts typed text. */
function types(element) {
  const field = element?.closest?.(FIELD);
  return Boolean(field) && !field.readOnly && !["radio", "checkbox"].includes(field.type);
}

/**
 * Hold the keys until `work` is done, because it brings something that takes text; then they are
 * typed into the field that has the focus, if it is empty. Returns what `work` resolves to.
 */
export async function opening(work) {
  coming += 1;
  try {
    return await work;
  } finally {
    coming -= 1;
    if (!coming) deliver();
  }
}

/** Ignore single keys for a moment: a person may be typing into a field that has just gone. */
export function quiet() {
  quietUntil = performance.now() + QUIET_MS;
}

function deliver() {
  const field = document.activeElement;
  const words = held;
  held = "";
  if (!words || !types(field) || field.value || typeof field.selectionStart !== "number") return;
  field.setRangeText(words, 0, 0, "end");
  field.dispatchEvent(new InputEvent("input", { bubbles: true, data: words }));
}

/** Whether somebody types on, and the page has the focus only because a form's element is gone. */
function isLost(target) {
  if (target !== document.body || !last || (isShown(last) && !last.disabled)) return false;
  const paused = performance.now() - typedAt > PAUSE_MS;
  typedAt = performance.now();
  return !paused;
}

/** Note what has the focus, if it is in a form that takes text. */
function follow({ target }) {
  wordsIn = null;
  last = [...(target.closest?.("form")?.elements ?? [])].some(types) ? target : null;
  typedAt = performance.now();
}

/** Whether a key is no shortcut now: something takes text, or the page is being left. */
function isText(event) {
  if (performance.now() < quietUntil || isLost(event.target)) return true;
  if (event.target.closest?.("[data-question]")) return true;
  const panel = panelOf(event.target);
  if (panel) {
    // the space between two words presses no button
    if (event.key === " " && wordsIn === panel) event.preventDefault();
    else if (event.key !== " ") wordsIn = event.key.length === 1 ? panel : null;
    return true;
  }
  if (!coming || event.key.length > 1) return Boolean(coming);
  event.preventDefault();
  held += event.key;
  return true;
}

function showHelp() {
  if (help && !help.open) help.showModal();
}

function pressed(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing)
    return;
  if (document.querySelector("dialog[open]")) return;
  if (event.target !== document.body) typedAt = performance.now();
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (key === "Escape") {
    held = "";
    last = null;
    if (leave(event.target)) return event.preventDefault();
    if (event.target.closest?.(FIELD)) return event.target.blur();
  } else if (types(event.target) || isText(event)) return;
  const act = key === "Escape" || !off ? actOf(key, event.target) : null;
  early = act || document.readyState === "complete" ? "" : key;
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
document.addEventListener("focusin", follow);
document.addEventListener("pointerdown", () => (last = null), { capture: true });
addEventListener("beforeunload", quiet);
addEventListener("pageshow", () => (quietUntil = 0));
document.querySelector("[data-keys-button]")?.addEventListener("click", showHelp);
// a click beside the dialog closes it
help?.addEventListener("click", (event) => event.target === help && help.close());
