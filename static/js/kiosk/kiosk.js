/** The kiosk: its visit, its screens, and the end of a visit, which removes all data. */

import { Attract } from "./attract.js";
import { Booking } from "./booking.js";
import { car, meetAt, people } from "./cars.js";
import { asking, broken, check, sending, sorry, unknown } from "./check.js";
import { code, find, who } from "./details.js";
import { filled, make } from "./el.js";
import { Frame } from "./frame.js";
import { Idle, Tone } from "./idle.js";
import { Keys } from "./keys.js";
import { Pulse } from "./pulse.js";
import { apply, measures, paint } from "./reach.js";
import { place, start, where } from "./screens.js";
import { Server } from "./server.js";
import { ask, countDown, dark, languageSheet, stillThere } from "./sheets.js";
import { Speech, wordsOf } from "./speech.js";
import { booked, ride } from "./ticket.js";
import { Touches } from "./touch.js";
import { Visit, waitOf } from "./visit.js";

const LAST_S = 20;
const START_S = 45;
const CORNER_MS = 3_000;
const SEEN_AIDS = ["large", "lower", "contrast"]; // speech ends with its visit
// screens on which the guest has answered nothing yet
const BEFORE = new Set(["start", "trouble", "broken"]);
// parts of a screen that are read after its question
const SPOKEN =
  ".k-words p:not(.k-english), .k-fact, .k-words .k-meet-words, .k-words .k-why, .k-problem";

/**
 * Each function takes the kiosk and returns {question, facts, controls, look, spoken, placed};
 * `spoken()` returns what is read aloud after the question; without it, all facts are read. Some
 * also return `shown`, `from` and `ticket` for Frame.draw().
 */
const SCREENS = {
  start,
  where,
  place,
  car,
  meet: meetAt,
  people,
  who,
  check,
  code,
  sending,
  asking,
  booked,
  unknown,
  sorry,
  find,
  ride,
};

export class Kiosk {
  /** `data` is the JSON in the document; `root` is its body. */
  constructor(data, root) {
    this.data = data;
    this.root = root;
    this.choices = data.languages;
    this.status = { open: true, soonest: null, trouble: "", full: "" };
    const { id } = data.kiosk;
    this.server = new Server(data.csrf, id, (answer) => this.visit.hear(answer));
    this.beats = new Server(data.csrf, id); // requests that are independent of visits
    this.speech = new Speech({
      changed: () => this.draw(),
      paused: (on) => this.frame.markPaused(on),
    });
    this.tone = new Tone();
    this.visit = this.#fresh(this.#usual);
    this.measures = this.#measured();
    this.frame = new Frame(this, root);
    this.idle = new Idle({
      asks: (s) => this.#asks(s),
      over: () => this.end("idle"),
      last: LAST_S,
    });
    this.booking = new Booking(this);
    this.pulse = new Pulse(this);
    this.attract = new Attract(this);
    this.panel = null; // the panel for staff
    this.keyboard = null;
    this.drawn = "";
  }

  start() {
    paint(document.documentElement, this.data.property);
    this.touches = new Touches(this.root, { touched: (node) => this.touched(node) });
    this.keys = new Keys(this.root, this.#keyActs());
    addEventListener("resize", () => this.#resized());
    addEventListener("pageshow", (event) => event.persisted && this.end("lost"));
    addEventListener("pagehide", () => this.visit.begun && this.end("lost"));
    this.#resized();
    this.pulse.start();
  }

  /**
   * Load the modules that only staff use, so that no guest waits for them. Throws if they can't be
   * loaded.
   */
  async loadPanel() {
    if (this.panel) return;
    const { Panel } = await import("./panel.js");
    if (this.panel) return; // two heartbeats may have requested it
    this.panel = new Panel(this);
    this.panel.watch(CORNER_MS);
  }

  // ---- values that screens read ----

  /**
   * The current screen. "broken" replaces all screens, unless `visit.holds`; "trouble" (no ride can
   * be booked now) replaces screens A and B (screens.js) before a destination is chosen.
   */
  get screen() {
    if (this.status.broken && !this.visit.holds) return "broken";
    const before = this.visit.screen === "start" || this.visit.screen === "where";
    if (this.status.trouble && before && !this.visit.drop) return "trouble";
    return this.visit.screen;
  }

  /** Whether facts may have to follow on another page. */
  get mayTurnFacts() {
    return !this.measures.roomy || this.visit.aids.has("large");
  }

  /** Whether large letters on a tablet leave too little room for all parts of a screen. */
  get crowded() {
    return !this.measures.roomy && this.visit.aids.has("large");
  }

  t(key, slots) {
    return this.tIn(this.visit.language, key, slots);
  }

  tIn(language, key, slots) {
    const words = this.data.words[language] ?? this.data.words.en;
    const pattern = words[key] ?? this.data.words.en[key] ?? key;
    return filled(pattern, slots, this.directionOf(language));
  }

  /**
   * The English of a text's critical sentences (docs/languages.md 2) whose translation no person
   * has read; "" if there are none.
   */
  english(text = "") {
    const known = { ...this.data.english, ...this.visit.english };
    const found = Object.keys(known).filter((sentence) => text.includes(sentence));
    found.sort((one, other) => text.indexOf(one) - text.indexOf(other));
    return found.map((sentence) => known[sentence]).join(" ");
  }

  /** Facts as one text to be read aloud, with pauses between them; empty facts are left out. */
  paused(...facts) {
    const [, comma] = this.t("pause").split(/\{\w+\}/);
    return facts.filter(Boolean).join(comma);
  }

  directionOf(tag) {
    return this.choices.find((each) => each.tag === tag)?.dir ?? "ltr";
  }

  /** A line with the desk's telephone number; null if none is known. */
  get deskPhone() {
    const phone = this.data.kiosk.desk_phone || this.data.property.phone;
    if (!phone) return null;
    const words = make("p", "k-lead strong k-desk num");
    const [before, after = ""] = this.t("call_desk").split("{phone}");
    const number = make("bdi", "num", phone);
    number.dir = "ltr";
    words.append(before, number, after);
    return words;
  }

  // ---- drawing ----

  /** Draw the present screen; the focus stays on its control. */
  draw() {
    const screen = this.screen;
    const anew = screen !== this.drawn;
    this.drawn = screen;
    if (anew) this.keyboard = null;
    if (anew) this.keys?.rest();
    if (anew) this.frame.unplaced();
    const view = SCREENS[screen]?.(this) ?? broken(this, screen);
    this.frame.draw(view, anew);
    this.view = view;
    if (anew) this.#watch();
    if (anew) this.speak(this.spoken, true);
  }

  /** The sentences with which the screen is read aloud now. */
  get spoken() {
    const { question, spoken } = this.view;
    return [question, ...(spoken?.() ?? this.#words())];
  }

  /** The facts of a screen as sentences, in reading order. */
  #words() {
    const parts = this.frame.stage.querySelectorAll(SPOKEN);
    return [...parts].map((part) => wordsOf(part));
  }

  speak(sentences, instead = false) {
    this.speech.say(sentences, this.visit.language, { instead });
  }

  #measured() {
    const { mm_per_px: mmPerPx, bottom_mm: bottomMm } = this.data.kiosk;
    const [width, height] = [innerWidth, innerHeight];
    return measures({ width, height, mmPerPx, bottomMm, aids: this.visit.aids });
  }

  #resized() {
    this.measures = this.#measured();
    apply(document.documentElement, this.measures, this.visit.aids);
    this.draw();
  }

  // ---- a visit ----

  /** The language in which a visit begins. */
  get #usual() {
    const usual = this.data.kiosk.default_language;
    const known = this.choices.some((each) => each.tag === usual);
    return known ? usual : this.choices[0].tag;
  }

  #fresh(language) {
    return new Visit(language, Date.now());
  }

  /**
   * Handle a sign that a guest is there. `node`: the control that was touched, if any. "Start over"
   * beside "Still there?" is no such sign: the visit's screen does not come back under the finger.
   */
  touched(node = null) {
    if (node?.dataset.press === "there-over") return;
    if (!this.visit.begun) {
      this.visit.begun = true;
      this.visit.began = Date.now();
      this.#watch();
    }
    this.idle.touched();
    this.panel?.touched();
    this.frame.lighten();
  }

  /**
   * Handle a key without lighting up a dark screen. Returns whether it answered "Still there?" and
   * is consumed.
   */
  #keyed() {
    const answered = this.frame.has("there");
    const { dark: cover } = this.frame;
    this.touched();
    if (cover) this.frame.darken(cover);
    return answered;
  }

  /**
   * Watch whether a guest is still there. On the start screen too: a language or aid that a guest
   * chose there is reset when the guest has left.
   */
  #watch() {
    const { screen, visit } = this;
    const usual = visit.language === this.#usual && !visit.aids.size;
    if (visit.begun || screen !== "start") this.attract.leave();
    else this.attract.rest();
    if (!visit.begun && usual) this.idle.watch(0);
    else if (!visit.begun || BEFORE.has(screen)) this.idle.watch(START_S, true);
    else this.idle.watch(waitOf(screen, this.data.kiosk.idle_s));
  }

  stay() {
    this.touched();
  }

  /**
   * Begin a visit. A kiosk that offers neither favourite places nor the guest's own phone goes at
   * once to screen B2 (screens.js).
   */
  begin(screen = "where") {
    const { favourites = [], kiosk } = this.data;
    const typed = screen === "where" && !favourites.length && !kiosk.own_phone;
    this.go(typed ? "place" : screen);
  }

  go(screen) {
    this.visit.go(screen);
    this.visit.page = 0;
    this.draw();
  }

  leap(screen) {
    this.visit.leap(screen);
    if (this.status.broken && !this.visit.holds) return void this.end("lost");
    this.visit.page = 0;
    this.draw();
  }

  back() {
    if (!this.visit.mayGoBack) return;
    this.visit.back();
    this.visit.page = 0;
    if (this.visit.screen === "start") this.end("left");
    else this.draw();
  }

  /**
   * End the visit. First the screen changes and all data of the guest leave the document; then our
   * server is informed, and no answer is awaited.
   */
  end(how) {
    const { visit } = this;
    this.server.drop();
    this.booking.stop();
    this.touches?.forget();
    this.speech.end();
    this.frame.clear();
    this.keyboard = null;
    this.drawn = "";
    // if the kiosk is out of order, the guest reads so in the language, letters and contrast of the
    // ended visit; the usual ones return after an idle time
    const stays = this.status.broken && how !== "idle";
    this.visit = this.#fresh(stays ? visit.language : this.#usual);
    if (stays) for (const aid of SEEN_AIDS) if (visit.aids.has(aid)) this.visit.aids.add(aid);
    this.#resized();
    scrollTo(0, 0);
    if (!visit.begun) return;
    const fields = { visit: visit.id, lang: visit.language, language: visit.language };
    this.server.tell("/kiosk/end", { ...fields, ...visit.tally(how, Date.now()) });
    this.pulse.ended();
  }

  #asks(seconds) {
    const line = this.root.querySelector("[data-clears]");
    if (line) return void this.#clears(line, seconds);
    if (seconds === null) return void this.closeSheet("there");
    if (this.frame.has("there")) return void countDown(this.root, seconds, LAST_S);
    this.frame.lay(stillThere(this, seconds, LAST_S));
    this.tone.play();
    const left = this.t("clears", { s: seconds });
    this.speak([this.t("there"), left, this.t("spoken_there")], true);
  }

  /** The line of a ticket that counts down: updated each second, read aloud once. */
  #clears(line, seconds) {
    const begins = line.hidden && seconds !== null;
    line.hidden = seconds === null;
    if (seconds === null) return;
    const words = this.t("clears", { s: seconds });
    line.querySelector(".k-clears-words").textContent = words;
    if (!begins) return;
    line.querySelector("[role=status]").textContent = words;
    this.tone.play();
    this.speak([words, this.t("spoken_there")], true);
  }

  // ---- languages and aids ----

  chooseLanguage() {
    this.lay(languageSheet(this));
  }

  closeSheet(name) {
    if (!this.frame.has(name)) return;
    this.frame.remove(name);
    this.here();
  }

  /** Change the language without losing answers; the server's words are requested again. */
  speakIn(tag) {
    const began = this.visit.screen === "start";
    this.visit.language = tag;
    // the server's last sentence is in the previous language: the page's own words replace it
    this.visit.words = null;
    this.visit.problem = this.visit.unfound = "";
    this.frame.remove("language");
    this.frame.unplaced();
    this.drawn = began ? this.drawn : "";
    this.draw();
    if (began) this.speak(this.spoken, true); // read in the chosen language
    this.booking.spoken();
  }

  /** Turn an aid on or off. */
  turn(name) {
    const { aids } = this.visit;
    if (aids.has(name)) aids.delete(name);
    else aids.add(name);
    this.visit.page = 0;
    this.#resized();
    if (name !== "aloud") return void this.speak([this.#turned(name)], true);
    const off = !aids.has("aloud");
    if (off) this.speak([this.#turned(name)], true); // the last words that are read aloud
    this.speech.on = !off;
    this.speak([...this.spoken, this.t("spoken_keys")], true);
  }

  /** Pause what is read, or go on; with nothing left to read, read the screen again. */
  pause() {
    if (!this.speech.pause()) this.speak(this.spoken, true);
  }

  /** Change the volume by so many steps, and say so. */
  changeVolume(steps) {
    const { speech } = this;
    if (!speech.on) return;
    speech.changeVolume(steps);
    this.frame.nameVolume();
    speech.interject(this.volumeIn("volume_is"), this.visit.language);
  }

  /** One step louder; after the loudest the softest follows. */
  nextVolume() {
    const { volume, volumes } = this.speech;
    this.changeVolume(volume < volumes ? 1 : 1 - volumes);
  }

  /** The volume in these words: "volume_is", or "position" beside its sign. */
  volumeIn(words) {
    return this.t(words, { n: this.speech.volume, of: this.speech.volumes });
  }

  /** An aid and whether it is on, as words. */
  #turned(name) {
    const aid = this.t(`aid_${name}`);
    return this.t(this.visit.aids.has(name) ? "aid_on" : "aid_off", { aid });
  }

  // ---- keys and help ----

  #keyActs() {
    return {
      touched: () => this.#keyed(),
      hush: () => this.speech.hush(),
      pause: () => this.speech.pause(),
      louder: () => this.changeVolume(1),
      quieter: () => this.changeVolume(-1),
      back: (key, repeated) => this.#backKey(key, repeated),
      help: () => this.askHelp(),
      staff: () => this.panel?.open(),
      typed: (letter) => this.#typed(letter),
      written: () => this.keyboard?.written(),
      headphones: () => this.#headphones(),
      moved: (node) => this.#moved(node),
    };
  }

  /**
   * The Back key, which on a real keyboard also deletes a letter. Held down it deletes all of them,
   * and does not leave the screen.
   */
  #backKey(key, repeated) {
    const open = this.frame.sheets.lastElementChild?.dataset.sheet;
    const erases = !open && key === "Backspace" && this.keyboard?.field.value;
    if (erases) this.keyboard.erase();
    else if (repeated) return;
    else if (open) this.closeSheet(open);
    else this.back();
  }

  /** Pass on typed text. Returns whether there was a field for it. */
  #typed(letter) {
    if (this.frame.covered.inert || !this.keyboard) return false;
    this.keyboard.type(letter.toLowerCase());
    return true;
  }

  #moved(node) {
    const { n, of } = this.keys.position;
    this.frame.place.textContent = node ? this.t("position", { n, of }) : "";
    this.here();
  }

  /** The name of a control and its position, as words: "Back, 1 of 5". */
  #describe(node) {
    const { press } = node.dataset;
    const words = press.startsWith("aid-") ? this.#turned(press.slice(4)) : wordsOf(node);
    return this.paused(words, this.t("position", this.keys.position));
  }

  /** Read where the focus is now: a control with its explanation, or the words of the screen. */
  here() {
    const { activeElement: node } = document;
    if (!node?.dataset.press) return void this.speak(this.spoken, true);
    const why = document.getElementById(node.getAttribute("aria-describedby"));
    const words = [this.#describe(node), why?.textContent];
    const own = node.dataset.press.startsWith("lang-") && node.querySelector("[lang]").lang;
    if (!own || !this.speech.can(own)) return void this.speak(words, true);
    this.speech.say([wordsOf(node)], own, { instead: true }); // a language's name, in that language
    this.speak([this.t("position", this.keys.position)]);
  }

  /** Lay a sheet over the screen; read `before`, the sheet's text, and where the focus is. */
  lay(node, before = []) {
    this.frame.lay(node);
    const words = [...node.querySelectorAll(".k-sheet-title, p:not(.k-english)")].map(wordsOf);
    this.speak([...before, ...words, this.#describe(document.activeElement)], true);
  }

  /** Headphones were plugged in: speech begins, and the screen may go dark. */
  #headphones() {
    if (!this.speech.can(this.visit.language)) return;
    this.speech.on = true;
    this.visit.aids.add("aloud");
    this.#resized();
    const texts = { yes: this.t("blank_yes"), no: this.t("blank_no") };
    const more = { title: this.t("blank"), ...texts, act: () => this.#darken() };
    this.lay(ask(this, { name: "blank", ...more }), [this.t("spoken_keys")]);
  }

  #darken() {
    this.frame.darken(dark(this));
    this.speak([this.t("blanked"), ...this.spoken]);
  }

  askHelp() {
    this.pulse.ask();
  }

  // ---- the guest's choices ----

  choosePlace(chosen) {
    this.visit.choose(chosen);
    this.visit.go("car");
    this.booking.cars();
  }

  chooseCar(chosen) {
    this.visit.chooseCar(chosen);
    this.go(chosen.seats?.length ? "people" : "who");
  }

  /** Choose a car with more room, after all other questions are answered. */
  chooseBigger(chosen) {
    this.visit.chooseCar(chosen);
    this.leap("check");
  }

  chooseSeats(seats) {
    this.visit.seats = seats;
    this.go("who");
  }

  choosePoint({ name }) {
    this.visit.point = name;
    this.visit.leap("car");
    this.booking.cars();
  }

  /** Request cars with new prices after a failed attempt; Book then makes another order. */
  askCars() {
    this.visit.anew(["start", "where"]);
    this.visit.leap("car");
    this.booking.cars();
  }

  anotherPlace() {
    this.visit.anew(["start"]);
    this.visit.forget();
    this.visit.screen = "start";
    this.begin();
  }
}
