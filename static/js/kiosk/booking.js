/**
 * What the screens of a visit do: cars, the order, a ride found again. Every answer that comes
 * after the end of its visit is forgotten.
 */

import { cancelSheet, goneSheet, phoneSheet } from "./sheets.js";
import { showPlaces, tellPlaces } from "./screens.js";
import { Lost } from "./server.js";
import { spokenCode, spokenPlate } from "./ticket.js";

const AGAIN_MS = 1_000;
const LIVE_MS = 3_000;
const USUAL_S = 4;
const UNKNOWN_S = 20;
const ASKING_S = 180;
const WAITED_MS = { sending: UNKNOWN_S * 1_000, asking: (ASKING_S + UNKNOWN_S) * 1_000 };
const CODE_MS = 10_000;
const SLOW_MS = 4_000; // after which a press that changes nothing yet says so
const GONE_MS = 5_000; // as long as somebody needs to read where to go on
const TYPED_MS = 200;
const LOOK_AGAIN_MS = 3_000; // after a search that could not be made
const GRACE_MS = 5_000; // a server that restarts is back by then
const PRESSED_MS = 3_000; // the same after Book, whose 20 s run
const CARS_AGAIN_S = 5; // after a question about cars that our server has not answered
/** Screens that show what the cars cost, in the guest's language. */
const OF_CARS = new Set(["car", "meet", "people", "who", "check"]);

export class Booking {
  constructor(k) {
    this.k = k;
    this.timers = new Set();
    this.round = 0;
    this.finding = false;
    this.parts = null; // of the place screen as it is drawn now
    this.offers = null; // the latest question about cars: nobody hears the answer to an older one
    this.looked = null; // the same of a ride
    this.sent = false; // whether the order may have been heard
  }

  /** Nothing of this visit happens any more. */
  stop() {
    this.round += 1;
    this.finding = this.sent = false;
    this.parts = this.asked = this.offers = this.looked = null;
    for (const timer of this.timers) clearTimeout(timer);
    this.timers.clear();
  }

  /** What every request of a visit carries. */
  get said() {
    return { visit: this.k.visit.id, lang: this.k.visit.language };
  }

  /** What opens a ride: number and PIN; and the page that booked it by what it alone knows. */
  get ticket() {
    const { number, pin, formToken } = this.k.visit;
    return { number, pin, form_token: formToken };
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
   * What `asked` resolves to. A server that does not answer is asked again for `grace` ms; then,
   * and once the visit is over, what it has thrown is thrown.
   */
  async #patiently(asked, grace = GRACE_MS) {
    const { round } = this;
    const from = performance.now();
    for (;;) {
      try {
        return await asked();
      } catch (error) {
        if (!(error instanceof Lost) || performance.now() - from > grace) throw error;
        await new Promise((done) => setTimeout(done, AGAIN_MS));
        if (round !== this.round) throw error;
      }
    }
  }

  /**
   * The answer to a form; null when the visit is over, when it is not `wanted` any more, or when
   * the visit has come to the screen that says that there is none.
   */
  async #post(path, fields, { grace, wanted = () => true } = {}) {
    const { k, round } = this;
    const asked = () => k.server.post(path, { ...this.said, ...fields });
    const over = () => round !== this.round || !wanted();
    try {
      const answer = await this.#patiently(asked, grace);
      return over() ? null : answer;
    } catch (error) {
      if (over()) return null;
      return error instanceof Lost ? k.pulse.unanswered(over) : k.pulse.refused();
    }
  }

  // ---- places ----

  /** Look a typed place up, once the guest pauses. */
  search() {
    const { visit } = this.k;
    this.#unasked();
    visit.page = 0;
    visit.unfound = "";
    if ([...visit.typed.trim()].length < 2) {
      visit.places = null;
      showPlaces(this.k, this.parts);
    } else this.pause = this.later(() => this.#look({ q: visit.typed.trim() }), TYPED_MS);
  }

  searchTab(tab) {
    const { k } = this;
    this.#unasked();
    k.visit.tab = tab;
    k.visit.page = 0;
    for (const node of k.root.querySelectorAll(".k-tab"))
      node.setAttribute("aria-pressed", String(node.dataset.press === `tab-${tab}`));
    this.#look({ tab });
  }

  /** What was looked for before is not wanted any more. */
  #unasked() {
    this.asked = null;
    clearTimeout(this.pause);
    this.timers.delete(this.pause);
  }

  /**
   * Look places up and show them on the screen as it is drawn by then. A search that could not be
   * made is made again, as long as nobody looks for anything else.
   */
  async #look(query) {
    const { k, round } = this;
    const asked = (this.asked = {});
    let found = null;
    try {
      found = await this.#patiently(() =>
        k.server.get("/kiosk/places.json", { q: "", tab: "", ...query, ...this.said }),
      );
    } catch {
      if (round === this.round) k.pulse.beat(); // it says whether our server is away
    }
    if (round !== this.round || asked !== this.asked || k.visit.screen !== "place") return;
    const { unfound } = k.visit;
    const looked = k.visit.find(found, k.t("limited"));
    showPlaces(k, this.parts);
    if (looked || !unfound) tellPlaces(k, this.parts);
    if (!looked) this.pause = this.later(() => this.#look(query), LOOK_AGAIN_MS);
  }

  typeOrList(typing) {
    this.#unsaid(typing);
    this.k.draw();
    this.k.speak(this.k.spoken, true);
  }

  /** Open the list of a kind of place. */
  listKind(tab) {
    this.#unsaid(false, tab);
    this.k.go("place");
  }

  /** The place screen begins anew: by typing or from the lists. */
  #unsaid(typing, tab = "") {
    this.#unasked();
    Object.assign(this.k.visit, { typing, tab, places: null, unfound: "", typed: "" });
  }

  // ---- cars ----

  async cars() {
    const { k } = this;
    k.visit.unchosen();
    k.leap("car");
    if (await this.#offered((screen) => screen === "car")) this.#listed();
  }

  /** Nobody answered the question about cars although our server lives: that ends at a person. */
  unlisted() {
    const { visit } = this.k;
    const before = visit.answer;
    visit.answer = { state: "trouble", again_s: CARS_AGAIN_S };
    this.#listed(before);
  }

  /** Show the cars, or why there are none. `before` is shown already: it is not said twice. */
  #listed(before = null) {
    const { k } = this;
    const { answer } = k.visit;
    if (JSON.stringify(answer) !== JSON.stringify(before)) {
      k.draw();
      k.speak(k.spoken, true);
    }
    if (answer.again_s) this.later(() => this.#listAgain(answer), answer.again_s * 1_000);
  }

  /** What was chosen is not offered any more: back to what is. */
  #toCars() {
    this.k.leap("car");
    this.#listed(this.k.visit.answer);
  }

  /** Cars that could not be asked for are asked for again, as long as the guest waits for them. */
  async #listAgain(before) {
    const { visit } = this.k;
    const waits = () => visit.screen === "car" && visit.answer === before;
    if (waits() && (await this.#offered(waits, 0))) this.#listed(before);
  }

  /**
   * Ask for cars; their answer is the visit's from then on. Null once nobody waits for it: the
   * guest has gone to a screen that is not `wanted`, or cars to another place were asked for.
   */
  async #offered(wanted, grace) {
    const { visit } = this.k;
    const asked = (this.offers = {});
    const answer = await this.#post("/kiosk/cars", visit.trip, {
      grace,
      wanted: () => asked === this.offers && wanted(visit.screen),
    });
    if (!answer) return null;
    visit.answer = answer;
    visit.asked = Date.now();
    return answer;
  }

  /** What is chosen by then among new offers: see `Visit.renew`; "over" without an answer. */
  async again(wanted, grace) {
    const answer = await this.#offered(wanted, grace);
    return answer ? this.k.visit.renew(answer) : "over";
  }

  /** Another language was chosen: the server's words in it. */
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
      k.draw(); // which looks for it again
    }
  }

  // ---- the order ----

  async order() {
    const { k } = this;
    const { visit } = k;
    visit.go("sending");
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

  /** Our server was lost before anything was ordered: nobody waits for that. */
  #unsent(visit) {
    if (this.k.visit === visit && visit.screen === "sending") this.k.leap("check");
  }

  /** What is waited for begins: after 4 s what is usual is said, and in time that it is unknown. */
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
      // who was told to ask the desk gets no car here later: from then on this page only looks
      const look = k.visit.screen === "unknown" ? { look: "1" } : {};
      answer = await k.server.post("/kiosk/order", { ...this.said, ...k.visit.wish, ...look });
    } catch (error) {
      // the order may have been heard: the same form is sent again, and makes no second one
      if (round !== this.round) return;
      if (!(error instanceof Lost)) return this.#refused();
      this.sent = true;
    }
    if (round !== this.round) return;
    // the desk goes on confirming, whatever becomes of one answer
    this.#came(answer ?? { state: k.visit.screen === "asking" ? "asking" : "sending" });
  }

  /** A form that is not taken books nothing; one before it may have. */
  #refused() {
    const { k } = this;
    if (!this.sent) return void k.pulse.refused();
    k.pulse.beat(); // which brings a new token
    k.visit.words = null;
    return this.#unknown();
  }

  #came(answer) {
    const { k } = this;
    const { visit } = k;
    if (answer.ride?.number) visit.ride = answer.ride;
    const { state } = answer;
    const waits = state === "sending" || state === "asking";
    visit.words = waits ? null : (answer.words ?? null); // too late to say what usually happens
    this.sent ||= waits;
    if (waits) return this.#wait(state);
    if (state === "booked") return this.#booked();
    if (state === "needs_code" || state === "wrong_code") {
      visit.wrongCode = state === "wrong_code";
      visit.code = "";
      return k.leap("code");
    }
    if (answer.field) {
      visit.unfit = true;
      visit.field = answer.field; // which has to be typed again, and nothing else
      return k.leap("who");
    }
    if (state === "changed") {
      visit.changed = answer.changed;
      visit.car = { ...visit.car, offer: answer.changed.offer };
      return k.leap("check");
    }
    if (state === "unknown") return this.#unknown();
    visit.sorry = state;
    return k.leap("sorry");
  }

  #wait(state) {
    const { k } = this;
    const { screen } = k.visit;
    this.later(() => this.#order(), AGAIN_MS);
    if (screen === "unknown" || screen === state) return;
    this.#begin(state); // once the desk has confirmed, a booking has its own 20 s
    k.leap(state);
  }

  #unknown() {
    this.k.leap("unknown");
    this.later(() => this.#order(), LIVE_MS);
  }

  #booked() {
    const { k } = this;
    k.visit.number = (k.visit.ride.number ?? "").replace(/^\D+/, "");
    k.visit.pin = k.visit.ride.pin ?? "";
    k.leap("booked");
    this.#live(LIVE_MS);
  }

  // ---- a ride found again ----

  async find() {
    const { k, round } = this;
    const { visit } = k;
    if (this.finding) return; // each press would count as a try of the PIN
    this.finding = true;
    const slow = this.later(() => {
      visit.problem = k.t("limited");
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
      visit.problem = answer.words?.headline || k.t(usual);
      visit.pin = "";
      k.draw();
      return void k.speak([visit.problem], true);
    }
    Object.assign(visit, { number, pin }); // whatever was typed meanwhile
    this.#seen(answer);
    k.go("ride");
    this.#live(LIVE_MS);
  }

  #live(ms) {
    const asked = (this.looked = {});
    clearTimeout(this.look);
    this.look = this.later(async () => {
      const { screen } = this.k.visit;
      if (screen !== "ride" && screen !== "booked") return;
      try {
        const answer = await this.k.server.post("/kiosk/ride", { ...this.said, ...this.ticket });
        if (asked !== this.looked) return; // it was cancelled, or is asked for in another language
        if (answer.state === "ok") this.#seen(answer);
      } catch {
        // what was known stays; the beat says when our server is away
      }
      if (asked === this.looked) this.#live(LIVE_MS);
    }, ms);
  }

  /** A new view; the screen is drawn anew only when a word of it changed. */
  #seen(answer) {
    const { k } = this;
    const { visit } = k;
    const before = JSON.stringify([visit.view, visit.cancel]);
    const known = visit.view?.plate;
    visit.view = answer.view;
    visit.cancel = answer.cancel;
    if (before === JSON.stringify([visit.view, visit.cancel])) return;
    if (visit.screen === "ride" || visit.screen === "booked") {
      k.draw();
      k.speak([answer.view?.headline, ...spokenPlate(k, known)]);
    }
  }

  /** The start code for ten seconds: nobody reads it over a shoulder later. */
  async showCode() {
    const { k } = this;
    const answer = await this.#post("/kiosk/ride", { ...this.ticket, code: "1" });
    if (!answer?.code) return;
    k.visit.start = { code: answer.code };
    k.visit.page = 0; // where it stands
    k.draw();
    k.speak(spokenCode(k), true);
    this.later(() => {
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
    const wanted = () => k.visit.screen === "where"; // a place was chosen meanwhile
    const answer = await this.#post(k.data.kiosk.own_phone, { own: "new" }, { wanted });
    if (!answer?.phone) return;
    k.lay(phoneSheet(k, answer));
    this.#opened();
  }

  /** Once a phone has opened the link, the visit goes on there and ends here. */
  #opened() {
    this.later(async () => {
      const { k } = this;
      if (!k.frame.has("phone")) return;
      const answer = await this.#post(k.data.kiosk.own_phone, { own: "look" });
      if (!answer) return;
      if (!answer.opened) return void this.#opened();
      k.lay(goneSheet(k, answer.words));
      this.later(() => k.end("done"), GONE_MS);
    }, LIVE_MS);
  }
}
