/**
 * A field for a phone number: shows how the server reads the number while it is typed, and asks
 * which one is meant if it may be several. What was read of an earlier text never stays.
 * Event: "changed" when there is another answer or another choice.
 */

import { askQuietly } from "../shared/ask.js";
import { keepFocus } from "../shared/focus.js";
import { nodesOf } from "../shared/markup.js";
import { isShown } from "../shared/slots.js";
import { leadBack } from "./question.js";

const DEBOUNCE_MS = 200;

const CHOICE = "input[type=radio]";

export class GuestPhone extends EventTarget {
  /**
   * `field` is the input, `box` the place below it; `guest()` is the id of the chosen guest;
   * `next()` is the field after this one.
   */
  constructor(field, box, { path, token, guest, next, signal }) {
    super();
    Object.assign(this, { field, box, path, token, guest, next, signal });
    this.answered = Promise.resolve(); // when the last request has its answer
    this.shown = field.value;
    this.asked = 0;
    field.addEventListener("input", () => {
      this.#forget();
      clearTimeout(this.pause);
      this.pause = setTimeout(() => this.read({ typing: true }), DEBOUNCE_MS);
    });
    field.addEventListener("change", () => this.read());
    box.addEventListener("change", () => {
      field.removeAttribute("aria-invalid");
      this.dispatchEvent(new Event("changed"));
    });
    field.addEventListener("keydown", ({ key, shiftKey }) => {
      if (key === "Tab" && !shiftKey) leadBack(this, this.signal);
    });
  }

  /** The first number of a question that is not answered, or null. */
  get question() {
    const first = this.box.querySelector(CHOICE);
    return isShown(first) && !this.box.querySelector(`${CHOICE}:checked`) ? first : null;
  }

  /** What Enter in the field leads to. */
  get offered() {
    return this.question;
  }

  /** Resolves when the server has read the text. */
  settle() {
    return this.read();
  }

  /** The numbers of an earlier text can't be chosen for another one. */
  #forget() {
    if (!this.box.querySelector(CHOICE)) return;
    this.asked += 1;
    this.shown = null;
    this.#show("", false);
  }

  /**
   * Show how the text of the field is read, unless it is shown already. While somebody is `typing`,
   * a number that is not whole yet is no error.
   */
  read({ typing = false } = {}) {
    clearTimeout(this.pause);
    const typed = this.field.value;
    if (typed === this.shown) return this.answered;
    this.shown = typed;
    this.answered = this.#ask(typed, typing);
    return this.answered;
  }

  async #ask(typed, typing) {
    const mine = (this.asked += 1);
    if (!typed.trim()) return this.#show("", false);
    const { ok, body } = await askQuietly(
      this.path,
      {
        q: typed,
        field: this.field.name,
        guest: this.guest(),
        csrf_token: this.token.value,
      },
      this.signal,
    );
    if (mine !== this.asked) return;
    const early = typing && body.wrong;
    if (!ok || early) this.shown = null; // asked again with the next change
    this.#show(ok && !early ? body.html : "", ok && !early && body.wrong);
  }

  #show(html, wrong) {
    const nodes = nodesOf(html);
    keepFocus(this.box, () => this.box.replaceChildren(...nodes), this.next());
    if (wrong) this.field.setAttribute("aria-invalid", "true");
    else this.field.removeAttribute("aria-invalid");
    this.dispatchEvent(new Event("changed"));
  }
}
