/**
 * A ride to a flight or from one: asks the server for a pickup time, and shows its calculation with
 * a button.
 * The button is one of the quick choices of the pickup's time (when.js); nothing is set by itself.
 * Event: "changed" after each answer.
 */

import { ask } from "../shared/ask.js";
import { keepFocus } from "../shared/focus.js";
import { isShown, setText } from "../shared/slots.js";
import { showChoices } from "./time_choices.js";

const DEBOUNCE_MS = 200;

export class Flight extends EventTarget {
  /**
   * `box` has the fields; `cars()` returns the list of cars, which knows the duration of the trip.
   */
  constructor(box, path, cars) {
    super();
    Object.assign(this, { box, path, cars });
    this.wanted = box.querySelector("[name=for_flight]");
    this.departs = box.querySelector("[name=departs]");
    this.ways = [...box.querySelectorAll("[name=flight_way]")];
    this.chosen = false; // whether the user said that the flight departs or lands
    this.said = box.querySelector("[data-flight-said]");
    this.take = box.querySelector("[data-flight-take]");
    this.choices = box.querySelector("[data-flight-asked]");
    this.asked = 0;
    this.shown = "";
    this.answered = Promise.resolve(); // when the last request has its answer
    this.departs.addEventListener("input", () => {
      clearTimeout(this.pause);
      this.pause = setTimeout(() => this.propose(), DEBOUNCE_MS);
    });
    for (const way of this.ways)
      way.addEventListener("change", () => {
        this.chosen = true;
        this.propose();
      });
    this.choices.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button) return;
      event.preventDefault();
      this.departs.value = button.value;
      this.departs.focus();
      this.propose();
    });
  }

  /** The trip has changed: a pickup at an airport is for a flight that lands. */
  suggest(lands) {
    if (this.chosen) return;
    for (const way of this.ways) way.checked = way.value === (lands ? "lands" : "departs");
    this.propose();
  }

  /** The field whose text is asked about. */
  get field() {
    return this.departs;
  }

  /** The first button of the question about the time, or null. */
  get question() {
    return isShown(this.choices) ? this.choices.querySelector("button") : null;
  }

  /** What Enter in the field leads to: the question, else the proposed pickup; null for none. */
  get offered() {
    return this.question ?? (isShown(this.take) ? this.take : null);
  }

  /** Resolves when the server has read the text. */
  settle() {
    return this.propose();
  }

  /** Ask again if the time, the way or the duration has changed. Resolves after the answer. */
  propose() {
    clearTimeout(this.pause);
    const minutes = this.cars().querySelector("[data-travel-min]")?.dataset.travelMin ?? "";
    const departs = this.departs.value;
    const way = this.ways.find((each) => each.checked)?.value ?? "";
    const key = JSON.stringify([departs, minutes, way]);
    if (key === this.shown || !this.wanted.checked) return this.answered;
    this.shown = key;
    this.answered = this.#read({ departs, minutes, way });
    return this.answered;
  }

  async #read({ departs, minutes, way }) {
    const mine = (this.asked += 1);
    const { ok, body } = await ask(this.path, { departs, minutes, way });
    if (mine !== this.asked) return;
    if (!ok) this.shown = ""; // asked again with the next prices
    setText(this.said, body.said ?? "");
    this.said.hidden = !body.said;
    this.said.classList.toggle("is-wrong", Boolean(body.wrong));
    showChoices(this.choices, "departs_choice", body.choices ?? [], this.departs);
    keepFocus(this.take, () => (this.take.hidden = !body.take), this.departs);
    this.take.value = body.take ?? "";
    setText(this.take, body.button ?? "");
    this.dispatchEvent(new Event("changed"));
  }
}
