/** The suggested drops in the box of the cars: the chosen guest's own first. */

import { ask } from "../shared/ask.js";
import { keepFocus } from "../shared/focus.js";
import { setText } from "../shared/slots.js";

export class Drops {
  /**
   * `box` shows the cars; `empty` is the template for the box without a trip; `path` is the
   * address that answers {places}.
   */
  constructor(box, empty, path) {
    Object.assign(this, { box, empty, path });
    this.pattern = document.querySelector("template[data-drop-tile]").content.firstElementChild;
    this.asked = 0;
  }

  /** Show the suggestions for a guest (an id, "" for none) and a pickup ("lat,lng" or ""). */
  async of(guest, pickup) {
    const mine = (this.asked += 1);
    const { ok, body } = await ask(this.path, { end: "drop", guest, other: pickup });
    if (!ok || mine !== this.asked) return;
    for (const root of [this.empty.content, this.box]) {
      const list = root.querySelector("[data-drops]");
      const tiles = (body.places ?? []).map((place) => this.#tile(place));
      if (list) keepFocus(list, () => list.replaceChildren(...tiles), this.box);
    }
  }

  #tile(place) {
    const item = document.importNode(this.pattern, true);
    const words = {
      ...place,
      about: [place.kind, place.minutes].filter(Boolean).join(" · "),
    };
    for (const cell of item.querySelectorAll("[data-cell]"))
      setText(cell, String(words[cell.dataset.cell]));
    item.querySelector("[data-cell=slot]").hidden = !place.slot;
    item.querySelector("button").value = `${place.lat},${place.lng},${place.name}`;
    return item;
  }
}

/** The place of a pressed button, or null: {name, lat, lng}. */
export function suggestedAt(target) {
  const button = target.closest("[data-drop-tile]");
  if (!button) return null;
  const [lat, lng, ...name] = button.value.split(",");
  return { name: name.join(","), lat: Number(lat), lng: Number(lng) };
}
