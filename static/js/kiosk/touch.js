/**
 * Turns touches into presses: a control is pressed on release, if the touch began on it. A second
 * finger is ignored, and so is a touch on another control within 400 ms of a press, as a palm or
 * luggage. Only letters, fields and the Next of the guest's details may follow each other faster,
 * because guests type fast.
 */

import { press } from "./el.js";

const PALM_MS = 400;
// events whose effects in the browser are suppressed: menus, zooming, text selection, copy and
// paste, drag and drop (dropping a file would replace the page)
const OF_BROWSER =
  "contextmenu dblclick selectstart gesturestart dragstart dragover drop copy cut paste".split(" ");

export class Touches {
  constructor(root, { touched }) {
    // called for each touch and click anywhere, because they show that the guest is there
    this.touched = touched;
    this.begun = null; // the finger that is down: {node, id, screen}
    this.last = { control: null, at: -Infinity };
    root.addEventListener("pointerdown", (event) => this.#down(event));
    root.addEventListener("pointerup", (event) => this.#up(event));
    root.addEventListener("pointercancel", () => (this.begun = null));
    // a click without a touch comes from a screen reader, or from Enter on a keyboard
    root.addEventListener("click", (event) => event.detail === 0 && this.#click(event));
    for (const kind of OF_BROWSER) root.addEventListener(kind, prevent);
    for (const kind of ["wheel", "touchmove"])
      // prevents zooming, and reloading by pulling down
      root.addEventListener(kind, prevent, { passive: false });
  }

  /** Forget the touches of an ended visit, but still ignore a palm that follows. */
  forget() {
    this.begun = null;
    if (this.last.control) this.last.control = document.body;
  }

  #down(event) {
    const node = controlAt(event); // determined first, because touched() may remove a sheet
    this.touched(node);
    // if the same finger begins again, or a primary one, an earlier release was not reported
    const busy = this.begun && this.begun.id !== event.pointerId && !event.isPrimary;
    if (busy || event.button > 0) return;
    this.begun = { node, id: event.pointerId, screen: screenNow() };
    node?.classList.toggle("is-down", !this.#isPalm(node, event.timeStamp));
  }

  #up(event) {
    if (this.begun?.id !== event.pointerId) return;
    const { node, screen } = this.begun;
    this.begun = null;
    node?.classList.remove("is-down");
    const now = controlAt(event);
    if (!node || !isAgain(now, node, screen) || this.#isPalm(now, event.timeStamp)) return;
    this.last = { control: now, at: event.timeStamp };
    press(now);
  }

  #click(event) {
    const node = event.target.closest("[data-press]");
    this.touched(node);
    if (node) press(node);
  }

  /** Whether a touch is ignored as a palm. */
  #isPalm(node, at) {
    const { control } = this.last;
    if (!control || control === node || at - this.last.at >= PALM_MS) return false;
    return !(isOfTyping(control) && isOfTyping(node)) || isAsking(node);
  }
}

function prevent(event) {
  event.preventDefault();
}

function screenNow() {
  return document.body.dataset.screen;
}

/**
 * Whether the control under a finger (`now`) is the one on which the touch began (`node`, on
 * `screen`). After the screen was drawn anew, a control of the same name and the same words counts
 * as the same, but not one whose price has changed.
 */
function isAgain(now, node, screen) {
  if (!now || node.isConnected) return now === node;
  const same = now.dataset.press === node.dataset.press && now.textContent === node.textContent;
  return same && screen === screenNow();
}

/** Whether a control is a key, a field or the Next of a form. */
function isOfTyping(node) {
  return Boolean(node?.closest(".k-keyboard, .k-entry"));
}

/** Whether a control is a Next other than that of the guest's details: it sends a code or a PIN. */
function isAsking(node) {
  return node.dataset.press === "next" && screenNow() !== "who";
}

/** The control under a finger; the sensitive area of a control reaches below it (kiosk.css). */
function controlAt(event) {
  return document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-press]") ?? null;
}
