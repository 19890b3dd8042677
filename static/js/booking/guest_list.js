/**
 * The pasted list of guests: counts its lines, points out duplicates, and disables the fields of a
 * single guest while the list has lines. The server reads and checks the lines: after a pause in
 * typing, and again at the press.
 */

import { askQuietly } from "../shared/ask.js";
import { setText } from "../shared/slots.js";
import { PHONE, ROOM } from "./guests.js";

const MOST = 6; // cars of one press
const PAUSE_MS = 600; // a line that is still being typed is no error yet
// line ends that the server recognises too: word processors use others than \n
const LINE_ENDS = /\r\n|[\n\r\v\f\x85\u2028\u2029]/;
// the number at the beginning of a line; the server removes the same numbers (its LIST_NUMBER)
const LIST_NUMBER =
  /^[^\p{L}\p{N}_+;,\t-]*(\d{1,3})(?:[.)]+(?!\d)|(?=[\s;,"]|$))[^\S\t]*"?[^\S\t]*[\t;,]?/u;

export class GuestList {
  /**
   * `part` is the part of the form with the list; null for a form without one. `signal` aborts when
   * the form is removed; `changed()` is called when the server has checked the list.
   */
  constructor(part, { signal, changed }) {
    Object.assign(this, { signal, changed });
    // the server's sentences about lines that it can't read, about duplicates that only it sees,
    // and about how it reads lines that begin with a room or a number
    this.checked = { wrong: [], same: [], read: [] };
    signal?.addEventListener("abort", () => clearTimeout(this.pause));
    this.text = part?.querySelector("[name=guests]") ?? null;
    this.hint = part?.querySelector("[data-list-hint]") ?? null;
    this.texts = this.hint?.dataset ?? {};
    this.same = part?.querySelector("[data-list-same]") ?? null;
    this.read = part?.querySelector("[data-list-read]") ?? null;
    this.twice = part?.querySelector("[data-list-twice]") ?? null;
    this.usual = this.hint?.textContent ?? "";
    this.show();
    if (this.count) this.#tellRead(); // the server has returned the form with its list
  }

  /** The number of guests in the list; 0 for an empty one. */
  get count() {
    return guestsOf(this.text?.value ?? "").length;
  }

  get #lines() {
    return (this.text?.value ?? "").split(LINE_ENDS);
  }

  /** Whether the list has duplicates that no one has confirmed. */
  get doubtful() {
    const { length } = [...this.#repeats, ...this.checked.same];
    return length > 0 && !this.twice.firstElementChild.checked;
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
      this.checked.same = [];
      if (!this.count) this.checked.wrong = this.checked.read = [];
      clearTimeout(this.pause);
      this.pause = setTimeout(() => this.#check(), PAUSE_MS);
    }
    this.show();
  }

  show() {
    if (!this.text) return;
    const { count } = this;
    const repeats = this.#repeats;
    if (repeats.length || this.checked.same.length) this.twice.hidden = false;
    const serverError = this.text.parentElement.querySelector(".several-wrong")?.textContent ?? "";
    const { wrong, same } = this.checked;
    const words = new Set([...wrong, ...repeats.map(([n, m]) => this.#says(n, m)), ...same]);
    setText(this.same, [...words].filter((each) => !serverError.includes(each)).join("\n"));
    setText(this.read, this.checked.read.join("\n"));
    this.hint.textContent = count ? this.texts.sayList.replace("{n}", count) : this.usual;
    const form = this.text.form;
    for (const part of form.querySelectorAll("[data-guest], .when-cars"))
      part.classList.toggle("is-listed", (part.inert = count > 0));
    if (count) form.querySelector("[name=guest_name]").setCustomValidity("");
  }

  /** The server's reading of the list; null without an answer, or if the list has changed. */
  async #ask() {
    const guests = this.text.value;
    const { csrf_token } = this.text.form.elements;
    const sent = { csrf_token: csrf_token.value, guests };
    const { ok, body } = await askQuietly("/guest-list.json", sent, this.signal);
    return ok && guests === this.text.value ? body : null;
  }

  /** Show how the server reads the list; its errors about the submitted list stay. */
  async #tellRead() {
    const body = await this.#ask();
    if (!body) return;
    const described = this.text.getAttribute("aria-describedby");
    this.text.setAttribute("aria-describedby", `${described} ${this.read.id}`);
    this.checked.read = body.read;
    this.show();
  }

  /** Show the errors that the server finds, in place of those about the submitted list. */
  async #check() {
    const body = await this.#ask();
    if (!body) return;
    this.text.parentElement.querySelector(".several-wrong")?.remove();
    this.text.setAttribute("aria-describedby", `guests-hint ${this.same.id} ${this.read.id}`);
    if (body.wrong.length) this.text.setAttribute("aria-invalid", "true");
    this.checked = body;
    this.show();
    this.changed();
  }

  #says(n, m) {
    return this.texts.saySame.replace("{n}", n).replace("{m}", m);
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

/**
 * The name on the first line of a list, as the server will read it (guest_list.py): without the
 * number of the line, and without a room that stands before it.
 */
export function firstName(text) {
  const lines = guestsOf(text);
  const counted = lines.map((line) => LIST_NUMBER.exec(line)).filter(Boolean);
  const isCounted = counted.length > 1 && counted.every(([, n], at) => Number(n) === at + 1);
  const [line = ""] = lines;
  const [first, ...rest] = cellsOf(isCounted ? line.replace(LIST_NUMBER, "") : line);
  if (ROOM.test(first)) return isName(rest[0] ?? "") ? rest[0] : first;
  const [room, ...words] = first.split(" ");
  const behind = rest[0] || rest[1] || "";
  const turned = ROOM.test(room) && (!behind || PHONE.test(behind));
  return turned && isName(words.join(" ")) ? words.join(" ") : first;
}

/** Whether a cell can be a name and can't be a room: letters, and no digit. */
function isName(cell) {
  return /\p{L}/u.test(cell) && !/\p{N}/u.test(cell);
}

/** The cells of a line as one text, the same however they are spaced, separated or capitalised. */
function cells(line) {
  return cellsOf(line).join("\t").trimEnd().toLowerCase();
}

function cellsOf(line) {
  const separator = ["\t", ";", ","].find((each) => line.trim().includes(each)) ?? "\t";
  const texts = line.split(separator).map((cell) => cell.trim().replace(/^"+|"+$/g, ""));
  return texts.map((cell) => cell.replace(/ +/g, " "));
}
