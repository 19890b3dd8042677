/**
 * A series of planned rides: its dates, which the server counts, are shown before the button plans
 * them. Event: "changed" when the button's text may have to change.
 */

import { ask } from "../shared/ask.js";
import { keepFocus } from "../shared/focus.js";
import { nodesOf } from "../shared/markup.js";

const PAUSE_MS = 250; // wait for a pause while the user types a day
const AGAIN_MS = 3_000; // wait after a request without an answer

export class Series extends EventTarget {
  /**
   * `part` is the part of the form with these fields; null for a form without them. `later()` is
   * whether the form is for later, which alone has a series.
   */
  constructor(part, later, { signal } = {}) {
    super();
    Object.assign(this, { part, later, signal, texts: part?.dataset ?? {} });
    if (!part) return;
    this.key = part.querySelector("[data-dates-key]");
    this.list = part.querySelector("[data-dates]");
    this.words = part.querySelector("[data-dates-words]");
    this.form = this.key.form;
    this.planned = this.key.value ? this.list.querySelectorAll("li").length : 0;
    signal?.addEventListener("abort", () => clearTimeout(this.waiting));
    part.addEventListener("input", () => this.#soon());
  }

  /** Whether the form is for a series. */
  get wanted() {
    return this.later() && Boolean(this.part?.querySelector("[name=days]:checked"));
  }

  /** Whether there is no series, or one whose dates are shown. */
  get ready() {
    return !this.wanted || this.planned > 0;
  }

  /** The button's text; `usual` without a series. */
  button(usual, { name, price }) {
    if (!this.wanted) return usual;
    if (!this.planned) return this.texts.sayChooseDates;
    const { sayPlan } = this.list.querySelector("[data-say-plan]").dataset;
    return this.texts.sayEachNow
      .replace("{button}", () => sayPlan.replace("{car}", () => name))
      .replace("{price}", () => price);
  }

  /** The pickup's day or time may have changed: update the dates. */
  follow() {
    if (!this.part) return;
    const at = ["pickup_date", "pickup_time", "pickup_which"]
      .map((name) => this.#value(name))
      .join(" ");
    if (at === this.at) return;
    this.at = at;
    if (this.wanted) this.#soon();
  }

  #value(name) {
    return this.form.elements.namedItem(name)?.value ?? "";
  }

  #soon() {
    this.asking = null;
    this.#show("", "", "");
    clearTimeout(this.waiting);
    if (this.wanted) this.waiting = setTimeout(() => this.#load(), PAUSE_MS);
  }

  async #load() {
    const days = [...this.part.querySelectorAll("[name=days]:checked")].map((day) => day.value);
    const params = { days: days.join(",") };
    for (const name of ["last_day", "pickup_date", "pickup_time", "pickup_which"])
      params[name] = this.#value(name);
    const mine = (this.asking = {});
    const { status, body } = await ask("/series.json", params);
    if (mine !== this.asking) return; // another day was typed meanwhile
    if (![200, 401].includes(status) && !this.signal?.aborted)
      this.waiting = setTimeout(() => this.#load(), AGAIN_MS);
    const words = body.words ?? (status === 200 ? "" : this.texts.sayFailed);
    this.#show(body.html ?? "", body.key ?? "", words);
  }

  #show(html, key, words) {
    const last = this.form.elements.namedItem("last_day");
    keepFocus(this.list, () => this.list.replaceChildren(...nodesOf(html)), last);
    this.key.value = key;
    this.words.textContent = words;
    this.planned = key ? this.list.querySelectorAll("li").length : 0;
    this.dispatchEvent(new Event("changed"));
  }
}
