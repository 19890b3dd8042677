/** Undo for a drop that was replaced or cleared: by its button or the key Z. */

import { keepFocus } from "../shared/focus.js";
import { onKey } from "../shared/keys.js";

export class FormerDrop {
  /** `part` is the line that names the former drop; `usable()`: whether the form can be changed. */
  constructor(part, trip, usable) {
    Object.assign(this, { part, trip, usable });
    this.said = part.querySelector("[data-former-said]");
    this.button = part.querySelector("button");
    this.button.addEventListener("click", () => this.#undo());
    trip.addEventListener("moved", () => this.#show());
    onKey("z", () => this.#undo());
  }

  #show() {
    const { former } = this.trip;
    const words = former ? this.part.dataset.say.replace("{place}", () => former.name) : "";
    this.said.textContent = this.button.title = words;
    const { input } = this.trip.ends.drop;
    keepFocus(this.button, () => (this.button.hidden = !former), input);
  }

  /** The drops change places, so that a second press takes the first one back. */
  #undo() {
    if (this.trip.former && this.usable()) this.trip.put("drop", this.trip.former);
  }
}
