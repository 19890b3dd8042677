/**
 * The assistive keypad: two or four arrows, Enter, Back and Help. The controls of a screen are one
 * list in reading order; the position before the first control stands for the screen's words, which
 * are read again there.
 */

import { press } from "./el.js";

const HELP_HELD_MS = 5_000;
const STEPS = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };
const BACK = new Set(["Escape", "Backspace", "BrowserBack", "GoBack"]);
const HELP = new Set(["F1", "Help"]);
const HEADPHONES = "F15"; // the key code that the headphone jack sends
// these keys don't interrupt what is read
const PAUSE = new Set(["Pause", "MediaPlayPause"]);
const VOLUME = { AudioVolumeUp: "louder", AudioVolumeDown: "quieter" };
const SKIP = "PageDown"; // leaves the keyboard, as an arrow that is held down does
// keys that open, reload, print or search in a browser; disabled on a kiosk
const BROWSER = /^(F\d+|ContextMenu|(Browser|Launch|Zoom|Print|Find|Open|Save|New|Close).*)$/;

export class Keys {
  /**
   * `act` has the functions touched, hush, pause, louder, quieter, back, help, staff, typed,
   * written, headphones and moved. touched() returns whether it has consumed the key, typed()
   * whether a field took the letter, pause() whether anything was or is read.
   */
  constructor(root, act) {
    this.root = root;
    this.act = act;
    this.held = 0;
    this.skipped = false; // whether the arrow that is held down has left the keyboard
    this.writing = false; // whether the guest is typing on a real keyboard
    addEventListener("keydown", (event) => this.#down(event));
    addEventListener("keyup", (event) => this.#up(event));
    const touched = () => {
      root.classList.remove("is-by-keys");
      this.rest();
    };
    addEventListener("pointerdown", touched, true);
  }

  /** Typing has ended: Enter presses the focused control again. */
  rest() {
    this.#write(false);
  }

  #write(on) {
    this.writing = on;
    this.root.classList.toggle("is-writing", on);
  }

  /** The controls that can be pressed now, in reading order. */
  get list() {
    const over = this.root.querySelector(".k-sheet:last-of-type") ?? this.root;
    return [...over.querySelectorAll("[data-press]:not(:disabled)")].filter(
      (node) => node.checkVisibility?.() ?? node.getClientRects().length > 0,
    );
  }

  /** The position of the focus: {n, of}; n is 0 on the words of the screen. */
  get position() {
    const { list } = this;
    return { n: list.indexOf(document.activeElement) + 1, of: list.length };
  }

  #down(event) {
    const { key } = event;
    // a key that answers "Still there?" does nothing else, because it must not press what is below
    if (this.act.touched()) return void event.preventDefault();
    if (isShortcut(event)) return void event.preventDefault();
    if (key in VOLUME) return this.#then(event, this.act[VOLUME[key]]);
    if (this.#pauses(event)) return void event.preventDefault();
    this.act.hush();
    if (key in STEPS) this.#arrow(key, event);
    else if (key === SKIP) this.#then(event, () => this.#skip());
    else if (key === "Enter") this.#enter(event);
    else if (BACK.has(key)) this.#then(event, () => this.act.back(key, event.repeat));
    else if (HELP.has(key)) this.#then(event, () => this.#help(event));
    else if (key === HEADPHONES) this.#then(event, this.act.headphones);
    else if (key === "Tab") this.#arrow(event.shiftKey ? "ArrowUp" : "ArrowDown", event);
    else if (key.length === 1 && !this.#presses(key)) this.#then(event, () => this.#typed(key));
    else if (BROWSER.test(key)) event.preventDefault();
  }

  #up(event) {
    if (!HELP.has(event.key) || !this.held) return;
    const long = event.timeStamp - this.held >= HELP_HELD_MS;
    this.held = 0;
    if (long) this.act.staff();
    else this.act.help();
  }

  #help(event) {
    if (!event.repeat) this.held = event.timeStamp;
  }

  /**
   * Pause what is read, or go on: with a key of its own, or with Enter while no control or field
   * has the focus. A key that is held down does so once. Returns whether that was all.
   */
  #pauses({ key, repeat }) {
    const onWords = !this.writing && !document.activeElement?.dataset.press;
    if (!PAUSE.has(key) && !(key === "Enter" && onWords)) return false;
    return repeat || this.act.pause();
  }

  /** Whether the space key presses: it does on a control, unless the guest is typing. */
  #presses(key) {
    return key === " " && !this.writing && Boolean(document.activeElement?.dataset.press);
  }

  #typed(letter) {
    this.#write(this.act.typed(letter));
  }

  /**
   * The Enter key presses the focused control. After typing it moves on from the field instead.
   * With the focus on the words of a screen it pauses them, or goes on (see `#pauses`); once they
   * are at their end it reads them again.
   */
  #enter(event) {
    const { activeElement } = document;
    event.preventDefault();
    if (event.repeat) return;
    this.root.classList.add("is-by-keys");
    if (this.writing) this.act.written();
    else if (activeElement?.dataset.press) press(activeElement);
    else this.act.moved(null);
  }

  /** Move to a control, as the arrows do. */
  point(node) {
    if (!node) return;
    this.rest();
    node.focus();
    this.act.moved(node);
  }

  /** An arrow moves once for each press and while it is held; held on the keyboard it leaves it. */
  #arrow(key, event) {
    event.preventDefault();
    if (!event.repeat) this.skipped = false;
    if (this.skipped) return;
    this.skipped = event.repeat && isKey(document.activeElement);
    if (this.skipped) this.#skip();
    else this.#move(key);
  }

  /** Move to the screen's main button, or else to the first control after the keyboard. */
  #skip() {
    const { list } = this;
    const main = list.find((node) => node.classList.contains("k-main"));
    this.root.classList.add("is-by-keys");
    this.point(main ?? list[list.findLastIndex(isKey) + 1]);
  }

  #move(key) {
    this.root.classList.add("is-by-keys");
    this.rest();
    const { list } = this;
    const at = list.indexOf(document.activeElement);
    const upright = key === "ArrowDown" || key === "ArrowUp";
    const next =
      upright && isKey(list[at]) ? this.#row(list, at, STEPS[key]) : at + this.#step(key);
    const node = list[Math.min(next, list.length - 1)] ?? null;
    if (node) node.focus();
    else this.root.querySelector("[data-question]")?.focus();
    this.act.moved(node);
  }

  /** Left and right follow the direction of reading. */
  #step(key) {
    const mirrored = this.root.dir === "rtl" && (key === "ArrowLeft" || key === "ArrowRight");
    return mirrored ? -STEPS[key] : STEPS[key];
  }

  /**
   * For up and down: the index of the nearest key in the row above or below, or of the next control
   * if the keyboard has no such row.
   */
  #row(list, at, step) {
    const from = list[at].getBoundingClientRect();
    const middle = from.left + from.width / 2;
    let best = null;
    for (let i = at + step; isKey(list[i]); i += step) {
      const box = list[i].getBoundingClientRect();
      const rows = Math.round(Math.abs(box.top - from.top) / box.height);
      const off = Math.abs(box.left + box.width / 2 - middle);
      if (rows === 1 && (best === null || off < best.off)) best = { i, off };
      if (rows > 1) break;
    }
    if (best) return best.i;
    let beyond = at;
    while (isKey(list[beyond])) beyond += step;
    return beyond;
  }

  #then(event, act) {
    event.preventDefault();
    act();
  }
}

/**
 * Whether an event is a shortcut such as Ctrl+P or Alt+Left. With AltGr it is none: the key types
 * its third letter.
 */
function isShortcut(event) {
  const modified = event.ctrlKey || event.altKey || event.metaKey;
  return modified && !event.getModifierState("AltGraph");
}

function isKey(node) {
  return Boolean(node?.classList.contains("k-key"));
}
