/**
 * A text field with a list of places (ARIA combobox with listbox). Knows nothing of rides: `find(words)`
 * brings {places, message}, `chosen(place)` is told. Arrow keys, Home, End, Enter, Escape and Tab work.
 */

const DEBOUNCE_MS = 180;

export class Combobox {
  constructor(input, list, { find, chosen, typed, say }) {
    Object.assign(this, { input, list, find, chosen, typed, say });
    this.places = [];
    this.words = ""; // what the shown list answers
    this.dirty = false; // whether somebody typed since the field was entered or a place was chosen
    this.active = -1;
    this.asked = 0; // of several answers only the last one asked for counts
    this.timer = null;
    this.#wire();
  }

  #wire() {
    const { input, list } = this;
    input.setAttribute("role", "combobox");
    input.setAttribute("aria-autocomplete", "list");
    input.setAttribute("aria-expanded", "false");
    input.setAttribute("aria-controls", list.id);
    input.addEventListener("input", () => {
      this.dirty = true;
      this.typed(input.value);
      this.#unmark();
      this.#soon();
    });
    input.addEventListener("focus", () => {
      this.dirty = false;
      input.select();
      if (!input.value) this.#ask();
    });
    input.addEventListener("click", () => !this.open && this.#ask());
    input.addEventListener("keydown", (event) => this.#key(event));
    input.addEventListener("blur", () => this.close());
    list.addEventListener("pointerdown", (event) => event.preventDefault()); // the field keeps the focus
    list.addEventListener("click", (event) => {
      const option = event.target.closest("[data-index]");
      if (option) this.#choose(Number(option.dataset.index));
    });
  }

  get open() {
    return !this.list.hidden;
  }

  /** Whether the shown list answers the words in the field: one of older words is not chosen from. */
  get #fresh() {
    return this.words === this.input.value.trim();
  }

  close() {
    clearTimeout(this.timer);
    this.asked += 1;
    this.list.hidden = true;
    this.active = -1;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }

  #soon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#ask(), DEBOUNCE_MS);
  }

  /** `first` takes the first place of the answer: Enter was pressed before its list was there. */
  async #ask({ first = false } = {}) {
    clearTimeout(this.timer);
    const mine = (this.asked += 1);
    const words = this.input.value.trim();
    const { places, message } = await this.find(words);
    if (mine !== this.asked || document.activeElement !== this.input) return;
    this.words = words;
    this.#show(places, message);
    if (first && words) this.#choose(0);
  }

  #show(places, message) {
    this.places = places;
    this.#unmark();
    this.list.replaceChildren(...places.map((place, index) => this.#option(place, index)));
    if (!places.length && message) {
      const line = document.createElement("li");
      line.className = "place-none";
      line.setAttribute("role", "option");
      line.setAttribute("aria-disabled", "true");
      line.textContent = message;
      this.list.append(line);
    }
    this.list.hidden = this.list.children.length === 0;
    this.input.setAttribute("aria-expanded", String(this.open));
    if (places.length) this.say(places.length);
  }

  #option(place, index) {
    const option = document.createElement("li");
    option.id = `${this.list.id}-${index}`;
    option.className = "place-option";
    option.dataset.index = String(index);
    option.setAttribute("role", "option");
    option.setAttribute("aria-selected", "false");
    for (const [part, text] of [["name", place.name], ["kind", place.kind], ["area", place.area]]) {
      if (!text) continue;
      const piece = document.createElement("span");
      piece.className = `place-option-${part}`;
      piece.textContent = text;
      option.append(piece);
    }
    return option;
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return; // the page's keys, or an input method's
    const last = this.places.length - 1;
    const go = { ArrowDown: this.active + 1, ArrowUp: this.active - 1, Home: 0, End: last }[event.key];
    if (go !== undefined && this.open && last >= 0 && this.#fresh) {
      if ((event.key === "Home" || event.key === "End") && this.active < 0) return; // the caret's own keys
      event.preventDefault();
      this.#mark((go + last + 1) % (last + 1));
    } else if (event.key === "ArrowDown") {
      event.preventDefault();
      this.#ask();
    } else if (event.key === "Enter") {
      event.preventDefault(); // Enter picks; it never sends the form from here
      if (this.open && this.#fresh) this.#choose(Math.max(this.active, 0));
      else this.#ask({ first: this.dirty }); // words that were only entered, not typed, are searched and shown
    } else if (event.key === "Escape" && this.open) {
      event.preventDefault();
      this.close();
    } else if (event.key === "Tab" && this.open && this.active >= 0) {
      this.#choose(this.active);
    }
  }

  /** Nothing is marked: the words changed, or another list came. */
  #unmark() {
    this.list.querySelector('[aria-selected="true"]')?.setAttribute("aria-selected", "false");
    this.active = -1;
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

  #choose(index) {
    const place = this.places[index];
    if (!place) return;
    this.dirty = false;
    this.close();
    this.input.value = place.name;
    this.chosen(place);
  }
}
