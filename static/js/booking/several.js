/**
 * Several rides by one press: the way back with its current price, and the dates of a series, which
 * are shown before the button plans them. The server computes both. Event: "changed" when the
 * button's text may have to change.
 */

import { ask } from "../shared/ask.js";
import { keepFocus } from "../shared/focus.js";
import { nodesOf } from "../shared/markup.js";

const PAUSE_MS = 250; // wait for a pause while the user types a date
const AGAIN_MS = 3_000; // wait after a request without an answer

export class Several extends EventTarget {
  /** `part` is the part of the form with these fields; null for a form without them. */
  constructor(part, { signal } = {}) {
    super();
    this.part = part;
    this.texts = part?.dataset ?? {};
    this.offer = ""; // the offer whose way back was priced
    this.signal = signal;
    if (!part) return;
    const find = (name) => part.querySelector(`[data-${name}]`);
    this.back = part.querySelector("[name=back]");
    this.price = find("back-price");
    this.seen = find("back-offer");
    this.key = find("dates-key");
    this.list = find("dates");
    this.words = find("dates-words");
    this.form = this.back.form;
    this.planned = this.key.value ? this.list.querySelectorAll("li").length : 0;
    signal?.addEventListener("abort", () => clearTimeout(this.waiting));
    this.form.addEventListener("input", ({ target }) => this.#typed(target.name), { signal });
  }

  /** Whether the form is for a series. */
  get isSeries() {
    return Boolean(this.part?.querySelector("[name=days]:checked"));
  }

  get #wantsBack() {
    return Boolean(this.back?.checked);
  }

  /** Whether everything that the user began to fill in is complete. */
  get ready() {
    if (this.isSeries) return this.planned > 0;
    return !this.#wantsBack || Boolean(this.#value("back_date") && this.#value("back_time"));
  }

  /** The button's text; `usual` if there is no series and no way back. */
  button(usual, { name, price }) {
    if (!this.isSeries && !this.#wantsBack) return usual;
    if (!this.ready) return this.isSeries ? this.texts.sayChooseDates : this.texts.sayBack;
    if (!this.isSeries) return this.texts.sayWithBack.replace("{button}", () => usual);
    const { sayPlan } = this.list.querySelector("[data-say-plan]").dataset;
    return this.texts.sayEachNow
      .replace("{button}", () => sayPlan.replace("{car}", () => name))
      .replace("{price}", () => price);
  }

  /** Show the current price of this offer's way back; the form names the offer that was shown. */
  async priceOf(offer) {
    if (!this.#wantsBack || !offer || offer === this.offer) return;
    this.offer = offer;
    this.seen.value = "";
    const { ok, body } = await ask("/return-price.json", { offer });
    if (this.offer !== offer) return;
    if (!ok) this.offer = ""; // the price is requested again with the next change
    this.price.textContent = ok ? body.words : this.texts.sayFailed;
    this.seen.value = (ok && body.offer) || "";
  }

  /** The pickup's day or time may have changed: update the dates. */
  follow() {
    if (!this.part) return;
    const at = ["pickup_date", "pickup_time", "pickup_which"]
      .map((name) => this.#value(name))
      .join(" ");
    if (at === this.at) return;
    this.at = at;
    this.#backAfter();
    if (this.isSeries) this.#soon();
  }

  #value(name) {
    return this.form.elements.namedItem(name)?.value ?? "";
  }

  /** Don't propose a day for the way back before the way there. */
  #backAfter() {
    const [there, back] = ["pickup_date", "back_date"].map((name) =>
      this.form.elements.namedItem(name),
    );
    if (there?.value && back && back.value < there.value) back.value = there.value;
  }

  #typed(name) {
    if (name === "back") {
      this.#backAfter();
      this.dispatchEvent(new Event("changed"));
    }
    if (["days", "last_day"].includes(name)) this.#soon();
    if (["back_date", "back_time"].includes(name)) this.dispatchEvent(new Event("changed"));
  }

  #soon() {
    this.asking = null;
    this.#show("", "", "");
    clearTimeout(this.waiting);
    if (this.isSeries) this.waiting = setTimeout(() => this.#load(), PAUSE_MS);
  }

  async #load() {
    const days = [...this.part.querySelectorAll("[name=days]:checked")].map((day) => day.value);
    const params = { days: days.join(",") };
    for (const name of ["last_day", "pickup_date", "pickup_time", "pickup_which"])
      params[name] = this.#value(name);
    const mine = (this.asking = {});
    const { status, body } = await ask("/series.json", params);
    if (mine !== this.asking) return; // another date was typed meanwhile
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
