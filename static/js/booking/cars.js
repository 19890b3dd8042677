/**
 * The product cards: requests them, inserts them and remembers the choice. The server renders the
 * markup.
 */

import { ask } from "../shared/ask.js";
import { clocks, passed } from "../shared/clocks.js";
import { keepFocus } from "../shared/focus.js";
import { parsed } from "../shared/markup.js";

const SKELETON_MS = 300; // after this time a skeleton is shown
const SLOW_MS = 4_000;
const AGAIN_MS = 5_000; // wait after a request without an answer
const RARELY_MS = 60_000; // the longest wait between two requests while no cars come
// requests in a row that the page makes by itself without getting cars; after them it asks only
// when the user presses, or when it becomes visible or connected again
const TRIES = 30;
const EARLY_MS = 500; // how much too early a timer may fire
const CLEAR = 8; // px between the chosen card and the bar below it

export class Cars extends EventTarget {
  /** `skeleton`, `empty` and `unanswered` are templates for the box without cars. */
  constructor(box, { path, words, skeleton, empty, unanswered, status, signal }) {
    super();
    Object.assign(this, { box, path, words, skeleton, empty, unanswered, status });
    this.running = null;
    this.trip = null;
    this.timer = null;
    // prices are renewed after this time, before the offers expire
    this.freshMs = Number(box.dataset.freshMs);
    this.usual = ""; // the category of the guest's last ride
    // the category that the user chose; empty: the server's choice
    this.picked = box.dataset.category;
    // the ms until cars are requested again, if there may be some later; 0 if the time is unknown,
    // null if no later request would help
    this.again = asks(box);
    // during an outage: {offer}, the offer that was chosen in the list before, or ""; else null
    this.lost = null;
    this.#noteTry();
    box.addEventListener("change", (event) => this.#changed(event.target));
    for (const [target, kind] of [
      [document, "visibilitychange"],
      [window, "online"],
    ])
      target.addEventListener(kind, () => this.#back(), { signal });
    signal?.addEventListener("abort", () => this.#end());
    this.at = box.querySelector("[data-products]") ? clocks() : null; // when the prices came
    if (this.at) this.#later();
    else this.wake();
  }

  /** The radio button of the chosen car, or null. */
  get chosen() {
    return this.box.querySelector("input[name=offer]:checked");
  }

  /** Whether a request is under way. */
  get busy() {
    return this.box.getAttribute("aria-busy") === "true";
  }

  /** Choose the guest's usual category, unless the user chose one or the trip has no drop. */
  prefer(category) {
    this.usual = category;
    const priced = !this.trip || this.trip.drop;
    const card =
      category && !this.picked && priced
        ? this.box.querySelector(`[data-product="${CSS.escape(category)}"]:not(.is-far)`)
        : null;
    const radio = card?.querySelector("[name=offer]:enabled");
    if (!radio) return;
    radio.checked = true;
    this.#tell();
    this.reveal();
  }

  /** Choose the car with this number, as the cards are numbered. */
  take(number) {
    const card = this.box.querySelectorAll("[data-product]")[number - 1];
    const radio = card?.querySelector("[name=offer]:enabled");
    radio?.click();
    radio?.focus();
  }

  /** Choose the next number of seats of the chosen car, if it has several. */
  nextSeats() {
    const card = this.chosen?.closest("[data-product]");
    const seats = [...(card?.querySelectorAll("[name=seats]:enabled") ?? [])];
    const at = seats.findIndex((seat) => seat.checked);
    seats[(at + 1) % seats.length]?.click();
  }

  /** Move the focus to the chosen car, else to the first; without cars, to the box. */
  focus() {
    (this.chosen ?? this.box.querySelector("[name=offer]:enabled") ?? this.box).focus();
  }

  /**
   * The chosen car: category, offer, name, the number of seats ("" if there is no choice), and the
   * texts for the button (with {car}) and for the terms below it. Null for none.
   */
  get choice() {
    const car = this.chosen;
    if (!car) return null;
    const seat = this.#seatOf(car);
    return {
      category: car.dataset.category,
      offer: car.value,
      name: (seat ?? car).dataset.name,
      seats: seat?.value ?? "",
      button: (seat ?? car).dataset.button,
      price: (seat ?? car).dataset.price,
      group: (seat ?? car).dataset.group.split("|"),
      terms: car.dataset.terms,
    };
  }

  /**
   * Load the cards for a trip {pickup, drop, account, guest, party}, `party` with people, bags and
   * the number of cars, which only words depend on; without a pickup, remove the cards. With
   * `compare` the page asks by itself, and does not show that a request is under way. Resolves to
   * {ok, …the answer}, or to null if the cards were removed, if a newer request was made meanwhile,
   * or if a request with `compare` brought nothing to show.
   */
  async load(trip) {
    if (!trip?.compare && !sameTrip(this.trip, trip)) this.lost = null;
    this.trip = trip;
    this.running?.abort();
    clearTimeout(this.timer);
    if (!trip?.pickup) return this.#clear();
    const mine = (this.running = new AbortController());
    const timers = trip.compare ? [] : this.#waiting(); // a renewal shows no progress
    const before = this.choice;
    const { picked, usual } = this;
    const { ok, status, body, stopped } = await ask(
      this.path,
      this.#params(trip, before),
      mine.signal,
    );
    timers.forEach(clearTimeout);
    if (stopped || mine !== this.running) return null;
    this.#noteTry(trip.compare && !ok && !this.at ? this.tries + 1 : 0);
    if (trip.compare && !body.html && status !== 401) return this.#keep();
    this.box.removeAttribute("aria-busy");
    const now = this.choice; // the user may have chosen meanwhile
    const listed = this.box.querySelector("[data-product]") !== null;
    if (trip.compare && listed) this.lost = { offer: now?.offer ?? "" };
    this.#paint(ok, status, body, Boolean(trip.compare) && listed);
    if (this.picked !== picked) this.#unsay(); // the answer's notes are about an earlier choice
    if (now && (this.picked !== picked || now.seats !== before?.seats)) this.#choose(now);
    else if (this.lost?.offer === "") this.#unchoose();
    if (ok) this.lost = null;
    // meanwhile a guest with another usual car may have been chosen
    if (this.usual !== usual) this.prefer(this.usual);
    return { ok, ...body };
  }

  /** The parameters of a request for a trip; `before` is the choice so far, or null. */
  #params({ pickup, drop, compare, account, guest, party }, before) {
    return {
      pickup: pickup.name,
      pickup_lat: pickup.lat,
      pickup_lng: pickup.lng,
      drop: drop?.name,
      drop_lat: drop?.lat,
      drop_lng: drop?.lng,
      category: this.picked,
      usual: this.usual,
      seats: before?.seats,
      before: (compare ? before?.offer : null) ?? this.lost?.offer,
      account,
      guest: drop ? "" : guest, // for the suggested drops
      ...party,
    };
  }

  /**
   * After a renewal without an answer the cards stay, and another renewal follows. A price that is
   * too old by then is not ordered: the server returns the form.
   */
  #keep() {
    if (this.at) this.#later(AGAIN_MS);
    else this.wake();
    return null;
  }

  /** Note that a request has ended; `tries` of the page's own requests in a row brought no cars. */
  #noteTry(tries = 0) {
    this.asked = clocks();
    this.tries = tries;
  }

  /** The page is visible or connected again: there may be an answer now. */
  #back() {
    this.tries = 0;
    this.wake();
  }

  /** A renewal, or the end of an outage, must not choose a car if the user has chosen none. */
  #unchoose() {
    if (!this.chosen) return;
    this.chosen.checked = false;
    this.#tell();
  }

  /** Choose the car and the seats of an earlier choice again, if the new cards have them. */
  #choose({ category, seats }) {
    const card = this.box.querySelector(`[data-product="${CSS.escape(category)}"]`);
    const car = card?.querySelector("[name=offer]:enabled");
    if (!car) return;
    car.checked = true;
    const seat = card.querySelector(`[name=seats][value="${CSS.escape(seats)}"]:enabled`);
    if (seat) seat.checked = true;
    this.#tell();
  }

  #clear() {
    this.running = null;
    this.at = null;
    this.again = null;
    this.#unsay();
    this.status.textContent = "";
    this.box.removeAttribute("aria-busy");
    this.box.style.minBlockSize = "";
    // a button in the box may be pressed at this moment: leaving the empty drop field has led here
    if (!this.box.querySelector("[data-drops]"))
      this.box.replaceChildren(this.empty.content.cloneNode(true));
    this.#tell();
    return null;
  }

  #paint(ok, status, body, renewing) {
    if (!renewing) this.#unsay();
    // outside of the box a digit key would choose a drop instead of a car: see car_keys.js
    keepFocus(this.box, () => this.#replace(ok, status, body, renewing), this.box);
    const count = this.box.querySelectorAll("[data-product]").length;
    this.status.classList.add("visually-hidden"); // the count is only for screen readers
    if (!renewing)
      this.status.textContent = ok && count ? this.words.cars.replace("{n}", count) : "";
    this.at = ok ? clocks() : null;
    if (ok) this.#later();
    else this.wake();
    this.#tell();
  }

  /** Show the cards of an answer, or why there are none. */
  #replace(ok, status, body, renewing) {
    if (body.html) {
      const fresh = parsed(body.html).body;
      this.again = asks(fresh);
      // the same words are read out once only, except after a press
      const sameWords = !ok && this.trip.compare && unnumbered(this.box) === unnumbered(fresh);
      if (sameWords) renumber(this.box, fresh);
      if (note(fresh)) this.#unsay();
      if (!sameWords && (!renewing || !renew(this.box, fresh))) replace(this.box, fresh);
    } else {
      this.again = status === 0 || status >= 500 ? 0 : null;
      const line = this.unanswered.content.cloneNode(true);
      const words = status === 401 ? this.words.signedOut : body.message || this.words.failed;
      line.querySelector("p").textContent = words;
      line.querySelector("button").hidden = status === 401;
      this.box.replaceChildren(line);
    }
  }

  /** If the form is a column that scrolls, scroll the chosen card into view, above the bar. */
  reveal() {
    const column = this.box.closest("[data-desk-form]");
    const card = this.chosen?.closest("[data-product]");
    if (!card || !column || column.scrollHeight <= column.clientHeight) return;
    const bar = column.querySelector("[data-bar]");
    column.style.scrollPaddingBlockEnd = `${bar.offsetHeight + CLEAR}px`;
    card.scrollIntoView({ block: "nearest" });
  }

  /** Show progress without flicker: old cards stay, dimmed; without cards, a skeleton is shown. */
  #waiting() {
    this.box.setAttribute("aria-busy", "true");
    return [
      setTimeout(() => {
        this.status.classList.remove("visually-hidden");
        this.status.textContent = this.words.loading;
        if (!this.box.querySelector("[data-products]")) {
          const skeleton = this.skeleton.content.cloneNode(true);
          keepFocus(this.box, () => this.box.replaceChildren(skeleton), this.box);
          // elements below stay in place if fewer cars come
          this.box.style.minBlockSize = `${this.box.offsetHeight}px`;
        }
      }, SKELETON_MS),
      setTimeout(() => (this.status.textContent = this.words.slow), SLOW_MS),
    ];
  }

  #changed(radio) {
    if (radio.name === "seats") {
      const car = this.box.querySelector(`#${radio.dataset.seatOf}`);
      if (car && !car.disabled) car.checked = true;
      car.closest("[data-product]").querySelector(".product-price").textContent =
        radio.dataset.price;
    }
    this.#unsay(); // a user who chooses has seen the note
    this.picked = this.chosen?.dataset.category ?? this.picked;
    this.#tell();
    this.reveal(); // the card and the bar have become larger
  }

  /** Remove the notes about changed prices and cars; one of them may stand above the form. */
  #unsay() {
    const all = this.box.closest("[data-booking], [data-desk-body]") ?? this.box;
    all.querySelectorAll("[data-changed]").forEach((each) => {
      if (each.contains(document.activeElement)) this.box.focus({ preventScroll: true });
      each.remove();
    });
  }

  #seatOf(car) {
    return this.box.querySelector(`input[name=seats][data-seat-of="${car.id}"]:checked`);
  }

  #tell() {
    this.dispatchEvent(new Event("chosen"));
  }

  /** Stop all requests, because the form was removed. */
  #end() {
    clearTimeout(this.timer);
    this.running?.abort();
    this.running = this.at = null;
  }

  #later(ms = this.freshMs) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.wake(), ms);
  }

  /** The ms between two requests while no cars come. */
  get #wait() {
    if (this.again) return Math.max(this.again, AGAIN_MS);
    return Math.min(AGAIN_MS * 2 ** this.tries, RARELY_MS);
  }

  /**
   * Renew old prices, including those that became old while the page was hidden. Without cars, ask
   * again: after the time that the last answer named, else ever more rarely.
   */
  wake() {
    if (document.hidden) return;
    let left = null;
    if (this.at) left = this.freshMs - passed(this.at);
    else if (this.again !== null && this.tries < TRIES) left = this.#wait - passed(this.asked);
    if (left === null) return;
    if (left > EARLY_MS) this.#later(left);
    else this.dispatchEvent(new Event("old"));
  }
}

/** Whether two trips have the same ends and the same account, and so the same cars. */
function sameTrip(one, other) {
  const [mine, its] = [one, other].map((trip) =>
    [trip?.pickup, trip?.drop].map((end) => [end?.lat, end?.lng]),
  );
  return String(mine) === String(its) && one?.account === other?.account;
}

/** When to ask again, as in `again`, from the server's message about a lack of cars. */
function asks(part) {
  const line = part.querySelector("[data-asks]");
  return line && Number(line.dataset.asks) * 1_000;
}

function unnumbered(part) {
  return wordsOf(part).replace(/\p{Nd}+/gu, "0");
}

/** Show the seconds of a new alert in the old alert, which is not read out again. */
function renumber(box, fresh) {
  const [line, freshLine] = [box, fresh].map((part) => part.querySelector("[data-asks]"));
  if (!line || !freshLine || wordsOf(line) === wordsOf(freshLine)) return;
  line.closest("[role=alert]")?.removeAttribute("role");
  line.replaceWith(freshLine);
}

function wordsOf(part) {
  return part.textContent.replace(/\s+/g, " ").trim();
}

/**
 * The line about a changed price or a car that is gone; it stays until the user chooses a car, or
 * another trip.
 */
function note(box) {
  return box.querySelector("[data-changed]");
}

/**
 * Put new offers into the cards; cards with the same text stay. False when the cards have to be
 * replaced, such as for other cars.
 */
function renew(box, fresh) {
  const cards = [...box.querySelectorAll("[data-product]")];
  const freshCards = [...fresh.querySelectorAll("[data-product]")];
  const same =
    cards.length === freshCards.length &&
    cards.every((card, i) => card.dataset.product === freshCards[i].dataset.product);
  if (
    !same ||
    !cards.length ||
    fresh.querySelector(".alert") ||
    box.querySelector(".alert:not([data-changed] *)")
  )
    return false;
  cards.forEach((card, i) => {
    if (wordsOf(card) === wordsOf(freshCards[i])) {
      card.querySelector("[name=offer]").value = freshCards[i].querySelector("[name=offer]").value;
    } else {
      swap(card, freshCards[i]);
    }
  });
  return true;
}

function replace(box, fresh) {
  const oldNote = note(box);
  if (oldNote && fresh.querySelector("[data-product]")) fresh.prepend(oldNote);
  const opened = [...box.querySelectorAll("[data-product] details[open]")];
  const open = new Set(opened.map((part) => part.closest("[data-product]").dataset.product));
  const focus = focused(box);
  box.replaceChildren(...fresh.childNodes);
  for (const card of box.querySelectorAll("[data-product]")) {
    if (open.has(card.dataset.product)) card.querySelector("details")?.setAttribute("open", "");
    if (focus?.category === card.dataset.product)
      card.querySelector(focus.what)?.focus({ preventScroll: true });
  }
}

function swap(card, newCard) {
  const focus = focused(card);
  const open = card.querySelector("details[open]");
  const checked = [...card.querySelectorAll("input")].map((input) => input.checked);
  card.replaceWith(newCard);
  newCard
    .querySelectorAll("input")
    .forEach((input, i) => (input.checked = !input.disabled && Boolean(checked[i])));
  if (open) newCard.querySelector("details")?.setAttribute("open", "");
  if (focus) newCard.querySelector(focus.what)?.focus({ preventScroll: true });
}

/** The focused part of a card: {category, what: a selector within the card}, or null. */
function focused(box) {
  const at = document.activeElement;
  const card = box.contains(at) ? at.closest("[data-product]") : null;
  if (!card) return null;
  let what = "[name=offer]";
  if (at.name === "seats") what = `[name=seats][value="${at.value}"]`;
  else if (at.matches("summary")) what = "summary";
  return { category: card.dataset.product, what };
}
