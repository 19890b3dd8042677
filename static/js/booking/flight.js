/**
 * A ride to a flight: asks the server for a pickup time, and shows its calculation with a button.
 * The button is one of the quick choices of the pickup's time (when.js); nothing is set by itself.
 */

import { ask } from "../shared/ask.js";
import { setText } from "../shared/slots.js";

const DEBOUNCE_MS = 200;

export class Flight {
  /**
   * `box` has the fields; `cars()` returns the list of cars, which knows the duration of the trip.
   */
  constructor(box, path, cars) {
    Object.assign(this, { box, path, cars });
    this.wanted = box.querySelector("[name=for_flight]");
    this.departs = box.querySelector("[name=departs]");
    this.said = box.querySelector("[data-flight-said]");
    this.take = box.querySelector("[data-flight-take]");
    this.asked = 0;
    this.shown = "";
    this.departs.addEventListener("input", () => {
      clearTimeout(this.pause);
      this.pause = setTimeout(() => this.propose(), DEBOUNCE_MS);
    });
    this.wanted.addEventListener("change", () => {
      if (this.wanted.checked) box.querySelector("[name=flight]").focus();
    });
  }

  /** Ask again if the departure or the duration has changed. */
  async propose() {
    const minutes = this.cars().querySelector("[data-travel-min]")?.dataset.travelMin ?? "";
    const departs = this.departs.value;
    const key = JSON.stringify([departs, minutes]);
    if (key === this.shown || !this.wanted.checked) return;
    this.shown = key;
    const mine = (this.asked += 1);
    const { ok, body } = await ask(this.path, { departs, minutes });
    if (mine !== this.asked) return;
    if (!ok) this.shown = ""; // asked again with the next prices
    setText(this.said, body.said ?? "");
    this.said.hidden = !body.said;
    this.said.classList.toggle("is-wrong", Boolean(body.wrong));
    this.take.hidden = !body.take;
    this.take.value = body.take ?? "";
    setText(this.take, body.button ?? "");
  }
}
