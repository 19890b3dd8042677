/**
 * The form for another drop: a place from the list of the booking form, a favourite by its number,
 * or a click on the map while the panel is open. The price is shown before the button is pressed.
 */

import { ask } from "../shared/ask.js";
import { Combobox } from "../shared/combobox.js";
import { setText } from "../shared/slots.js";

export class DropForm {
  /** `current()` returns the ride's present drop {lat, lng, name}; nothing if it has none. */
  constructor(form, current) {
    form.dataset.ready = "1";
    this.form = form;
    this.map = null;
    this.current = current;
    this.input = form.elements.name;
    this.price = form.querySelector("[data-drop-price]");
    this.favourites = JSON.parse(form.dataset.favourites);
    this.asked = null;
    // text of a form that came back with an error: "Keep the old drop" resets the form, and must
    // not restore this text
    const typed = this.input.value;
    this.input.defaultValue = "";
    this.input.value = typed;
    this.#wireList();
    // Enter in the field moves to the button; the button changes the drop
    this.input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.defaultPrevented || event.isComposing) return;
      event.preventDefault();
      form.querySelector("[type=submit]").focus();
    });
    form
      .closest("details")
      .addEventListener("toggle", (event) => !event.target.open && this.#undo());
  }

  /** Take a place from clicks on `map` while the panel is open. */
  pickOn(map) {
    this.map = map;
    map.onPick(
      (lat, lng) => this.#picked(lat, lng),
      () => this.#wants(),
    );
  }

  #wireList() {
    const list = this.form.querySelector("[role=listbox]");
    this.list = new Combobox(this.input, list, {
      find: (words) => this.#find(words),
      chosen: (place) => this.#setPlace(place),
      typed: () => this.#setPlace(null),
      announce: () => list.scrollIntoView({ block: "nearest" }),
      quick: (words) =>
        /^[1-9]$/.test(words) ? this.favourites.find(({ slot }) => slot === Number(words)) : null,
      // once a place is chosen, Enter waits for no list, and moves to the button
      waits: () => !this.form.elements.lat.value,
      settled: () => Boolean(this.form.elements.lat.value),
    });
  }

  async #find(words) {
    const old = this.current(); // the present drop is not suggested as a new one
    const other = old ? `${old.lat},${old.lng}` : "";
    const { ok, body } = await ask("/places.json", { q: words, end: "drop", map: 1, other });
    const places = body.places ?? [];
    // this message is shown below the field: as a list it would cover the buttons
    if (words && !places.length && words === this.input.value.trim())
      this.#show({ words: body.message || (ok ? "" : this.form.dataset.trouble) });
    return { places, credit: body.credit };
  }

  /** Whether the form takes clicks on the map. */
  #wants() {
    return this.form.isConnected && this.form.closest("details").open;
  }

  #picked(lat, lng) {
    if (!this.#wants()) return;
    const words = `${this.form.dataset.pinned} (${lat.toFixed(5)}, ${lng.toFixed(5)})`;
    this.list.close();
    this.input.value = words;
    this.#setPlace({ lat, lng, name: words });
  }

  /** Set a place, or none while the user types. The previous price and error are removed. */
  #setPlace(place) {
    const { lat, lng } = this.form.elements;
    lat.value = place?.lat ?? "";
    lng.value = place?.lng ?? "";
    this.input.removeAttribute("aria-invalid");
    this.form.parentElement.querySelector("#form-error")?.remove();
    this.#show({ words: "" });
    if (!place) return;
    this.map?.pin("drop", place.lat, place.lng, place.name);
    this.#ask(place);
  }

  async #ask({ lat, lng }) {
    const mine = (this.asked = new AbortController());
    setText(this.price, this.form.dataset.asking);
    const { body } = await ask(
      this.form.dataset.price,
      { drop_lat: lat, drop_lng: lng },
      mine.signal,
    );
    if (mine === this.asked) this.#show({ words: this.form.dataset.noPrice, ...body });
  }

  /** Show a sentence above the button; `wrong`: whether it says that this drop can't be chosen. */
  #show({ words, wrong = false }) {
    this.asked?.abort();
    this.asked = null;
    setText(this.price, words);
    this.price.classList.toggle("is-wrong", wrong);
  }

  #undo() {
    this.form.reset();
    this.list.close();
    this.#setPlace(null);
    const drop = this.current();
    if (drop) this.map?.pin("drop", drop.lat, drop.lng, drop.name);
  }
}
