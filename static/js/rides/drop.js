/**
 * The form for another drop: a place by name from /places.json, or a click on the map while the
 * panel is open.
 */

import { element, setText } from "../shared/slots.js";

const TYPING_MS = 250;
const MIN_LETTERS = 2;

export class DropForm {
  /**
   * `pickup` {lat, lng} is the centre of the search; `current()` returns the drop to go back to.
   */
  constructor(form, map, pickup, current) {
    form.dataset.ready = "1";
    this.form = form;
    this.map = map;
    this.pickup = pickup;
    this.current = current;
    this.input = form.elements.name;
    this.list = form.querySelector("[role=listbox]");
    this.hint = form.querySelector("[data-drop-hint]");
    this.places = [];
    this.active = -1;
    this.round = 0;
    this.timer = null;
    // from a form with an error; "Keep the old drop" does not go back to it
    const typed = this.input.value;
    this.input.defaultValue = "";
    this.input.value = typed;
    this.input.addEventListener("input", () => this.#typed());
    this.input.addEventListener("focus", () => this.form.elements.lat.value || this.#search());
    this.input.addEventListener("keydown", (event) => this.#key(event));
    this.input.addEventListener("blur", () => setTimeout(() => this.#shut(), 150));
    form
      .closest("details")
      .addEventListener("toggle", (event) => !event.target.open && this.#undo());
    map?.onPick(
      (lat, lng) => this.#picked(lat, lng),
      () => this.#wants(),
    );
  }

  #typed() {
    this.form.elements.lat.value = this.form.elements.lng.value = "";
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#search(), TYPING_MS);
  }

  async #search() {
    const text = this.input.value.trim();
    const round = (this.round += 1);
    if (text.length < MIN_LETTERS) return this.#shut();
    const query = new URLSearchParams({ q: text, lat: this.pickup.lat, lng: this.pickup.lng });
    try {
      const answer = await fetch(`/places.json?${query}`, {
        headers: { Accept: "application/json" },
        credentials: "same-origin",
      });
      if (round !== this.round) return undefined;
      if (!answer.ok) throw new Error(String(answer.status));
      this.#offer((await answer.json()).places ?? []);
    } catch {
      if (round === this.round) setText(this.hint, this.form.dataset.trouble);
    }
    return undefined;
  }

  #offer(places) {
    this.places = places;
    this.active = -1;
    setText(this.hint, places.length ? "" : this.form.dataset.none);
    this.list.replaceChildren(
      ...places.map((place, i) => {
        const option = element("li", "combo-option");
        option.id = `drop-place-${i}`;
        option.setAttribute("role", "option");
        option.append(
          element("bdi", "strong", place.name),
          element("span", "hint", [place.kind, place.area].filter(Boolean).join(" · ")),
        );
        option.addEventListener("pointerdown", (event) => event.preventDefault());
        option.addEventListener("click", () => this.#choose(i));
        return option;
      }),
    );
    this.#open(places.length > 0);
    if (places.length) this.list.scrollIntoView({ block: "nearest" });
  }

  #key(event) {
    if (this.list.hidden) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) this.#activate((this.active + step + this.places.length) % this.places.length);
    else if (event.key === "Enter" && this.active >= 0) this.#choose(this.active);
    else if (event.key === "Escape") this.#shut();
    else return;
    event.preventDefault();
  }

  #activate(index) {
    this.active = index;
    [...this.list.children].forEach((option, i) =>
      option.setAttribute("aria-selected", String(i === index)),
    );
    this.input.setAttribute("aria-activedescendant", `drop-place-${index}`);
    this.list.children[index].scrollIntoView({ block: "nearest" });
  }

  #choose(index) {
    const place = this.places[index];
    this.input.value = place.name;
    this.#set(place.lat, place.lng, place.name);
    this.#shut();
  }

  /** Whether the form takes clicks on the map. */
  #wants() {
    return this.form.isConnected && this.form.closest("details").open;
  }

  #picked(lat, lng) {
    if (!this.#wants()) return;
    this.input.value = `${this.form.dataset.pinned} ${lat.toFixed(5)}, ${lng.toFixed(5)}`;
    this.#set(lat, lng, this.form.dataset.pinned);
  }

  #set(lat, lng, name) {
    this.form.elements.lat.value = lat;
    this.form.elements.lng.value = lng;
    this.map?.pin("drop", lat, lng, name);
  }

  #undo() {
    this.form.reset();
    this.#shut();
    const drop = this.current();
    if (drop) this.map?.pin("drop", drop.lat, drop.lng, drop.name);
  }

  #open(open) {
    this.list.hidden = !open;
    this.input.setAttribute("aria-expanded", String(open));
    if (!open) this.input.removeAttribute("aria-activedescendant");
  }

  #shut() {
    this.#open(false);
  }
}
