/**
 * The booking form: connects guest, trip, cards and button, on any page. It does not depend on a
 * map. Events: "ends" {end?} when an end moved or lost its place, and after each answer about cars;
 * "zone" {zone} when the pickup points changed; "send" {event} (can be prevented) before a valid
 * form is sent.
 */

import { ask } from "../shared/ask.js";
import { CarKeys } from "./car_keys.js";
import { Cars } from "./cars.js";
import { Combobox } from "../shared/combobox.js";
import { Drops, suggestedAt } from "./drops.js";
import { Flight } from "./flight.js";
import { FormerDrop } from "./former_drop.js";
import { GuestFinder } from "./guests.js";
import { GuestPhone } from "./guest_phone.js";
import { following, wireKeys } from "./keys.js";
import { onKey } from "../shared/keys.js";
import { nodesOf } from "../shared/markup.js";
import { Party } from "./party.js";
import { leadBack } from "./question.js";
import { released } from "../shared/press.js";
import { element, isShown, setText } from "../shared/slots.js";
import { surePlace } from "./sure_place.js";
import { Trip } from "./trip.js";
import { When } from "./when.js";

const CAR_PX = 96; // the height of a card
const DEBOUNCE_MS = 250; // between two requests for prices; the first is sent at once

export class BookForm extends EventTarget {
  mapped = false; // whether a click on the board's map sets the end that is being searched

  failed = false; // whether no cars came for the trip

  openEnd = false; // whether the user wants cars without a drop

  /**
   * `root` contains the form and has its texts; `body` is the part that contains this form;
   * `signal` ends the form; `both` asks for cars only when both ends are known.
   */
  constructor(root, { body = root, signal, both = false } = {}) {
    super();
    this.both = both;
    this.sending = false; // whether the form was sent and its result is unknown
    const part = (name) => body.querySelector(`[data-${name}]`);
    this.texts = root.dataset;
    this.signal = signal;
    this.body = body;
    this.form = part("book");
    this.bookButton = part("book-go");
    this.terms = part("bar-terms");
    this.zoneList = part("zone-list");
    this.status = part("cars-status");
    this.linked = !this.bookButton.disabled;
    this.trip = new Trip(part("trip"));
    this.when = new When(part("when"), this.signal);
    this.cars = this.#newCars(part("cars"));
    this.flight = new Flight(part("when"), this.when.texts.flight, () => this.cars.box);
    this.drops = new Drops(this.cars.box, this.cars.empty, this.texts.places);
    this.party = new Party(part("party"), this.cars.box, part("bar"), this.when);
    this.shownZone = "";
    // the trip of the shown cards
    this.shownTrip = this.cars.box.querySelector("[data-products]") ? this.trip.key : "";
    this.favourites = JSON.parse(part("trip").dataset.favourites || "[]");
    this.#wireCars();
    this.#wireGuest();
    for (const end of ["pickup", "drop"]) this.#wirePlace(end);
    this.#wireTrip();
    new FormerDrop(part("former-drop"), this.trip, () => this.#usable);
    this.#wireSending(part("go"), part("keys"));
    this.#wireKeys();
    this.updateButton();
  }

  #newCars(box) {
    const { texts, status, signal } = this;
    return new Cars(box, {
      path: texts.products,
      skeleton: document.querySelector("[data-skeleton]"),
      empty: document.querySelector("[data-no-cars]"),
      unanswered: document.querySelector("[data-unanswered]"),
      status,
      words: {
        loading: texts.sayLoading,
        slow: texts.saySlow,
        failed: texts.sayFailed,
        signedOut: texts.saySignedOut,
        cars: texts.sayCars,
      },
      signal,
    });
  }

  /** Request the cars of a trip that is already in the fields. */
  start() {
    if (
      this.#known &&
      !this.trip.loose &&
      !this.cars.box.querySelector("[data-products], [role=alert]")
    )
      this.reload();
  }

  /** Whether the service has priced the trip in the fields, which means that it goes there. */
  get priced() {
    return Boolean(this.shownTrip) && this.shownTrip === this.trip.key;
  }

  /** Whether the cards on the page are those of the trip in the fields. */
  get settled() {
    return this.priced && !this.cars.busy;
  }

  /** Whether cars for the trip are being requested, or will be in a moment. */
  get asking() {
    return Boolean(this.#known) && !this.trip.loose && !this.failed && !this.settled;
  }

  /** Set an end to a point of a map. */
  pin(end, lat, lng) {
    const place = { lat: Number(lat.toFixed(6)), lng: Number(lng.toFixed(6)) };
    this.trip.put(end, {
      ...place,
      name: `${this.texts.sayPin} (${place.lat.toFixed(5)}, ${place.lng.toFixed(5)})`,
    });
  }

  get #known() {
    return this.trip.at("pickup") && (!this.both || this.openEnd || this.trip.at("drop"));
  }

  /* ---- cards and the button ---- */

  async reload({ compare = false } = {}) {
    const account = this.form.querySelector("[name=account]")?.value;
    const ends = { pickup: this.trip.at("pickup"), drop: this.trip.at("drop") };
    const key = this.trip.key;
    if (!compare) this.failed = false;
    if (!this.#known) this.shownTrip = ""; // the cards are removed
    const guest = this.guests.guest?.id;
    const trip = { ...ends, account, guest, party: this.party.said, compare };
    const answering = this.cars.load(this.#known ? trip : null);
    this.updateButton();
    const answer = await answering;
    if (!answer) return;
    this.failed = !answer.ok;
    const still = this.trip.key === key;
    for (const end of ["pickup", "drop"]) this.trip.corrected(end, ends[end], answer[end] ?? {});
    this.shownTrip = answer.ok && still ? this.trip.key : "";
    this.#tell("ends");
    if (answer.ok) this.drawZone(answer.zone, answer.zone_html);
    if (answer.ok && still) this.flight.suggest(answer.lands);
    this.updateButton();
    if (compare) return; // a renewal moves nothing
    this.cars.reveal();
    this.keys.arrived();
  }

  /** Request prices now, or after a pause when the user tries several places. */
  #soon() {
    clearTimeout(this.later);
    const wait = (this.requestedAt ?? 0) + DEBOUNCE_MS - performance.now();
    this.requestedAt = performance.now();
    if (wait <= 0) return void this.reload();
    this.later = setTimeout(() => this.signal?.aborted || this.reload(), DEBOUNCE_MS);
    this.updateButton();
  }

  /**
   * Update the button. Cards belong to one trip: nothing can be booked while the fields have
   * another trip, or words without a place.
   */
  updateButton() {
    if (this.sending) return; // a form that is being sent keeps its button
    const { cars, trip, when, bookButton } = this;
    const choice = trip.loose || this.shownTrip !== trip.key ? null : cars.choice;
    cars.box.classList.toggle("is-loose", Boolean(trip.loose));
    const asked = choice && this.#asked;
    bookButton.disabled = !choice || !this.linked || (!when.ready && !asked);
    if (asked) bookButton.textContent = this.#question(asked);
    else if (choice) bookButton.replaceChildren(this.#words(choice));
    // otherwise the text stays, because the answer will come soon
    else if (!cars.chosen || !cars.busy) bookButton.textContent = this.#missing();
    this.hint.renew();
    this.party.show(choice && cars.chosen, choice?.group);
    when.back.priceOf(choice?.offer);
    this.terms.textContent = choice ? when.terms(choice) : this.texts.sayIdle;
    const openEnd = cars.box.querySelector("[data-open-end]");
    if (openEnd) openEnd.hidden = !this.both || cars.busy || trip.loose || !trip.at("pickup");
    this.#sayMissing(cars.box.querySelector("[data-missing]"));
  }

  /** The parts of the form that may ask what their text means. */
  get #askers() {
    return [...this.phones, this.when, this.when.back, this.flight];
  }

  /** The first part with a question that is not answered; undefined without one. */
  get #asked() {
    return this.#askers.find((each) => each.question);
  }

  /** The question of a part, as the button's text. */
  #question(asker) {
    if (asker === this.flight) return this.texts.sayWhichFlight;
    return this.phones.includes(asker) ? this.texts.sayWhichNumber : this.texts.sayWhichTime;
  }

  /** Whether something is asked that the button needs to know; then the question has the focus. */
  #asks() {
    const asked = this.#asked;
    if (!asked) return false;
    asked.question.focus();
    asked.question.scrollIntoView({ block: "nearest" });
    return true;
  }

  /**
   * The button's words. A pickup that is not the property's own is named, too. The names are whole;
   * only their style shortens long ones.
   */
  #words(choice) {
    const { texts, trip } = this;
    const [drop, from] = [trip.at("drop"), trip.isOwn ? null : trip.at("pickup")];
    let pattern = drop ? texts.sayCarTo : "{car}";
    if (from) pattern = drop ? texts.sayCarFromTo : texts.sayCarFrom;
    const name = pattern.replace("{car}", () => choice.name);
    // each second part is the name of a place
    const parts = this.when.button({ ...choice, name }).split(/\{(drop|pickup)\}/);
    const words = element("span", "");
    for (const [number, part] of parts.entries())
      words.append(number % 2 ? element("bdi", "one-line book-drop", trip.at(part)?.name) : part);
    return words;
  }

  /** Name the missing ends in `line`, a text that is in the place of the cars, or null. */
  #sayMissing(line) {
    if (!line) return;
    const { noEnds, noPickup, noDrop } = line.dataset;
    if (!this.trip.at("pickup")) setText(line, this.trip.at("drop") ? noPickup : noEnds);
    else if (!this.trip.at("drop")) setText(line, noDrop);
  }

  /** Request the cars for the pickup alone, and continue with those that need no drop. */
  async #goOpen() {
    this.openEnd = true;
    await this.reload();
    this.cars.focus();
  }

  #missing() {
    const { cars, trip, texts } = this;
    if (cars.busy) return texts.sayLoading;
    if (trip.loose) return texts.sayPlace;
    if (!trip.at("pickup")) return texts.sayNoPickup;
    if (!trip.at("drop") && !this.openEnd) return texts.sayNoDrop;
    return (
      { pickup: texts.sayOtherPickup, drop: texts.sayOtherDrop }[trip.wrong] ?? texts.sayChoose
    );
  }

  #wireCars() {
    this.cars.addEventListener("chosen", () => {
      this.updateButton();
      this.flight.propose();
    });
    for (const part of [this.when, this.flight])
      part.addEventListener("changed", () => this.updateButton());
    // not while the form is sent, another trip is typed or its cars requested; `wake` checks again
    const renew = () =>
      this.sending || this.trip.loose || this.cars.busy || this.reload({ compare: true });
    this.cars.addEventListener("old", renew);
    // the clock of a demo was turned, so prices may have changed
    document.addEventListener("ridedash:prices", renew, { signal: this.signal });
    this.form.querySelector("[name=account]")?.addEventListener("change", () => this.reload());
    this.body.addEventListener(
      "click",
      (event) => {
        if (event.target.closest("[data-open-end]")) return void this.#goOpen();
        const drop = suggestedAt(event.target);
        if (drop) {
          event.preventDefault();
          this.trip.put("drop", drop);
          return void this.toCars();
        }
        if (!event.target.closest("[data-retry]")) return;
        event.preventDefault();
        this.reload();
      },
      { signal: this.signal },
    );
  }

  /* ---- the two ends ---- */

  #wirePlace(end) {
    const fields = this.trip.ends[end];
    const list = this.body.querySelector(`#${end}-list`);
    const box = new Combobox(fields.input, list, {
      find: (words) => this.#findPlaces(end, words),
      quick: (words) => (end === "drop" && /^[1-9]$/.test(words) ? this.#favourite(words) : null),
      chosen: (place, byKey, paused) => {
        this.trip.put(end, place);
        if (!paused && (byKey || this.#below)) this.#onward(fields.input);
      },
      typed: () => this.trip.typed(end),
      waits: () => !this.trip.at(end), // Enter in a field with a place moves on
      settled: () => Boolean(this.trip.at(end)),
      announce: (count) => this.#sayFound(this.texts.sayFound, count),
    });
    // the field's error line would move the button whose press has just left the field
    fields.input.addEventListener("blur", async () => {
      await released();
      if (this.signal?.aborted || document.activeElement === fields.input) return;
      const place = await surePlace(this.trip, end, this.texts.places);
      if (this.signal?.aborted || document.activeElement === fields.input) return;
      if (place) this.trip.put(end, place);
      else this.trip.left(end);
    });
    fields.clear.addEventListener("click", () => {
      this.trip.put(end, null);
      box.close();
      fields.input.focus();
    });
  }

  /** Whether not even one car is seen above the bar of the button, as on a phone. */
  get #below() {
    const { top } = this.bookButton.getBoundingClientRect();
    return this.cars.box.getBoundingClientRect().top + CAR_PX > top;
  }

  #favourite(slot) {
    return this.favourites.find((place) => place.slot === Number(slot)) ?? null;
  }

  /** Whether keys of the page may change the form: it is shown, and not being sent. */
  get #usable() {
    return !this.sending && isShown(this.bookButton);
  }

  /**
   * Set the drop to a favourite place by its number; false if there is no such place, if the drop
   * has words already, or if the form is hidden or being sent.
   */
  goTo(slot) {
    const empty = !this.trip.ends.drop.input.value.trim();
    const place = this.#usable && empty ? this.#favourite(slot) : null;
    if (place) this.trip.put("drop", place);
    return Boolean(place);
  }

  async #findPlaces(end, words) {
    const guest = words ? "" : this.guests.guest?.id;
    const otherEnd = end === "drop" ? "pickup" : "drop";
    const { body, status: code } = await ask(this.texts.places, {
      q: words,
      end,
      guest,
      other: words ? "" : this.trip.point(otherEnd),
      map: !this.both || this.mapped ? 1 : "",
    });
    let message = body.message ?? "";
    if (!message && code === 401) message = this.texts.saySignedOut;
    else if (!message && code !== 200) message = this.texts.sayFailed;
    return { places: body.places ?? [], credit: body.credit, message };
  }

  /* ---- the guest ---- */

  #wireGuest() {
    this.guests = new GuestFinder(this.form, {
      path: this.texts.guests,
      announce: (count) => this.#sayFound(this.texts.sayGuests, count),
      failed: this.texts.sayFailed,
      signedOut: this.texts.saySignedOut,
    });
    const after = (field) => {
      const fields = [...this.form.querySelectorAll("input:not([type=hidden], [type=radio])")];
      return fields.slice(fields.indexOf(field) + 1).find(isShown);
    };
    this.phones = [...this.body.querySelectorAll("[data-phone-said]")].map(
      (box) =>
        new GuestPhone(this.form.elements.namedItem(box.dataset.phoneSaid), box, {
          path: this.texts.guestPhone,
          token: this.form.elements.namedItem("csrf_token"),
          guest: () => this.guests.guest?.id,
          next: () => after(this.form.elements.namedItem(box.dataset.phoneSaid)),
          signal: this.signal,
        }),
    );
    for (const phone of this.phones) phone.addEventListener("changed", () => this.updateButton());
    this.guests.addEventListener("filled", () => {
      for (const phone of this.phones) phone.read();
    });
    this.guests.addEventListener("chosen", ({ detail: { guest, byKey } }) => {
      this.cars.prefer(guest.category);
      this.#suggestDrops();
      const drop = this.trip.ends.drop.input;
      if (byKey && !drop.value) drop.focus(); // room and phone are filled in already
    });
    this.guests.addEventListener("dropped", () => {
      this.cars.prefer("");
      this.#suggestDrops();
    });
  }

  /** Show the suggested drops for the guest, without the pickup itself. */
  #suggestDrops() {
    this.drops.of(this.guests.guest?.id ?? "", this.trip.point("pickup"));
  }

  #sayFound(pattern, count) {
    this.status.classList.add("visually-hidden");
    this.status.textContent = pattern.replace("{n}", count);
  }

  #wireTrip() {
    const swap = this.body.querySelector("[data-swap]");
    swap.hidden = false;
    swap.addEventListener("click", () => {
      this.trip.swap();
      this.#pickupMoved();
    });
    this.trip.addEventListener("loose", () => {
      this.#tell("ends");
      this.updateButton();
    });
    this.trip.addEventListener("moved", ({ detail: { end } }) => {
      this.#tell("ends", { end });
      this.keys.forget();
      this.failed = false;
      this.openEnd &&= !this.trip.at("drop");
      if (end === "pickup") this.#pickupMoved();
      // busy: the cards belong to this trip, but those of another one are being requested
      if (this.trip.key !== this.shownTrip || this.cars.busy) this.#soon();
      else this.cars.wake();
    });
    this.zoneList.addEventListener("click", (event) => {
      const link = event.target.closest("[data-zone-point]");
      if (!link || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      this.trip.put("pickup", placeOf(link));
    });
    this.zoneList.addEventListener("change", ({ target }) => {
      const link = this.zoneList.querySelector(`[data-zone-point="${CSS.escape(target.value)}"]`);
      if (link) this.trip.put("pickup", placeOf(link));
    });
  }

  #pickupMoved() {
    if (!this.trip.at("pickup")) this.drawZone(null, "");
    this.#suggestDrops();
  }

  /** Show the pickup points of a zone, as the server's markup. */
  drawZone(zone, markup) {
    const key = JSON.stringify([zone, markup]);
    if (key === this.shownZone) return;
    this.shownZone = key;
    const focused = this.zoneList.contains(document.activeElement);
    this.zoneList.replaceChildren(...nodesOf(markup));
    // focus the list box or link that was used, so that the next arrow key works
    const used = [...this.zoneList.querySelectorAll("select, [aria-current]")].at(-1);
    if (focused) (used ?? this.trip.ends.pickup.input).focus();
    this.#tell("zone", { zone });
  }

  /* ---- sending: by the button, or Ctrl+Enter ---- */

  #wireSending(showCarsButton, line) {
    showCarsButton.remove();
    this.hint = wireKeys(this.body, this.form, this.bookButton, {
      line,
      words: this.texts.sayEnter,
      signal: this.signal,
      onward: (field) => this.#onward(field),
    });
    this.form.addEventListener("submit", (event) => {
      const { submitter } = event;
      if (!this.#named() || (submitter === this.bookButton && this.#asks()))
        return event.preventDefault();
      // that button opens a page with further questions
      if (submitter?.name === "guest_starts") return;
      const tookOver = !this.#tell("send", { event });
      if (tookOver) return event.preventDefault();
      // after the browser has read the form, so that a second press sends no second order
      setTimeout(() => this.showSending());
    });
  }

  /* ---- keys ---- */

  #wireKeys() {
    this.keys = new CarKeys(this);
    const { pickup, drop } = this.trip.ends;
    for (const [key, act] of [
      ["p", () => pickup.input.focus()],
      ["g", () => drop.input.focus()],
      ["c", () => this.toCars()],
      ["a", () => this.when.open()],
    ])
      onKey(key, () => this.#usable && act());
  }

  /** Move the focus to the next empty field, else to the cars. Returns whether it is a field. */
  #onward(field) {
    const asker = this.#askers.find((each) => each.field === field);
    if (asker && field.value.trim()) leadBack(asker, this.signal);
    return this.#next(field);
  }

  #next(field) {
    const next = following(this.form, field, this.cars.box);
    if (next) next.focus();
    else this.toCars();
    return Boolean(next);
  }

  /** Move the focus to the cars, or to the element in their place. */
  toCars() {
    const { box } = this.cars;
    if (this.settled) return this.cars.focus();
    const offered = this.asking ? null : box.querySelector("button:not([hidden])");
    (offered ?? box).focus();
  }

  #named() {
    const name = this.form.querySelector("[name=guest_name]");
    if (name.value.trim()) return true;
    name.setCustomValidity(this.texts.sayName);
    name.reportValidity();
    name.addEventListener("input", () => name.setCustomValidity(""), { once: true });
    return false;
  }

  /** Show that the form is being sent. */
  showSending() {
    this.sending = true;
    this.bookButton.setAttribute("aria-busy", "true");
    this.bookButton.disabled = true;
    this.bookButton.textContent = this.texts.sayBooking;
  }

  /** Show that the form can be sent again. */
  showReady() {
    this.sending = false;
    this.bookButton.removeAttribute("aria-busy");
    this.updateButton();
    this.cars.wake();
  }

  #tell(name, detail = {}) {
    return this.dispatchEvent(new CustomEvent(name, { detail, cancelable: true }));
  }
}

/** The place of a link to a pickup point. */
export function placeOf(link) {
  const query = new URL(link.href).searchParams;
  return {
    name: query.get("pickup"),
    lat: Number(query.get("pickup_lat")),
    lng: Number(query.get("pickup_lng")),
  };
}
