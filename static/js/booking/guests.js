/**
 * The guest of a ride: one field finds guests by room, name or phone and fills in the known facts.
 * A name that is not chosen from the list is a new guest.
 * Events: "chosen" {guest, byKey}; "dropped" when the user types another name over a chosen guest;
 * "filled" when the finder has changed the texts of other fields.
 */

import { askQuietly } from "../shared/ask.js";
import { Combobox } from "../shared/combobox.js";
import { fitWords } from "../shared/fit_words.js";

// a room number as on most doors (412, B-7, 12½), with letters and digits of any writing system
export const ROOM = /^[\p{L}\p{Nl}\p{No}]?-?\p{Nd}{1,5}[\p{L}\p{Nl}\p{No}]?$/u;
export const PHONE = /^\+?[\d\s().\-/]{7,}$/;

export class GuestFinder extends EventTarget {
  /**
   * `path` answers {guests}; `announce(n)` announces the number of results; `failed` is the message
   * for a missing answer, `signedOut` that after a sign-out.
   */
  constructor(form, { path, announce, failed, signedOut }) {
    super();
    Object.assign(this, { path, failed, signedOut });
    const field = (name) => form.elements.namedItem(name);
    this.name = field("guest_name");
    this.id = field("guest_id");
    this.token = field("csrf_token");
    this.filled = {
      guest_room: field("guest_room"),
      guest_phone: field("guest_phone"),
      guest_phone2: field("guest_phone2"),
      language: field("language"),
      guest_note: field("guest_note"),
    };
    this.about = form.querySelector("[data-guest-about]");
    // the server may have filled in a guest
    this.guest = this.id.value ? { id: this.id.value, name: this.name.value.trim() } : null;
    this.brought = this.guest
      ? Object.fromEntries(Object.entries(this.filled).map(([name, box]) => [name, box.value]))
      : {};
    new Combobox(this.name, form.querySelector("#guest-find-list"), {
      find: (words) => this.#find(words),
      best: (guests) => guests.findIndex((guest) => guest.exact),
      chosen: (guest, byKey) => this.#choose(guest, byKey),
      typed: () => this.#typed(),
      none: () => this.#sort(),
      waits: (words) => ROOM.test(words) || PHONE.test(words),
      settled: () => Boolean(this.guest),
      announce,
      eager: false,
    });
    this.name.addEventListener("blur", () => this.#sort());
    fitWords(this.name);
  }

  /** The message in place of guests; empty when the answer is a list of guests. */
  #problem(status, body) {
    if (status === 200) return "";
    if (status === 401) return this.signedOut;
    // 400 means that the page belongs to an earlier sign-in; the server's message says what to do.
    if (status === 400 && body.error) return `${body.error}. ${body.message}`;
    return this.failed;
  }

  async #find(words) {
    const { body, status } = await askQuietly(this.path, {
      q: words,
      csrf_token: this.token.value,
    });
    return {
      places: (body.guests ?? []).map((guest) => ({
        ...guest,
        kind: guest.room,
        area: [guest.phone, guest.about].filter(Boolean).join(" · "),
      })),
      message: this.#problem(status, body),
    };
  }

  #choose(guest, byKey) {
    this.#takeBack();
    this.guest = guest;
    this.id.value = guest.id;
    this.brought = {
      guest_room: guest.room,
      guest_phone: guest.phone,
      guest_phone2: guest.phone2,
      language: guest.language,
      guest_note: guest.note,
    };
    for (const [name, value] of Object.entries(this.brought)) {
      this.filled[name].value = value;
      this.filled[name].removeAttribute("aria-invalid");
    }
    this.#say(guest.about);
    this.dispatchEvent(new Event("filled"));
    this.dispatchEvent(new CustomEvent("chosen", { detail: { guest, byKey } }));
  }

  /**
   * Another name means another guest: remove the facts of the chosen one, and keep what was typed
   * since.
   */
  #typed() {
    if (!this.guest || this.name.value.trim() === this.guest.name) return;
    this.#takeBack();
    this.dispatchEvent(new Event("filled"));
    this.dispatchEvent(new Event("dropped"));
  }

  #takeBack() {
    for (const [name, value] of Object.entries(this.brought)) {
      if (this.filled[name].value === value) this.filled[name].value = "";
    }
    this.guest = null;
    this.brought = {};
    this.id.value = "";
    this.#say("");
  }

  /**
   * Move a room or a phone number from the name field to its own field, unless a guest was chosen
   * or that field has a text. Returns whether it was moved.
   */
  #sort() {
    const typed = this.name.value.trim();
    let to = null;
    if (ROOM.test(typed)) to = this.filled.guest_room;
    else if (PHONE.test(typed)) to = this.filled.guest_phone;
    if (this.guest || !to || to.value) return false;
    to.value = typed;
    this.name.value = "";
    this.dispatchEvent(new Event("filled"));
    return true;
  }

  #say(words) {
    this.about.textContent = words;
    this.about.hidden = !words;
  }
}
