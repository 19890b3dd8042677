/**
 * A text field with a list of places or people (ARIA combobox with listbox). Arrow keys, Home, End,
 * Enter, Escape and Tab work. The option that Enter takes is marked from the start; a pointer that
 * rests where the list opens marks nothing. Knows nothing of rides.
 *
 * `find(words)` resolves to {places, message, credit}; `chosen(place, byKey, paused)` receives the
 * choice, `paused` if it was taken after a pause; `typed(value)` runs on input; `announce(count)`
 * is called when a list with results is shown.
 * `best(places)` is the index that is marked first, and that Enter takes (-1: none; then `none()`
 * may use the words, and returns whether it did). `waits(words)`: whether Enter waits for an
 * answer. `settled()`: whether the field holds a choice, which Enter leaves as it is.
 * `quick(words)` is a place that these words stand for by themselves, or nothing: it is taken after
 * a pause, or at once by Enter or Tab. `eager` opens the list when an empty field gets the focus.
 */

const DEBOUNCE_MS = 180;
const QUICK_MS = 400; // long enough to continue typing: "1" may be the start of "12.95, 77.6"

export class Combobox {
  constructor(
    input,
    list,
    {
      find,
      chosen,
      typed,
      announce,
      best = () => 0,
      none = () => false,
      waits = () => true,
      settled = () => false,
      quick = () => null,
      eager = true,
    },
  ) {
    Object.assign(this, { input, list, find, chosen, typed, announce, best, none, waits, settled });
    Object.assign(this, { quick, eager });
    this.short = null; // the place that the typed words stand for
    this.brief = ""; // the words for which such a place was taken after a pause
    this.places = [];
    this.words = ""; // the words that the shown list belongs to
    this.dirty = false; // whether the user typed since the last focus or choice
    this.active = -1; // the marked option
    this.moved = false; // whether the user moved the mark: only then Tab takes the marked option
    this.asked = 0; // number of the last request: older answers are ignored
    this.timer = null;
    this.#wire();
  }

  #wire() {
    const { input, list } = this;
    input.setAttribute("role", "combobox");
    input.setAttribute("aria-autocomplete", "list");
    input.setAttribute("aria-expanded", "false");
    input.setAttribute("aria-controls", list.id);
    input.addEventListener("input", ({ inputType, data }) => {
      // who types on after the pause meant other words: "1", then "2 High Street"
      if (this.brief && inputType === "insertText" && input.value === data)
        input.value = this.brief + data;
      this.brief = "";
      this.dirty = true;
      this.typed(input.value);
      this.#unmark();
      this.short = this.quick(input.value.trim());
      this.#soon();
    });
    input.addEventListener("focus", () => {
      this.dirty = false;
      input.select();
      if (!input.value && this.eager) this.#ask();
    });
    input.addEventListener("click", () => !this.open && this.#ask());
    input.addEventListener("keydown", (event) => this.#key(event));
    input.addEventListener("blur", () => {
      this.brief = "";
      this.close();
    });
    // a press in the list keeps the focus in the field
    list.addEventListener("pointerdown", (event) => event.preventDefault());
    // hover is shown after a movement: the list may have opened below a resting pointer
    list.addEventListener("pointermove", ({ movementX, movementY }) => {
      if (movementX || movementY) list.classList.add("is-pointed");
    });
    list.addEventListener("click", (event) => {
      const option = event.target.closest("[data-index]");
      if (option) this.#choose(Number(option.dataset.index));
    });
  }

  get open() {
    return !this.list.hidden;
  }

  /**
   * Whether the shown list belongs to the words in the field; keys choose nothing from another.
   */
  get #fresh() {
    return this.words === this.input.value.trim();
  }

  close() {
    clearTimeout(this.timer);
    this.short = null;
    this.asked += 1;
    this.list.hidden = true;
    this.#unmark();
    this.input.setAttribute("aria-expanded", "false");
  }

  #soon() {
    clearTimeout(this.timer);
    this.timer = this.short
      ? setTimeout(() => this.#takeShort(), QUICK_MS)
      : setTimeout(() => this.#ask(), DEBOUNCE_MS);
  }

  /**
   * `first`: take the best place of the answer, because the user pressed Enter before the list
   * came.
   */
  async #ask({ first = false } = {}) {
    clearTimeout(this.timer);
    const mine = (this.asked += 1);
    const words = this.input.value.trim();
    const { places, message, credit } = await this.find(words);
    if (mine !== this.asked || document.activeElement !== this.input) return;
    if (words !== this.input.value.trim()) return; // the user typed on: the next answer is coming
    this.words = words;
    this.#show(places, places.length ? credit : message);
    if (!first || !words) return;
    if (this.best(places) >= 0) this.#choose(this.best(places), true);
    else if (this.none()) this.close();
  }

  /** Show `words` below the places, or in place of them. */
  #show(places, words) {
    this.places = places;
    this.#unmark();
    this.list.replaceChildren(...places.map((place, index) => this.#option(place, index)));
    if (words) {
      const line = document.createElement("li");
      line.className = "secondary place-none small";
      line.setAttribute("role", "option");
      line.setAttribute("aria-disabled", "true");
      line.textContent = words;
      this.list.append(line);
    }
    this.list.hidden = this.list.children.length === 0;
    this.list.classList.remove("is-pointed");
    this.input.setAttribute("aria-expanded", String(this.open));
    if (this.best(places) >= 0 && places.length) this.#mark(this.best(places));
    if (places.length) this.announce(places.length);
  }

  #option(place, index) {
    const option = document.createElement("li");
    option.id = `${this.list.id}-${index}`;
    option.className = "place-option middle grid";
    option.dataset.index = String(index);
    option.setAttribute("role", "option");
    option.setAttribute("aria-selected", "false");
    for (const [part, text] of [
      ["name", place.name],
      ["kind", place.kind],
      ["slot", place.slot],
      ["area", place.area],
    ]) {
      if (!text) continue;
      const piece = document.createElement("span");
      piece.className = `place-option-${part}`;
      piece.textContent = text;
      option.append(piece);
    }
    return option;
  }

  #key(event) {
    // keys of the page, or of an input method
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (this.short && (event.key === "Enter" || event.key === "Tab")) {
      if (event.key === "Enter") event.preventDefault();
      this.#take(this.short, true);
      return void this.#stay(event);
    }
    const last = this.places.length - 1;
    const go = { ArrowDown: this.active + 1, ArrowUp: this.active - 1, Home: 0, End: last }[
      event.key
    ];
    if (go !== undefined && this.open && last >= 0 && this.#fresh) {
      // these two keys move the caret, unless the user has moved the mark
      if ((event.key === "Home" || event.key === "End") && !this.moved) return;
      event.preventDefault();
      this.#mark((go + last + 1) % (last + 1));
      this.moved = true;
    } else if (event.key === "ArrowDown") {
      event.preventDefault();
      this.#ask();
    } else if (event.key === "Enter") {
      this.#enter(event);
    } else if (event.key === "Escape" && this.open) {
      event.preventDefault();
      this.close();
    } else if (event.key === "Tab" && this.open && this.moved) {
      this.#choose(this.active, true);
      this.#stay(event);
    }
  }

  /** A choice by Tab that has moved the focus by itself leads no field further. */
  #stay(event) {
    if (document.activeElement !== this.input) event.preventDefault();
  }

  /**
   * Enter chooses a place and does not send the form. When there is nothing to wait for, Enter
   * works as in any field.
   */
  #enter(event) {
    const index = this.active;
    const answered = this.open && this.#fresh;
    // opening the list does not by itself replace an earlier choice
    const meant = answered && index >= 0 && (this.moved || !this.settled());
    if (!meant && !this.waits(this.input.value.trim())) return;
    event.preventDefault();
    if (meant) this.#choose(index, true);
    // words that the user did not type just now are searched, but nothing is chosen
    else if (!answered) this.#ask({ first: this.dirty });
    else if (this.none()) this.close();
  }

  /** Remove the mark: the words or the list changed. */
  #unmark() {
    this.list.querySelector('[aria-selected="true"]')?.setAttribute("aria-selected", "false");
    this.active = -1;
    this.moved = false;
    this.input.removeAttribute("aria-activedescendant");
  }

  #mark(index) {
    this.#unmark();
    this.active = index;
    const option = this.list.children[index];
    option.setAttribute("aria-selected", "true");
    option.scrollIntoView({ block: "nearest" });
    this.input.setAttribute("aria-activedescendant", option.id);
  }

  #choose(index, byKey = false) {
    if (this.places[index]) this.#take(this.places[index], byKey);
  }

  /** After a pause; the focus stays, and the name is selected, so that typing on replaces it. */
  #takeShort() {
    const words = this.input.value;
    this.#take(this.short, false, true);
    this.input.select();
    this.brief = words;
  }

  #take(place, byKey = false, paused = false) {
    this.dirty = false;
    this.short = null;
    this.close();
    this.input.value = place.name;
    this.chosen(place, byKey, paused);
  }
}
