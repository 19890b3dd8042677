/**
 * The pasted list of guests: counts its lines, and closes the fields of one guest while it has any.
 * The server reads and checks the lines.
 */

const MOST = 6; // cars of one press

export class GuestList {
  /** `part` is the form's part with the list; null where a form has none. */
  constructor(part) {
    this.text = part?.querySelector("[name=guests]") ?? null;
    this.hint = part?.querySelector("[data-list-hint]") ?? null;
    this.say = this.hint?.dataset ?? {};
    this.usual = this.hint?.textContent ?? "";
    this.show();
  }

  /** The number of guests in the list; 0 for an empty one. */
  get count() {
    return (this.text?.value ?? "").split("\n").filter((line) => /[^\s;,]/.test(line)).length;
  }

  /** Whether there is a list that one press can't book. */
  get tooLong() {
    return this.count > MOST;
  }

  show() {
    if (!this.text) return;
    const { count } = this;
    this.hint.textContent = count ? this.say.sayList.replace("{n}", count) : this.usual;
    const form = this.text.form;
    for (const part of form.querySelectorAll("[data-guest], .when-cars"))
      part.classList.toggle("is-listed", (part.inert = count > 0));
    if (count) form.querySelector("[name=guest_name]").setCustomValidity("");
  }
}
