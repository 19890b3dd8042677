/**
 * The requests behind the screens of a visit: places, cars, the order, a ride that is looked up,
 * and the guest's own phone. Answers that come after the end of their visit are ignored.
 */

import { clocks, passed } from "../shared/clocks.js";
import { cancelSheet, goneSheet, phoneSheet } from "./sheets.js";
import { problemOf, showPlaces, tellPlaces } from "./screens.js";
import { Lost } from "./server.js";
import { showAge, spokenCode, spokenPlate } from "./ticket.js";

const AGAIN_MS = 1_000;
const LIVE_MS = 3_000;
const AGE_MS = 1_000;
const OLD_S = 10; // answers come every three seconds; one may be late, or lost
const USUAL_S = 4;
const UNKNOWN_S = 20;
const ASKING_S = 180;
const WAITED_MS = { sending: UNKNOWN_S * 1_000, asking: (ASKING_S + UNKNOWN_S) * 1_000 };
const CODE_MS = 10_000;
const SLOW_MS = 4_000; // wait after which a pressed button shows that it is working
const GONE_MS = 5_000; // time to read where the visit continues
const TYPED_MS = 200;
const LOOK_AGAIN_MS = 3_000; // wait before a search that failed is repeated
const GRACE_MS = 5_000; // requests are repeated for this long: a restarting server is back by then
const PRESSED_MS = 3_000; // the same after Book: after UNKNOWN_S the result counts as unknown
const CARS_AGAIN_S = 5; // wait before cars are requested again after a request that failed
/** Screens that show prices of cars, in the guest's language. */
const OF_CARS = new Set(["car", "meet", "people", "who", "check"]);

/** The answer in place of one that says that our server does not have this ride any more. */
function lost(view, { headline, why, next }) {
  const detail = [why, next].filter(Boolean).join(" ");
  return { view: { ...view, headline, detail, lost: true }, cancel: null };
}

export class Booking {
  constructor(k) {
    this.k = k;
    this.timers = new Set();
    this.round = 0;
    this.finding = false;
    this.parts = null; // nodes of the place screen as it is now
    this.offers = null; // the latest request for cars: answers to older ones are ignored
    this.looked = null; // the same for the view of a ride
    this.viewed = null; // when the shown ride was last answered about
    this.sent = false; // whether the server may have received the order
  }

  /** Stop everything that this visit has under way. */
  stop() {
    this.round += 1;
    this.finding = this.sent = false;
    this.parts = this.asked = this.offers = this.looked = this.viewed = null;
    for (const timer of this.timers) clearTimeout(timer);
    this.timers.clear();
  }

  /** The fields that every request of a visit has. */
  get said() {
    return { visit: this.k.visit.id, lang: this.k.visit.language };
  }

  /**
   * The fields that open a ride: number and PIN, and the form token, by which the server recognises
   * the page that ordered the ride. If this page did, it opens no other ride with that number.
   */
  get ticket() {
    const { number, pin, formToken, ride } = this.k.visit;
    return { number, pin, form_token: formToken, ordered: ride ? "1" : "" };
  }

  later(act, ms) {
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      act();
    }, ms);
    this.timers.add(timer);
    return timer;
  }

  /**
   * The result of `send()`. Without an answer of the server the call is repeated for `grace` ms,
   * and for as long as the visit waits for a lost network. After that, and once the visit is over,
   * its error is thrown.
   */
  async #patiently(send, grace = GRACE_MS) {
    const { k, round } = this;
    const from = performance.now();
    for (;;) {
      try {
        return await send();
      } catch (error) {
        if (!(error instanceof Lost)) throw error;
        await k.pulse.beat(); // shows if our server can be reached
        const waits = k.pulse.missed && !k.visit.holds;
        if (round !== this.round || (!waits && performance.now() - from > grace)) throw error;
        await new Promise((done) => setTimeout(done, AGAIN_MS));
        if (round !== this.round) throw error;
      }
    }
  }

  /**
   * The answer to a form; null if the visit is over, if the answer is not `wanted` any more, or if
   * the visit now shows the screen for a missing answer.
   */
  async #post(path, fields, { grace, wanted = () => true } = {}) {
    const { k, round } = this;
    const send = () => k.server.post(path, { ...this.said, ...fields });
    const over = () => round !== this.round || !wanted();
    try {
      const answer = await this.#patiently(send, grace);
      return over() ? null : answer;
    } catch (error) {
      if (over()) return null;
      return error instanceof Lost ? k.pulse.unanswered() : k.pulse.refused();
    }
  }

  // ---- places ----

  /** Search for a typed place, once the guest pauses. */
  search() {
    const { visit } = this.k;
    this.#cancelSearch();
    visit.page = 0;
    visit.unfound = "";
    if ([...visit.typed.trim()].length < 2) {
      visit.places = null;
      showPlaces(this.k, this.parts);
    } else this.pause = this.later(() => this.#look({ q: visit.typed.trim() }), TYPED_MS);
  }

  searchTab(tab) {
    const { k } = this;
    this.#cancelSearch();
    k.visit.tab = tab;
    k.visit.page = 0;
    for (const node of k.root.querySelectorAll(".k-tab"))
      node.setAttribute("aria-pressed", String(node.dataset.press === `tab-${tab}`));
    this.#look({ tab });
  }

  /** Cancel the previous search. */
  #cancelSearch() {
    this.asked = null;
    clearTimeout(this.pause);
    this.timers.delete(this.pause);
  }

  /**
   * Search for places and show them on the present screen. A search that fails is repeated until
   * another one begins.
   */
  async #look(query) {
    const { k, round } = this;
    const request = (this.asked = {});
    let found = null;
    try {
      found = await this.#patiently(() =>
        k.server.get("/kiosk/places.json", { q: "", tab: "", ...query, ...this.said }),
      );
    } catch {
      // the place screen says so below, and searches again
    }
    if (round !== this.round || request !== this.asked || k.visit.screen !== "place") return;
    const { unfound } = k.visit;
    const looked = k.visit.find(found, k.t("limited"));
    showPlaces(k, this.parts);
    if (looked || !unfound) tellPlaces(k, this.parts);
    if (!looked) this.pause = this.later(() => this.#look(query), LOOK_AGAIN_MS);
  }

  typeOrList(typing) {
    this.#resetPlace(typing);
    this.k.draw();
    this.k.speak(this.k.spoken, true);
  }

  /** Open the list for a kind of place. */
  listKind(tab) {
    this.#resetPlace(false, tab);
    this.k.go("place");
  }

  /** Reset the place screen: no typed words; `tab` is the chosen list, "" for none. */
  #resetPlace(typing, tab = "") {
    this.#cancelSearch();
    Object.assign(this.k.visit, { typing, tab, places: null, unfound: "", typed: "" });
  }

  // ---- cars ----

  async cars() {
    const { k } = this;
    k.visit.unchosen();
    k.leap("car");
    if (await this.#requestCars((screen) => screen === "car")) this.#showCars();
  }

  /** The request for cars failed although our server is alive: the guest is sent to the staff. */
  unlisted() {
    const { visit } = this.k;
    const before = visit.answer;
    visit.answer = { state: "trouble", again_s: CARS_AGAIN_S };
    this.#showCars(before);
  }

  /** Show the cars, or why there are none; an answer equal to `before` is not read aloud again. */
  #showCars(before = null) {
    const { k } = this;
    const { answer } = k.visit;
    if (JSON.stringify(answer) !== JSON.stringify(before)) {
      k.draw();
      k.speak(k.spoken, true);
    }
    if (answer.again_s) this.later(() => this.#listAgain(answer), answer.again_s * 1_000);
  }

  /** The chosen car is not offered any more: go back to the list of cars. */
  #toCars() {
    this.k.leap("car");
    this.#showCars(this.k.visit.answer);
  }

  /** Request cars again after a failure, as long as the guest waits for them. */
  async #listAgain(before) {
    const { visit } = this.k;
    const waits = () => visit.screen === "car" && visit.answer === before;
    if (waits() && (await this.#requestCars(waits, 0))) this.#showCars(before);
  }

  /**
   * Request cars; the answer is stored in the visit. Null without an answer, and once no one waits
   * for it: `wanted(screen)` is false, or cars were requested again.
   */
  async #requestCars(wanted, grace) {
    const { visit } = this.k;
    const request = (this.offers = {});
    const answer = await this.#post("/kiosk/cars", visit.trip, {
      grace,
      wanted: () => request === this.offers && wanted(visit.screen),
    });
    if (!answer) return null;
    visit.answer = answer;
    visit.asked = Date.now();
    return answer;
  }

  /** Find the chosen car among new offers: see `Visit.renew`; "over" without an answer. */
  async again(wanted, grace) {
    const answer = await this.#requestCars(wanted, grace);
    return answer ? this.k.visit.renew(answer) : "over";
  }

  /** After a change of language, request the server's words in the new language. */
  async spoken() {
    const { k } = this;
    const { screen } = k.visit;
    if (screen === "car") this.cars();
    else if (OF_CARS.has(screen)) {
      const found = await this.again((now) => OF_CARS.has(now));
      if (found === "gone") this.#toCars();
      else if (found !== "over") k.draw();
    } else if (screen === "ride" || screen === "booked") this.#live(0);
    else if (screen === "place" && k.visit.typed) {
      k.visit.places = null;
      k.draw(); // drawing the screen searches again
    }
  }

  // ---- the order ----

  async order() {
    const { k } = this;
    const { visit } = k;
    visit.go("sending");
    visit.pressed = true;
    this.offers = null;
    this.sent = false;
    this.#begin("sending");
    k.draw();
    if (visit.stale(Date.now())) {
      const found = await this.again(() => true, PRESSED_MS);
      if (found === "over") return void this.#unsent(visit);
      if (found === "gone") return this.#toCars();
      if (found !== "same") {
        visit.changed = found;
        return void k.leap("check");
      }
    }
    await this.#order();
  }

  /** Our server was lost before anything was ordered: tell the guest, who need not wait. */
  #unsent(visit) {
    if (this.k.visit !== visit || visit.screen !== "sending") return;
    Object.assign(visit, { sorry: "not_booked", words: null });
    this.k.leap("sorry");
  }

  /** Start two timers: one shows the usual duration, the later one that the result is unknown. */
  #begin(state) {
    const { k } = this;
    for (const timer of [this.usual, this.late]) clearTimeout(timer);
    k.waited = 0;
    this.usual = this.later(() => {
      k.waited = USUAL_S;
      if (k.visit.screen === "sending") k.draw();
    }, USUAL_S * 1_000);
    this.late = this.later(() => {
      if (k.visit.screen in WAITED_MS) k.leap("unknown");
    }, WAITED_MS[state]);
  }

  async #order() {
    const { k, round } = this;
    let answer = null;
    try {
      // a guest who was told to ask the desk gets no car here later: from then on this page only
      // reads the state
      const look = k.visit.screen === "unknown" ? { look: "1" } : {};
      answer = await k.server.post("/kiosk/order", { ...this.said, ...k.visit.wish, ...look });
    } catch (error) {
      // the server may have received the order: the form is repeated, and makes no second one
      if (round !== this.round) return;
      if (!(error instanceof Lost)) return this.#refused();
      this.sent = true;
    }
    if (round !== this.round) return;
    // the desk still decides, even if one answer is lost
    this.#applyAnswer(answer ?? { state: k.visit.screen === "asking" ? "asking" : "sending" });
  }

  /** A form that the server refuses books nothing, but the same form sent before may have. */
  #refused() {
    const { k } = this;
    if (!this.sent) return void k.pulse.refused();
    k.pulse.beat(); // the heartbeat brings a new token
    k.visit.words = null;
    return this.#unknown();
  }

  #applyAnswer(answer) {
    const { k } = this;
    const { visit } = k;
    if (answer.ride?.number) visit.ride = answer.ride;
    const { state } = answer;
    const waits = state === "sending" || state === "asking";
    visit.words = waits ? null : (answer.words ?? null); // a wait has the page's own words
    this.sent ||= waits;
    if (waits) return this.#wait(state);
    if (state === "booked") return this.#booked(answer);
    if (state === "needs_code" || state === "wrong_code") {
      visit.wrongCode = state === "wrong_code";
      visit.code = "";
      return k.leap("code");
    }
    if (answer.field) {
      visit.unfit = true;
      visit.field = answer.field; // the only field that has to be typed again
      return k.leap("who");
    }
    if (state === "changed") {
      visit.changed = answer.changed;
      visit.car = { ...visit.car, offer: answer.changed.offer };
      return k.leap("check");
    }
    if (state === "unknown") return this.#unknown();
    visit.sorry = state;
    if (state === "full") k.pulse.beat(); // the start screen says so at the end of this visit
    return k.leap("sorry");
  }

  #wait(state) {
    const { k } = this;
    const { screen } = k.visit;
    this.later(() => this.#order(), AGAIN_MS);
    if (screen === "unknown" || screen === state) return;
    this.#begin(state); // after the desk's approval the booking has its own 20 s
    k.leap(state);
  }

  #unknown() {
    this.k.leap("unknown");
    this.later(() => this.#order(), LIVE_MS);
  }

  #booked({ view = null }) {
    const { k } = this;
    k.visit.view = view;
    k.visit.number = (k.visit.ride.number ?? "").replace(/^\D+/, "");
    k.visit.pin = k.visit.ride.pin ?? "";
    this.#follow();
    k.leap("booked");
  }

  // ---- a ride that is looked up ----

  async find() {
    const { k, round } = this;
    const { visit } = k;
    if (this.finding) return; // each press would count as a try of the PIN
    this.finding = true;
    const slow = this.later(() => {
      visit.problem = { headline: k.t("limited") };
      k.draw();
    }, SLOW_MS);
    const { number, pin } = visit;
    const answer = await this.#post("/kiosk/ride", { number, pin });
    if (round !== this.round) return;
    clearTimeout(slow);
    this.finding = false;
    visit.problem = "";
    if (!answer) return;
    if (answer.state !== "ok") {
      const usual = { closed: "ride_closed", limited: "limited" }[answer.state] ?? "wrong_pin";
      visit.problem = answer.words ?? { headline: k.t(usual) };
      visit.pin = "";
      k.draw();
      return void k.speak([problemOf(visit.problem)], true);
    }
    Object.assign(visit, { number, pin }); // replaces whatever was typed meanwhile
    this.#applyView(answer);
    k.go("ride");
    this.#follow();
  }

  /** Keep the facts of the shown ride up to date, and show their age while no answer comes. */
  #follow() {
    this.viewed = clocks();
    this.#live(LIVE_MS);
    this.#showAge();
  }

  /** The age of the ride's facts in seconds; 0 as long as answers come. */
  get ageS() {
    const s = this.viewed ? passed(this.viewed) / 1_000 : 0;
    return s < OLD_S ? 0 : s;
  }

  #showAge() {
    clearTimeout(this.aging);
    showAge(this.k);
    this.aging = this.later(() => this.#showAge(), AGE_MS);
  }

  #live(ms) {
    const request = (this.looked = {});
    clearTimeout(this.look);
    this.look = this.later(async () => {
      const { visit } = this.k;
      if (visit.screen !== "ride" && visit.screen !== "booked") return;
      try {
        const answer = await this.k.server.post("/kiosk/ride", { ...this.said, ...this.ticket });
        // meanwhile the ride was cancelled, or requested in another language
        if (request !== this.looked) return;
        if (answer.state === "ok") this.#applyView(answer);
        if (answer.state === "gone") this.#applyView(lost(visit.view, answer.words));
      } catch {
        // the known facts stay; the heartbeat reports it if our server can't be reached
      }
      if (request === this.looked) this.#live(LIVE_MS);
    }, ms);
  }

  /** Take a new view of the ride; the screen is drawn again only if a word has changed. */
  #applyView(answer) {
    const { k } = this;
    const { visit } = k;
    this.viewed = clocks();
    const before = JSON.stringify([visit.view, visit.cancel]);
    const known = visit.view?.plate;
    Object.assign(visit, { view: answer.view, cancel: answer.cancel });
    if (visit.view?.plate !== known) visit.start = null; // another car has another code
    if (before === JSON.stringify([visit.view, visit.cancel])) return;
    if (visit.screen === "ride" || visit.screen === "booked") {
      k.draw();
      const { headline, detail, phase, lost: isLost } = answer.view ?? {};
      const ended = phase === "none" || isLost;
      k.speak([headline, ended ? detail : "", ...spokenPlate(k, known)]);
      if (ended) k.idle.touched(); // the usual time to read that begins now
    }
  }

  /** Show the start code for only ten seconds, so that no one reads it later. */
  async showCode() {
    const { k } = this;
    const answer = await this.#post("/kiosk/ride", { ...this.ticket, code: "1" });
    if (!answer?.code) return;
    Object.assign(k.visit, { start: { code: answer.code }, page: 0 }); // page 0 has the code
    k.draw();
    k.speak(spokenCode(k), true);
    clearTimeout(this.hiding); // the timer of an earlier press
    this.hiding = this.later(() => {
      k.visit.start = null;
      k.draw();
    }, CODE_MS);
  }

  askCancel() {
    this.k.lay(cancelSheet(this.k, () => this.#cancel()));
  }

  async #cancel() {
    const { k } = this;
    const answer = await this.#post("/kiosk/cancel", this.ticket);
    if (!answer) return;
    k.visit.cancel = null;
    const { headline, why, next } = answer.words ?? {};
    if (headline)
      k.visit.view = { ...k.visit.view, headline, detail: [why, next].filter(Boolean).join(" ") };
    k.draw();
    k.speak([headline, why, next], true);
    this.#live(LIVE_MS);
  }

  // ---- other ways ----

  async ownPhone() {
    const { k } = this;
    const wanted = () => k.visit.screen === "where"; // the guest may have chosen a place meanwhile
    const answer = await this.#post(k.data.kiosk.own_phone, { own: "new" }, { wanted });
    if (!answer?.phone) return;
    k.lay(phoneSheet(k, answer));
    this.#opened();
  }

  /** Once a phone has opened the link, the visit continues there and ends here. */
  #opened() {
    this.later(async () => {
      const { k } = this;
      if (!k.frame.has("phone")) return;
      const wanted = () => k.frame.has("phone"); // the guest may have gone on, and pressed Book
      const answer = await this.#post(k.data.kiosk.own_phone, { own: "look" }, { wanted });
      if (!answer) return;
      if (!answer.opened) return void this.#opened();
      k.lay(goneSheet(k, answer.words));
      this.later(() => k.end("done"), GONE_MS);
    }, LIVE_MS);
  }
}
