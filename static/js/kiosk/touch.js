/**
 * Turns touches into presses: a control is pressed on release, if the touch began on it. A second
 * finger is ignored, and so is a touch on another control within 400 ms of a press, as a palm or
 * luggage. Only keys, fields, the Next of the guest's details and what is below the keys of the
 * panel may follow keys and fields faster, because people type fast.
 */

import { press } from "./el.js";

const PALM_MS = 400;
const TYPED = ".k-keyboard, .k-entry, .k-digits, .k-steps"; // keys, and the fields they write into
const AFTER_TYPED = `${TYPED}, .k-sheet-panel .k-deeds`;
// events whose effects in the browser are suppressed: menus, zooming, text selection, copy and
// paste, drag and drop (dropping a file would replace the page)
const OF_BROWSER =
  "contextmenu dblclick selectstart gesturestart dragstart dragover drop copy cut paste".split(" ");

export class Touches {
  constructor(root, { touched }) {
    // called for each touch and click anywhere, because they show that the guest is there
    this.touched = touched;
    this.begun = null; // the finger that is down: {node, id, screen}
    // the last press; `typed`: whether it was on a key or field, which may be drawn anew by it
    this.last = { control: null, typed: false, at: -Infinity };
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
    if (this.last.control) Object.assign(this.last, { control: document.body, typed: false });
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
    this.last = { control: now, typed: Boolean(now.closest(TYPED)), at: event.timeStamp };
    press(now);
  }

  #click(event) {
    const node = event.target.closest("[data-press]");
    this.touched(node);
    if (node) press(node);
  }

  /** Whether a touch is ignored as a palm. */
  #isPalm(node, at) {
    const { control, typed } = this.last;
    if (!node || !control || control === node || at - this.last.at >= PALM_MS) return false;
    return !(typed && node.closest(AFTER_TYPED)) || isAsking(node);
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

/** Whether a control is the Next of a screen that sends a code or a PIN. */
function isAsking(node) {
  return node.matches('.k-entry [data-press="next"]') && screenNow() !== "who";
}

/** The control under a finger; the sensitive area of a control reaches below it (kiosk.css). */
function controlAt(event) {
  return document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-press]") ?? null;
}
