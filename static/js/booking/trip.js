/** The two ends of the trip: their fields, and who is told when one moves. No map, no network. */

const ROUNDED = 1e-6; // degrees: the server tells seven decimals
const COORDINATES = /^\s*(-?\d{1,2}(?:\.\d+)?)\s*[,;\s]\s*(-?\d{1,3}(?:\.\d+)?)\s*$/;

export class Trip extends EventTarget {
  /** `form` holds a [data-place] for pickup and for drop. */
  constructor(form) {
    super();
    this.ends = {};
    for (const end of ["pickup", "drop"]) {
      const box = form.querySelector(`[data-place="${end}"]`);
      this.ends[end] = {
        input: box.querySelector("[data-place-input]"),
        lat: box.querySelector("[data-lat]"),
        lng: box.querySelector("[data-lng]"),
        clear: box.querySelector("[data-place-clear]"),
        error: box.querySelector("[data-place-error]"),
        named: box.querySelector("[data-for]"),
      };
      this.#tidy(end);
    }
  }

  /** {lat, lng, name} of an end, or null while it has no coordinates. */
  at(end) {
    const { input, lat, lng } = this.ends[end];
    if (!lat.value || !lng.value) return null;
    return { lat: Number(lat.value), lng: Number(lng.value), name: input.value };
  }

  /** Where both ends are, as one text: cards belong to the trip whose key was asked for. */
  get key() {
    return ["pickup", "drop"]
      .map((end) => `${this.ends[end].lat.value},${this.ends[end].lng.value}`)
      .join(";");
  }

  /** Words of the server for an end that is still where it was asked about; it may know them better. */
  told(end, asked, { lat, lng, name, error }) {
    const here = this.at(end);
    if (!here || !asked || !lat || here.lat !== asked.lat || here.lng !== asked.lng) return;
    const moved = Math.max(Math.abs(lat - here.lat), Math.abs(lng - here.lng)) > ROUNDED;
    if (moved) this.put(end, { lat, lng, name }, { quiet: true });
    else if (name !== here.name) this.put(end, { ...here, name }, { quiet: true });
    if (error) this.#blame(end, error);
  }

  /** Put an end somewhere. `quiet` changes the fields and tells nobody. */
  put(end, place, { quiet = false } = {}) {
    const fields = this.ends[end];
    fields.input.value = place?.name ?? "";
    this.#point(end, place);
    if (!quiet) this.dispatchEvent(new CustomEvent("moved", { detail: { end } }));
  }

  /** Somebody types: the old coordinates are no longer what the words say. */
  typed(end) {
    this.#point(end, null);
    this.dispatchEvent(new CustomEvent("loose", { detail: { end } }));
  }

  /** Typing is over: no words is no place; words without a place are said to be none. */
  left(end) {
    const { input, error } = this.ends[end];
    if (this.at(end)) return;
    const [, lat, lng] = input.value.match(COORDINATES) ?? [];
    if (!input.value.trim()) this.put(end, null);
    else if (lat && Math.abs(lat) <= 90 && Math.abs(lng) <= 180)
      this.put(end, { lat: Number(lat), lng: Number(lng), name: input.value.trim() });
    else if (error.hidden) this.#blame(end);
  }

  /** The first end that has words and no place, or null. */
  get loose() {
    return (
      Object.keys(this.ends).find((end) => this.ends[end].input.value.trim() && !this.at(end)) ??
      null
    );
  }

  /** The end that is marked as one to change, or null. */
  get wrong() {
    return Object.keys(this.ends).find((end) => !this.ends[end].error.hidden) ?? null;
  }

  #blame(end, words = "") {
    const { input, error } = this.ends[end];
    error.querySelector("span").textContent = words || error.dataset.sayChoose;
    error.hidden = false;
    input.setAttribute("aria-invalid", "true");
    input.setAttribute("aria-describedby", error.id);
  }

  /** Change pickup and drop over. */
  swap() {
    const [pickup, drop] = [this.at("pickup"), this.at("drop")];
    this.put("pickup", drop, { quiet: true });
    this.put("drop", pickup);
  }

  #point(end, place) {
    const fields = this.ends[end];
    fields.lat.value = place ? place.lat : "";
    fields.lng.value = place ? place.lng : "";
    fields.input.removeAttribute("aria-invalid");
    fields.error.hidden = true;
    this.#tidy(end);
  }

  #tidy(end) {
    const fields = this.ends[end];
    fields.clear.hidden = !fields.input.value;
    fields.named.value = fields.lat.value ? fields.input.value : ""; // the name that the coordinates belong to
  }
}
