/**
 * Keys in the list of cars: a digit chooses the car of that number, S the next number of seats. A
 * key pressed while cars are requested waits for them. Outside of that list a digit sets the drop
 * to the favourite place of that number while there is none: it never replaces one.
 */

import { onKey } from "../shared/keys.js";

const LIST = "[data-cars]";

export class CarKeys {
  /** The members of `bookForm` that are used: settled, asking, cars, goTo(slot), toCars(). */
  constructor(bookForm) {
    this.bookForm = bookForm;
    this.waiting = [];
    for (let number = 1; number <= 9; number += 1) {
      onKey(String(number), () => this.#digit(number), LIST);
      onKey(String(number), () => bookForm.goTo(number));
    }
    onKey("s", () => this.#do(() => bookForm.cars.nextSeats()), LIST);
  }

  /** The cars have come: if the focus was waiting in their box, it moves to one of them. */
  arrived() {
    if (document.activeElement === this.bookForm.cars.box) this.bookForm.cars.focus();
    const acts = this.waiting;
    this.waiting = [];
    if (this.bookForm.settled) for (const act of acts) act();
  }

  /** Forget keys that were pressed for another trip. */
  forget() {
    this.waiting = [];
  }

  #digit(number) {
    const amongDrops = document.activeElement.closest("[data-drops]");
    if (!amongDrops && (this.bookForm.settled || this.bookForm.asking))
      this.#do(() => this.bookForm.cars.take(number));
    else if (this.bookForm.goTo(number)) this.bookForm.toCars();
  }

  #do(act) {
    if (this.bookForm.settled) act();
    else if (this.bookForm.asking) this.waiting.push(act);
  }
}
