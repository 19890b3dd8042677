/**
 * Who travels: compares people and bags with what fits into each car, and offers as many cars as
 * they need. Nothing is chosen by itself, and no car is refused. The sentences are those of
 * ridedash/wording/fits.py; the server writes them into cards that it renders.
 */

import { counted } from "../shared/counts.js";
import { keepFocus } from "../shared/focus.js";
import { setText } from "../shared/slots.js";

const BETWEEN = " · ";

export class Party {
  /**
   * `part` has the controls and the texts; null for a form that does not ask. `box` contains the
   * cards, `bar` the line above the button; `when` has the number of cars, and takes another one.
   */
  constructor(part, box, bar, when) {
    Object.assign(this, { part, box, when, texts: part?.dataset ?? {} });
    this.line = bar.querySelector("[data-fits]");
    this.words = bar.querySelector("[data-fits-words]");
    this.button = bar.querySelector("[data-fits-take]");
    this.button.addEventListener("click", () => when.take(Number(this.button.value)));
  }

  /** What the user has said, for a request: {people, bags, cars}; "" for what was not said. */
  get said() {
    const value = (name) => this.part?.querySelector(`[name=${name}]`)?.value ?? "";
    return { people: value("people"), bags: value("bags"), cars: this.when.cars };
  }

  /**
   * Write into each card whether the party fits into as many of its cars as are chosen, and for the
   * chosen car, or null, also above the button. `sums` are the prices of 2, 3, … of that car.
   */
  show(chosen, sums = []) {
    if (!this.part) return;
    const { cars, most } = this.when;
    for (const car of this.box.querySelectorAll("[name=offer]")) {
      const card = car.closest("[data-product]");
      const small = card.querySelector("[data-small]");
      if (!small) continue;
      setText(small, this.#small(car, cars));
      card.querySelector("[data-room]").hidden = Boolean(small.textContent);
      small.parentElement.classList.toggle("is-small", Boolean(small.textContent));
    }
    const words = chosen ? this.#small(chosen, cars) : "";
    const needed = words ? this.#offered(chosen, cars, most) : 0;
    const change = () => {
      this.line.hidden = !words;
      this.button.hidden = !needed;
    };
    keepFocus(this.line, change, this.when.box.querySelector("[name=cars]"));
    setText(this.words, words);
    if (!needed) return;
    this.button.value = needed;
    const sum = sums[needed - 2] ?? "";
    const text = counted(JSON.parse(sum ? this.texts.sayTakeFor : this.texts.sayTake), needed);
    setText(
      this.button,
      text.replace("{sum}", () => sum),
    );
  }

  /** Pairs of what fits into one car, NaN if unknown, and of what the party has, 0 if not said. */
  #sides({ dataset }) {
    const { people, bags } = this.said;
    return [
      [number(dataset.fitsPersons), Number(people)],
      [number(dataset.fitsBags), Number(bags)],
    ];
  }

  /** How many seats of a shared ride are chosen; NaN for other cars. */
  #seats(car) {
    const seat = this.box.querySelector(`[name=seats][data-seat-of="${car.id}"]:checked`);
    return number(seat?.value);
  }

  #small(car, cars) {
    const [[most, people], [bags, theirs]] = this.#sides(car);
    // where more seats would do, the chosen ones are too few
    const persons = people > most * cars ? most : this.#seats(car) || most;
    const parts = [];
    if (people > persons * cars)
      parts.push(this.#counted("sayFitsPeople", persons).replace("{people}", people));
    if (theirs > bags * cars)
      parts.push(
        bags ? this.#counted("sayFitsBags", bags).replace("{bags}", theirs) : this.texts.sayNoBags,
      );
    const needed = parts.length ? this.#needed(car) : 0;
    if (needed > cars) parts.push(this.#counted("sayNeeded", needed));
    return parts.join(BETWEEN);
  }

  /** How many such cars the party needs; 0 if no number is enough. */
  #needed(car) {
    const each = this.#sides(car)
      .filter(([fit, wanted]) => wanted && !Number.isNaN(fit))
      .map(([fit, wanted]) => Math.ceil(wanted / fit));
    return each.every(Number.isFinite) ? Math.max(0, ...each) : 0;
  }

  /** How many cars to offer in place of this many; 0 if no number would do as it is chosen. */
  #offered(car, cars, most) {
    const [[fit]] = this.#sides(car);
    const needed = this.#seats(car) < fit ? 0 : this.#needed(car);
    return needed > cars && needed <= most ? needed : 0;
  }

  #counted(text, n) {
    return counted(JSON.parse(this.texts[text]), n);
  }
}

function number(text) {
  return text ? Number(text) : NaN;
}
