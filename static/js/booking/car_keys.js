/**
 * Keys in the list of cars: a digit chooses the car of that number, S the next number of seats. A
 * key pressed while cars are requested waits for them. Without a trip, a digit chooses a favourite
 * drop.
 */

import { onKey } from "../shared/keys.js";

const LIST = "[data-cars]";

export class CarKeys {
  /** The members of `form` that are used: settled, asking, cars, goTo(slot), toCars(). */
  constructor(form) {
    this.form = form;
    this.waiting = [];
    for (let number = 1; number <= 9; number += 1) {
      onKey(String(number), () => this.#digit(number), LIST);
      onKey(String(number), () => form.goTo(number));
    }
    onKey("s", () => this.#do(() => form.cars.nextSeats()), LIST);
  }

  /** The cars have come: if the focus was waiting in their box, it moves to one of them. */
  arrived() {
    if (document.activeElement === this.form.cars.box) this.form.cars.focus();
    const acts = this.waiting;
    this.waiting = [];
    if (this.form.settled) for (const act of acts) act();
  }

  /** Forget keys that were pressed for another trip. */
  forget() {
    this.waiting = [];
  }

  #digit(number) {
    const amongDrops = document.activeElement.closest("[data-drops]");
    if (!amongDrops && (this.form.settled || this.form.asking))
      this.#do(() => this.form.cars.take(number));
    else if (this.form.goTo(number)) this.form.toCars();
  }

  #do(act) {
    if (this.form.settled) act();
    else if (this.form.asking) this.waiting.push(act);
  }
}
