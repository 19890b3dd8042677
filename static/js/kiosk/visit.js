/**
 * All data of one guest's visit, in one object that is dropped at its end: nothing is in a cookie,
 * storage or address. Independent of DOM and network.
 */

const USUAL_S = 60;
/**
 * Seconds without a touch after which a screen asks "Still there?", or the ticket ("booked") counts
 * down to the end of the visit; 0: never.
 */
const WAITS = {
  start: 0,
  where: 60,
  place: 90,
  car: 60,
  meet: 60,
  people: 60,
  who: 90,
  check: 90,
  code: 90,
  sending: 0,
  asking: 0,
  booked: 60,
  find: 90,
  ride: 45,
  sorry: 45,
  unknown: 45,
};
/**
 * The screens in the order of a visit, which is that of `KioskScreen` in ridedash/store/; only the
 * furthest one of a visit is reported.
 */
const ORDER = Object.keys(WAITS);
/**
 * Screens without a way back: the start, those after Book, as an order may be under way, and
 * "sorry", whose own buttons lead on.
 */
const NO_WAY_BACK = new Set(["start", "sending", "asking", "booked", "unknown", "sorry"]);
/** Screens with an order that may be under way: a lost network does not replace them. */
const HOLDS = new Set(["sending", "asking", "booked", "unknown"]);
const FORGET_OFFERS_MS = 110_000; // the server accepts an offer for two minutes

export class Visit {
  constructor(language, now) {
    this.id = random();
    this.formToken = random(); // places one order, however often the form is sent
    this.language = language;
    this.aids = new Set();
    this.began = now;
    this.begun = false; // whether anybody has touched the screen
    this.pressed = false; // whether Book was pressed in the present attempt
    this.screen = "start";
    this.furthest = "start";
    this.trail = [];
    this.forget();
    this.name = "";
    this.phone = "";
    this.code = "";
    this.noTicket();
    this.words = null; // the words of the last refusal
    this.unfit = false; // whether that refusal was about the guest's details
    // critical sentences (docs/languages.md 2) whose translation no person has read -> English
    this.english = {};
    this.mapped = new WeakSet(); // maps of which a picture has loaded
  }

  /** Add the English of an answer's sentences. */
  hear({ english }) {
    Object.assign(this.english, english);
  }

  /** Forget the chosen destination, car and pickup. */
  forget() {
    this.drop = null;
    this.point = "";
    this.typed = "";
    this.places = null;
    this.unfound = ""; // why a search failed
    this.unchosen();
  }

  /**
   * Store the result of a search, null for no answer. Returns whether the search worked. A search
   * that failed does not mean that the place does not exist: the screen shows the headline of the
   * answer, or `why` if it has none.
   */
  find(found, why) {
    const failed = !found || ["limited", "trouble"].includes(found.state);
    this.unfound = failed ? (found?.words?.headline ?? why) : "";
    this.places = failed ? null : found.results;
    return !failed;
  }

  /** Forget the ride of an earlier order, which another one follows. */
  noTicket() {
    this.number = "";
    this.pin = "";
    this.ride = null; // {number, pin, link, qr, …} after Book
    this.view = null; // the present facts of the ride
    this.cancel = null; // whether it may be cancelled, and what that costs
    this.start = null; // its start code, while it is shown
  }

  /** Drop the offers: cars have to be requested again. */
  unchosen() {
    this.answer = null; // the answer of /kiosk/cars
    this.asked = 0;
    this.car = null;
    this.seats = 0;
    this.changed = null; // {old, new}: a price that differs from the one that was shown
    this.page = 0;
  }

  /** Go on to another screen; Back returns to the present one. */
  go(screen) {
    if (screen === this.screen) return;
    this.trail.push(this.screen);
    this.#at(screen);
  }

  /** Go to a screen whose Back does not lead to the present one, or return to an earlier screen. */
  leap(screen) {
    const on = this.trail.indexOf(screen);
    if (on >= 0) this.trail.length = on;
    this.#at(screen);
  }

  get mayGoBack() {
    return !NO_WAY_BACK.has(this.screen) && this.trail.length > 0;
  }

  /**
   * Whether the guest has a booking here, waits for one, or reads why pressing Book failed. A lost
   * network does not replace these screens.
   */
  get holds() {
    return HOLDS.has(this.screen) || (this.screen === "sorry" && this.pressed);
  }

  back() {
    if (this.mayGoBack) this.screen = this.trail.pop();
  }

  #at(screen) {
    this.screen = screen;
    if (ORDER.indexOf(screen) > ORDER.indexOf(this.furthest)) this.furthest = screen;
  }

  choose(drop) {
    this.unchosen();
    this.drop = drop;
  }

  /**
   * Prepare another order, after one that is known to have failed. `trail` is the list of screens
   * to which Back leads, the last one first.
   */
  anew(trail) {
    this.formToken = random();
    this.pressed = false;
    // of this attempt: its order's ticket is not shown because an earlier attempt came further
    this.furthest = "start";
    this.code = "";
    this.words = null;
    this.noTicket();
    this.trail = trail;
  }

  chooseCar(car) {
    this.car = car;
    this.seats = 0;
    this.changed = null;
  }

  /**
   * Find the chosen car among new offers by its name, which is the same in every language, and
   * choose its new offer. Returns "gone" if there is none, "same" if its price is the same or no
   * car was chosen, else the prices {old, new}.
   */
  renew({ state, cars }) {
    const { car, seats, price } = this;
    if (state !== "ok") return "gone";
    if (!car) return "same";
    const shared = Boolean(car.seats?.length);
    const same = cars.find(
      (each) => each.name === car.name && Boolean(each.seats?.length) === shared,
    );
    if (!same) return "gone";
    this.chooseCar(same);
    this.seats = seats;
    return this.price === price ? "same" : { old: price, new: this.price };
  }

  /** Whether the shown prices are too old to be booked. */
  stale(now) {
    return now - this.asked > FORGET_OFFERS_MS;
  }

  /** The price of the chosen car, as it is shown. */
  get price() {
    if (this.changed) return this.changed.new;
    return this.car?.seats?.find((each) => each.seats === this.seats)?.price ?? this.car?.price;
  }

  /** The fields of a request to `/kiosk/cars`. */
  get trip() {
    const { drop, point } = this;
    return { drop_lat: drop.lat, drop_lng: drop.lng, drop_name: drop.name, point };
  }

  /** The fields of a request to `/kiosk/order`. */
  get wish() {
    const { car, formToken, seats, name, phone, code } = this;
    return { form_token: formToken, offer: car.offer, seats: seats || "", name, phone, code };
  }

  /** The report of the visit's end: how it ended, the furthest screen, the aids in use, seconds. */
  tally(how, now) {
    const seconds = Math.round((now - this.began) / 1000);
    return { how, screen: this.furthest, aids: [...this.aids].join(","), seconds };
  }
}

/**
 * The seconds for which a screen waits for a touch. `usual` is the kiosk's own value for screens of
 * 60 s, by which the other screens are scaled.
 */
export function waitOf(screen, usual) {
  return Math.round(((WAITS[screen] ?? 0) * (usual || USUAL_S)) / USUAL_S);
}

function random() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
