/**
 * The pasted list of guests: counts its lines, points out duplicates, and disables the fields of a
 * single guest while the list has lines. The server reads and checks the lines.
 */

import { setText } from "../shared/slots.js";

const MOST = 6; // cars of one press
// line ends that the server recognises too: word processors use others than \n
const LINE_ENDS = /\r\n|[\n\r\v\f\x85\u2028\u2029]/;

export class GuestList {
  /** `part` is the part of the form with the list; null for a form without one. */
  constructor(part) {
    this.text = part?.querySelector("[name=guests]") ?? null;
    this.hint = part?.querySelector("[data-list-hint]") ?? null;
    this.say = this.hint?.dataset ?? {};
    this.same = part?.querySelector("[data-list-same]") ?? null;
    this.twice = part?.querySelector("[data-list-twice]") ?? null;
    this.usual = this.hint?.textContent ?? "";
    this.show();
  }

  /** The number of guests in the list; 0 for an empty one. */
  get count() {
    return guestsOf(this.text?.value ?? "").length;
  }

  get #lines() {
    return (this.text?.value ?? "").split(LINE_ENDS);
  }

  /** Whether the list has duplicates that nobody has confirmed. */
  get doubtful() {
    return this.#repeats.length > 0 && !this.twice.firstElementChild.checked;
  }

  /** Pairs of line numbers, from 1: a duplicate, and the first line that it repeats. */
  get #repeats() {
    const first = new Map();
    const pairs = [];
    for (const [at, line] of this.#lines.entries()) {
      if (!isGuest(line)) continue;
      const guest = cells(line);
      if (first.has(guest)) pairs.push([at + 1, first.get(guest)]);
      else first.set(guest, at + 1);
    }
    return pairs;
  }

  /** Whether the list is too long for one press. */
  get tooLong() {
    return this.count > MOST;
  }

  /** Handle typing in `target`; a changed list has to be confirmed again. */
  edited(target) {
    if (target === this.text) {
      this.twice.firstElementChild.checked = false;
      this.twice.hidden = !this.#repeats.length;
    }
    this.show();
  }

  show() {
    if (!this.text) return;
    const { count } = this;
    const repeats = this.#repeats;
    if (repeats.length) this.twice.hidden = false;
    const told = this.text.parentElement.querySelector(".several-wrong")?.textContent ?? "";
    const words = repeats.map(([n, m]) => this.#says(n, m)).filter((each) => !told.includes(each));
    setText(this.same, words.join(" "));
    this.hint.textContent = count ? this.say.sayList.replace("{n}", count) : this.usual;
    const form = this.text.form;
    for (const part of form.querySelectorAll("[data-guest], .when-cars"))
      part.classList.toggle("is-listed", (part.inert = count > 0));
    if (count) form.querySelector("[name=guest_name]").setCustomValidity("");
  }

  #says(n, m) {
    return this.say.saySame.replace("{n}", n).replace("{m}", m);
  }
}

/** The lines of a pasted list that name a guest. */
export function guestsOf(text) {
  return text.split(LINE_ENDS).filter(isGuest);
}

/** Whether a line contains more than separators and quotes of cells. */
function isGuest(line) {
  return /[^\s;,"\p{C}]/u.test(line);
}

/** The cells of a line, however they are spaced and separated. */
function cells(line) {
  const separator = ["\t", ";", ","].find((each) => line.trim().includes(each)) ?? "\t";
  const texts = line.split(separator).map((cell) => cell.trim().replace(/^"+|"+$/g, ""));
  return texts.join("\t").replace(/ +/g, " ").trimEnd().toLowerCase();
}
