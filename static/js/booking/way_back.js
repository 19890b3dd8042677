/**
 * The way back, planned by the same press: the server reads its time, which is typed in words, and
 * says its current price. Event: "changed" when the button's text may have to change.
 */

import { ask } from "../shared/ask.js";
import { fitWords } from "../shared/fit_words.js";
import { isShown, setText } from "../shared/slots.js";
import { showChoices } from "./time_choices.js";

const DEBOUNCE_MS = 150;
const AGAIN_MS = 3_000; // wait after a request without an answer

export class WayBack extends EventTarget {
  /**
   * `box` is the part of the form about times, `path` answers what a text means, `there()` is the
   * pickup of the way there: {day, clock, which}, each "" for now. A form that changes a ride has
   * no way back.
   */
  constructor(box, path, there, { signal } = {}) {
    super();
    Object.assign(this, { path, there, signal });
    const part = (this.part = box.querySelector("[data-back]"));
    if (!part) return;
    this.texts = part.dataset;
    this.toggle = box.querySelector("[name=back]");
    this.words = part.querySelector("[name=back_words]");
    this.said = part.querySelector("[data-back-said]");
    this.choices = part.querySelector("[data-back-asked]");
    this.price = part.querySelector("[data-back-price]");
    this.seen = part.querySelector("[data-back-offer]");
    this.offer = ""; // the offer whose way back was priced
    this.known = false; // whether the server has read a time that can be planned
    this.read = ""; // what the server was asked last
    this.asked = 0; // number of the last request: older answers are ignored
    this.answered = Promise.resolve(); // when the last request has its answer
    fitWords(this.words);
    this.toggle.addEventListener("input", () => this.follow());
    this.words.addEventListener("input", () => {
      this.#show({});
      clearTimeout(this.pause);
      this.pause = setTimeout(() => this.settle(), DEBOUNCE_MS);
    });
    this.choices.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button) return;
      event.preventDefault();
      this.words.value = button.value;
      this.words.focus();
      this.settle();
    });
    signal?.addEventListener("abort", () => clearTimeout(this.pause));
    this.follow();
  }

  /** Whether the press plans a way back, too. */
  get wanted() {
    return Boolean(this.toggle?.checked);
  }

  /** Whether there is no way back, or one whose time is known. */
  get ready() {
    return !this.wanted || this.known;
  }

  /** The button's text; `usual` without a way back. */
  button(usual) {
    if (!this.wanted) return usual;
    if (!this.known) return this.texts.sayBack;
    return this.texts.sayWithBack.replace("{button}", () => usual);
  }

  /** The field whose text is asked about. */
  get field() {
    return this.words;
  }

  /** The first button of the question about the time, or null. */
  get question() {
    return this.wanted && isShown(this.choices) ? this.choices.querySelector("button") : null;
  }

  /** What Enter in the field leads to. */
  get offered() {
    return this.question;
  }

  /** The way there may be another: a time of the day alone is the next one after it. */
  follow() {
    if (this.wanted) this.settle();
  }

  /** Resolves when the server has read the text. */
  settle() {
    clearTimeout(this.pause);
    const back = this.words.value.trim();
    const args = { back, ...this.there() };
    const key = back && JSON.stringify(args);
    if (key === this.read) return this.answered;
    this.read = key;
    this.answered = back ? this.#ask(args) : Promise.resolve(this.#show({}));
    return this.answered;
  }

  async #ask(args) {
    const mine = (this.asked += 1);
    const { ok, status, body } = await ask(this.path, args);
    if (mine !== this.asked) return;
    if (!ok) this.read = "";
    if (!ok && status !== 401 && !this.signal?.aborted)
      this.pause = setTimeout(() => this.follow(), AGAIN_MS);
    this.#show(ok ? body : { error: this.texts.sayFailed });
  }

  /** Show an answer; nothing is known of a text before it. */
  #show({ at, said, error, choices = [] }) {
    if (!at && !error) [this.read, this.asked] = ["", this.asked + 1];
    this.known = Boolean(at);
    setText(this.said, error ?? said ?? "");
    this.said.classList.toggle("is-wrong", Boolean(error));
    this.said.classList.toggle("is-known", Boolean(said));
    showChoices(this.choices, "back_choice", choices, this.words);
    this.dispatchEvent(new Event("changed"));
  }

  /** Show the current price of this offer's way back; the form names the offer that was shown. */
  async priceOf(offer) {
    if (!this.wanted || !offer || offer === this.offer) return;
    this.offer = offer;
    this.seen.value = "";
    const { ok, body } = await ask("/return-price.json", { offer });
    if (this.offer !== offer) return;
    if (!ok) this.offer = ""; // the price is requested again with the next change
    this.price.textContent = ok ? body.words : this.texts.sayFailed;
    this.seen.value = (ok && body.offer) || "";
  }
}
