/**
 * How a touch becomes a press: on release, inside the control where it began. A second finger, and
 * a touch on another control within 400 ms, is a palm or a piece of luggage.
 */

import { press } from "./el.js";

const PALM_MS = 400;
// menus, marked words, and what is dropped or pasted: a page that was left by a file is lost
const OF_BROWSER =
  "contextmenu dblclick selectstart gesturestart dragstart dragover drop copy cut paste".split(" ");

export class Touches {
  constructor(root, { touched }) {
    this.touched = touched; // each touch, wherever it is: the guest is there
    this.begun = null; // {node, id}: the finger that is down, and the control under it
    this.last = { control: null, at: -Infinity };
    root.addEventListener("pointerdown", (event) => this.#down(event));
    root.addEventListener("pointerup", (event) => this.#up(event));
    root.addEventListener("pointercancel", () => (this.begun = null));
    // a click without a touch is a screen reader's, or the Enter of a keyboard
    root.addEventListener("click", (event) => event.detail === 0 && this.#click(event));
    for (const kind of OF_BROWSER) root.addEventListener(kind, prevent);
    for (const kind of ["wheel", "touchmove"])
      root.addEventListener(kind, prevent, { passive: false }); // zoom, and pulling to reload
  }

  /** The visit is over, and its controls with it: a palm is still a palm. */
  forget() {
    this.begun = null;
    if (this.last.control) this.last.control = document.body;
  }

  #down(event) {
    const node = controlAt(event); // before: a touch may take a sheet away
    this.touched();
    // a finger that begins again was lifted where nobody told us
    const busy = this.begun && this.begun.id !== event.pointerId && !event.isPrimary;
    if (busy || event.button > 0) return;
    this.begun = { node, id: event.pointerId };
    node?.classList.toggle("is-down", !this.#isPalm(node, event.timeStamp));
  }

  #up(event) {
    if (this.begun?.id !== event.pointerId) return;
    const { node } = this.begun;
    this.begun = null;
    node?.classList.remove("is-down");
    if (!node || controlAt(event) !== node || this.#isPalm(node, event.timeStamp)) return;
    this.last = { control: node, at: event.timeStamp };
    press(node);
  }

  #click(event) {
    this.touched();
    const node = event.target.closest("[data-press]");
    if (node) press(node);
  }

  /** Two letters of a keyboard may follow each other as fast as a guest can type. */
  #isPalm(node, at) {
    const { control } = this.last;
    if (!control || control === node || at - this.last.at >= PALM_MS) return false;
    return !(isKey(control) && isKey(node));
  }
}

function prevent(event) {
  event.preventDefault();
}

function isKey(node) {
  return node?.classList.contains("k-key");
}

/** The control under a finger; its sensitive area reaches below it (kiosk.css). */
function controlAt(event) {
  return document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-press]") ?? null;
}
