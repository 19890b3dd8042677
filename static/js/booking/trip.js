/**
 * The two ends of the trip and their fields. Events: "moved" when an end has another place, "loose"
 * when typed words don't have a place yet. Uses neither map nor network.
 */

const ROUNDED = 1e-6; // degrees; less is a difference of rounding: the server sends 7 decimals

const DEGREE_M = 111_320;
const OWN_PLACE_M = 300; // a pickup this close to the property's own is at the property

export class Trip extends EventTarget {
  former = null; // the drop that the last change has replaced or cleared, or null

  /** `form` contains a [data-place] for the pickup and one for the drop. */
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
      this.#update(end);
    }
    this.lastDrop = this.at("drop");
    Object.assign(this, { own: form.dataset.own, ownName: form.dataset.ownName });
  }

  /** Whether the pickup is at the property's own one. */
  get isOwn() {
    const [lat, lng] = this.own.split(",").map(Number);
    const here = this.at("pickup");
    if (!this.own || !here) return false;
    // the ride company's point for it has its name in front
    if (here.name.startsWith(this.ownName)) return true;
    const east = (((here.lng - lng + 540) % 360) - 180) * Math.cos((lat * Math.PI) / 180);
    return Math.hypot(here.lat - lat, east) * DEGREE_M <= OWN_PLACE_M;
  }

  /** {lat, lng, name} of an end, or null while it has no coordinates. */
  at(end) {
    const { input, lat, lng } = this.ends[end];
    if (!lat.value || !lng.value) return null;
    return { lat: Number(lat.value), lng: Number(lng.value), name: input.value };
  }

  /** The position of an end as "lat,lng", or "". */
  point(end) {
    const { lat, lng } = this.ends[end];
    return lat.value && lng.value ? `${lat.value},${lng.value}` : "";
  }

  /** Both positions as one text, which shows whether cards belong to this trip. */
  get key() {
    return ["pickup", "drop"]
      .map((end) => `${this.ends[end].lat.value},${this.ends[end].lng.value}`)
      .join(";");
  }

  /**
   * Take over the server's name, position and error of an end. `requested` is the place in the
   * request: an end that has changed since stays as it is.
   */
  corrected(end, requested, { lat, lng, name, error }) {
    const here = this.at(end);
    if (!here || !requested || !lat) return;
    if (here.lat !== requested.lat || here.lng !== requested.lng) return;
    const moved = Math.max(Math.abs(lat - here.lat), Math.abs(lng - here.lng)) > ROUNDED;
    if (moved) this.put(end, { lat, lng, name }, { quiet: true });
    else if (name !== here.name) this.put(end, { ...here, name }, { quiet: true });
    if (error) this.#showError(end, error);
  }

  /** Set the place of an end. `quiet` changes the fields without an event. */
  put(end, place, { quiet = false } = {}) {
    const fields = this.ends[end];
    fields.input.value = place?.name ?? "";
    this.#setPoint(end, place);
    if (end === "drop") this.#remember(quiet);
    if (!quiet) this.dispatchEvent(new CustomEvent("moved", { detail: { end } }));
  }

  /** Note which drop was replaced; a correction by the server replaces none. */
  #remember(quiet) {
    const drop = this.at("drop");
    const isOther = !drop || drop.lat !== this.lastDrop?.lat || drop.lng !== this.lastDrop?.lng;
    if (!quiet) this.former = isOther ? this.lastDrop : null;
    if (drop) this.lastDrop = drop;
  }

  /** The user types: the old coordinates do not belong to the new words. */
  typed(end) {
    this.#setPoint(end, null);
    this.dispatchEvent(new CustomEvent("loose", { detail: { end } }));
  }

  /** The user leaves the field: empty words remove the place, other words are an error. */
  left(end) {
    const { input, error } = this.ends[end];
    if (this.at(end)) return;
    if (!input.value.trim()) this.put(end, null);
    else if (error.hidden) this.#showError(end); // a visible error may be the server's
  }

  /** The first end whose words have no place, or null. */
  get loose() {
    return (
      Object.keys(this.ends).find((end) => this.ends[end].input.value.trim() && !this.at(end)) ??
      null
    );
  }

  /** The end that has an error, or null. */
  get wrong() {
    return Object.keys(this.ends).find((end) => !this.ends[end].error.hidden) ?? null;
  }

  #showError(end, words = "") {
    const { input, error } = this.ends[end];
    error.querySelector("span").textContent = words || error.dataset.sayChoose;
    error.hidden = false;
    input.setAttribute("aria-invalid", "true");
    input.setAttribute("aria-describedby", error.id);
  }

  /** Swap pickup and drop, also words without a place. One event reports both. */
  swap() {
    const [pickup, drop] = ["pickup", "drop"].map(
      (end) => this.at(end) ?? { name: this.ends[end].input.value },
    );
    this.put("pickup", drop, { quiet: true });
    this.lastDrop = null; // a second swap takes it back
    this.put("drop", pickup);
  }

  /** Set or clear the coordinates of an end, which also removes its error. */
  #setPoint(end, place) {
    const fields = this.ends[end];
    fields.lat.value = place?.lat ?? "";
    fields.lng.value = place?.lng ?? "";
    fields.input.removeAttribute("aria-invalid");
    // screen readers read a hidden description too
    fields.input.removeAttribute("aria-describedby");
    fields.error.hidden = true;
    this.#update(end);
  }

  #update(end) {
    const fields = this.ends[end];
    fields.clear.hidden = !fields.input.value;
    // sent with the form: the name to which the coordinates belong
    fields.named.value = fields.lat.value ? fields.input.value : "";
  }
}
