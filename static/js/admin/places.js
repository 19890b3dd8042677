/**
 * Place fields of the settings: the list of found places of the booking form, without its map. A
 * name that stands in its row offers *Save* once it differs from what is saved.
 */

import { ask } from "../shared/ask.js";
import { Combobox } from "../shared/combobox.js";

for (const field of document.querySelectorAll("[data-place-field]")) wire(field);

for (const box of document.querySelectorAll(".slot-box")) {
  const name = box.querySelector("input");
  const compare = () => box.classList.toggle("is-saved", name.value === name.defaultValue);
  name.addEventListener("input", compare);
  compare();
}

function wire(field) {
  const part = (name) => field.querySelector(`[data-place-field-${name}]`);
  new Combobox(part("input"), part("list"), {
    find: async (words) => {
      const { body } = await ask("/places.json", { q: words });
      return Array.isArray(body.places) ? body : { places: [], message: field.dataset.failed };
    },
    chosen: (place) => keep(part, place.lat, place.lng, place.name),
    typed: () => keep(part, "", "", ""), // a changed text is searched again
    announce: () => {},
  });
}

function keep(part, lat, lng, name) {
  part("lat").value = lat;
  part("lng").value = lng;
  part("for").value = name;
}
