/**
 * All that is known of one guest's visit, in one object that dies with it: no cookie, no storage,
 * no address holds any of it. Knows neither DOM nor network.
 */

const USUAL_S = 60;
/** Seconds without a touch after which a screen asks "Still there?". 0: never. */
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
/** In the order in which a guest meets them: the furthest one is counted, and nothing else. */
const ORDER = Object.keys(WAITS);
/** What follows a press of Book has no way back: an order may be on its way. */
const NO_WAY_BACK = new Set(["start", "sending", "asking", "booked", "unknown", "sorry"]);
/** An order may be on its way: these end by themselves, and no lost network takes them away. */
const HOLDS = new Set(["sending", "asking", "booked", "unknown"]);
const FORGET_OFFERS_MS = 110_000; // the server takes an offer for two minutes

export class Visit {
  constructor(language, now) {
    this.id = random();
    this.formToken = random(); // one order, however often Book is pressed
    this.language = language;
    this.aids = new Set();
    this.began = now;
    this.begun = false; // whether anybody has touched anything
    this.screen = "start";
    this.furthest = "start";
    this.trail = [];
    this.forget();
    this.name = "";
    this.phone = "";
    this.code = "";
    this.number = "";
    this.pin = "";
    this.ride = null; // {number, pin, link, qr, …} after Book
    this.view = null; // what is known of the ride now
    this.mapped = false; // whether a picture of its map has come
    this.words = null; // of the last refusal
    this.unfit = false; // whether that was about who it is for
    this.english = {}; // of critical sentences that nobody has read in another language
  }

  /** An answer of the server's brings the English of what it says. */
  hear({ english }) {
    Object.assign(this.english, english);
  }

  /** Nothing is chosen: where to, by which car, from where. */
  forget() {
    this.drop = null;
    this.point = "";
    this.typed = "";
    this.places = null;
    this.unfound = ""; // why a search could not be made
    this.unchosen();
  }

  /**
   * What a search has found, null for no answer; whether it could be made at all. One that could
   * not has not found that there is no such place: `why` says so where the answer does not.
   */
  find(found, why) {
    const failed = !found || ["limited", "trouble"].includes(found.state);
    this.unfound = failed ? (found?.words?.headline ?? why) : "";
    this.places = failed ? null : found.results;
    return !failed;
  }

  /** The cars are asked for anew. */
  unchosen() {
    this.answer = null; // of /kiosk/cars
    this.asked = 0;
    this.car = null;
    this.seats = 0;
    this.changed = null; // {old, new}: a price that is not the one that was shown
    this.page = 0;
  }

  /** Go on to another screen; the one left is where Back leads. */
  go(screen) {
    if (screen === this.screen) return;
    this.trail.push(this.screen);
    this.#at(screen);
  }

  /** Go on without a way back to the screen that is left; or go back to one on the way. */
  leap(screen) {
    const on = this.trail.indexOf(screen);
    if (on >= 0) this.trail.length = on;
    this.#at(screen);
  }

  get mayGoBack() {
    return !NO_WAY_BACK.has(this.screen) && this.trail.length > 0;
  }

  /** Whether the guest has a booking here, or waits for it. */
  get holds() {
    return HOLDS.has(this.screen);
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

  /** Another try is another order: the last one came to nothing, and is known to. */
  anew(trail) {
    this.formToken = random();
    this.code = "";
    this.words = null;
    this.trail = trail;
  }

  chooseCar(car) {
    this.car = car;
    this.seats = 0;
    this.changed = null;
  }

  /**
   * The car that is chosen, among new offers: its name is the ride company's, in every language.
   * "gone" without it, "same" at its price, else {old, new}.
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

  /** Whether the prices that are shown can still be booked. */
  stale(now) {
    return now - this.asked > FORGET_OFFERS_MS;
  }

  /** The price of what is chosen, as it is shown. */
  get price() {
    if (this.changed) return this.changed.new;
    return this.car?.seats?.find((each) => each.seats === this.seats)?.price ?? this.car?.price;
  }

  /** What `/kiosk/cars` is asked. */
  get trip() {
    const { drop, point } = this;
    return { drop_lat: drop.lat, drop_lng: drop.lng, drop_name: drop.name, point };
  }

  /** What `/kiosk/order` is asked. */
  get wish() {
    const { car, formToken, seats, name, phone, code } = this;
    return { form_token: formToken, offer: car.offer, seats: seats || "", name, phone, code };
  }

  /** What the end of a visit tells: counts and times. */
  tally(how, now) {
    const seconds = Math.round((now - this.began) / 1000);
    return { how, screen: this.furthest, aids: [...this.aids].join(","), seconds };
  }
}

/** Seconds that a screen waits for a touch; `usual` is the kiosk's own for a screen of 60 s. */
export function waitOf(screen, usual) {
  return Math.round(((WAITS[screen] ?? 0) * (usual || USUAL_S)) / USUAL_S);
}

function random() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
