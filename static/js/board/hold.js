/**
 * Keeps the list still while somebody is about to press something in it: what would move its rows
 * waits until the pointer or the focus has left or rests, and for two seconds at most.
 */

const HOLD_MS = 2_000;
const STILL_PX = 4; // a hand that rests on a mouse moves it by less
const MOVED_MS = 500; // how long a person needs to notice that rows have moved

export class Hold {
  /** `body` is the element that holds everything that moves. */
  constructor(body) {
    this.body = body;
    this.waiting = new Map(); // name -> the last change of that name
    this.used = -Infinity; // when the list was last used
    this.at = null; // where the pointer is, while it is over the list
    body.addEventListener("pointermove", (event) => this.#moved(event));
    body.addEventListener("pointerleave", () => {
      this.at = null;
      this.release();
    });
    for (const kind of ["pointerdown", "keydown", "focusin"])
      body.addEventListener(kind, () => this.#use());
    body.addEventListener("focusout", ({ relatedTarget: to }) => {
      if (to && !body.contains(to)) this.release();
    });
  }

  /** Make a change that may move rows: at once, or when nobody is about to press one. */
  change(name, make) {
    this.waiting.set(name, make);
    if (!this.#isUsed()) this.release();
    else this.timer ??= setTimeout(() => this.release(), HOLD_MS);
  }

  /** Make all changes that wait. */
  release() {
    clearTimeout(this.timer);
    this.timer = null;
    this.used = -Infinity;
    const under = this.#under();
    const waiting = [...this.waiting.values()];
    this.waiting.clear();
    for (const make of waiting) make();
    if (this.#under() !== under) this.#shield();
  }

  #isUsed() {
    const isHere = this.at || this.body.contains(document.activeElement);
    return isHere && performance.now() - this.used < HOLD_MS;
  }

  #moved({ clientX: x, clientY: y }) {
    if (this.at && Math.hypot(x - this.at.x, y - this.at.y) < STILL_PX) return;
    this.at = { x, y };
    this.#use();
  }

  #use() {
    this.used = performance.now();
  }

  /** The row or card under the pointer. */
  #under() {
    if (!this.at) return null;
    return document.elementFromPoint(this.at.x, this.at.y)?.closest(".row, .call, .alert");
  }

  /** After another row came under the pointer, ignore presses for a moment. */
  #shield() {
    this.body.classList.add("is-moved");
    clearTimeout(this.shielded);
    this.shielded = setTimeout(() => this.body.classList.remove("is-moved"), MOVED_MS);
  }
}
