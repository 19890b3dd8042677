/**
 * Sends the heartbeat: every 20 s the kiosk reports its health and gets its state, every 2 s while
 * help is requested. Without an answer it shows "One moment…", after a while "Out of order", in
 * words that the page already has, and it recovers by itself.
 */

import { Refused } from "./server.js";
import { helpSheet } from "./sheets.js";

const HEARTBEAT_MS = 20_000;
const HELP_MS = 2_000;
const GRACE_MS = 5_000;
const AGAIN_MS = 1_000;
const LATE_MS = 45_000;
const HELP_WAIT_S = 120;
const OLD_MS = 24 * 3_600_000;
const SHIFT_MS = 60_000;
const OF_A_RIDE = new Set(["find", "ride"]); // screens of a ride that is booked already
const SHIFTS = [
  [0, 0],
  [2, 0],
  [2, 2],
  [0, 2],
];

export class Pulse {
  constructor(k) {
    this.k = k;
    this.began = Date.now();
    // a demo's clock may leap and change its rides, so its kiosk sends more heartbeats
    this.usual = k.root.dataset.pollWithin ? HELP_MS : HEARTBEAT_MS;
    this.fonts = null; // languages that this device can display; null until known
    this.missed = 0; // the time from which heartbeats are unanswered; 0: they are answered
    this.doubted = -Infinity; // when a heartbeat was last refused for an unclear reason
    this.help = null; // {at, state} while help is requested
    this.timer = null;
    this.shifted = 0;
  }

  start() {
    for (const change of ["offline", "online"]) addEventListener(change, () => this.beat());
    setInterval(() => this.#shift(), SHIFT_MS);
    this.beat();
  }

  async beat() {
    clearTimeout(this.timer);
    const { k } = this;
    const { visit } = k;
    const fields = {
      visit: visit.id,
      lang: visit.language,
      release: k.data.release,
      screen: k.screen,
      voices: k.speech.languages.join(","),
      clock_ms: String(Date.now()),
      width_px: innerWidth,
      height_px: innerHeight,
    };
    if (this.fonts !== null) fields.fonts = this.fonts;
    try {
      const answer = await k.beats.post("/kiosk/beat", fields, GRACE_MS);
      if (visit !== k.visit) answer.help = ""; // it is about the previous guest's call for help
      this.#applyAnswer(answer);
    } catch (error) {
      await this.#missAnswer(error);
    }
  }

  #again(ms) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.beat(), ms);
  }

  #applyAnswer(answer) {
    const { k } = this;
    k.server.csrf = k.beats.csrf = answer.csrf || k.server.csrf;
    if (answer.clock) k.frame.setClock(answer.clock);
    if (answer.trouble === "database") return void this.#miss();
    this.missed = 0;
    this.#showMoment();
    const before = JSON.stringify(k.status);
    k.status = {
      open: answer.open !== false,
      soonest: answer.soonest_min ?? null,
      broken: Boolean(answer.out_of_order),
      trouble: answer.trouble ?? "",
      full: answer.full ?? "", // why no ride is booked here for any guest now
      needsCode: Boolean(answer.needs_code),
      pinsMin: answer.pins_min ?? null,
    };
    if (k.status.broken && k.visit.begun && !k.visit.holds) k.end("lost");
    else if (JSON.stringify(k.status) !== before && this.#mayRedraw()) k.draw();
    this.#showHelp(answer.help);
    if (answer.hand && !k.visit.begun) this.#startByHand(answer.hand);
    this.#again(this.help ? HELP_MS : this.usual);
    this.#loadRest();
    if (this.#wantsReload(answer)) this.#loadAnew(answer);
  }

  /**
   * Load the scripts that the start screen does not need. If one fails to load, it is requested
   * again after the next heartbeat.
   */
  async #loadRest() {
    try {
      await this.k.loadPanel();
      this.fonts ??= await fonts(this.k.choices);
    } catch {
      // requested again after the next heartbeat
    }
  }

  /**
   * Reload, but first check that the page can be loaded: a kiosk that shows an error page of a
   * proxy would not recover by itself.
   */
  async #loadAnew(answer) {
    try {
      await this.k.beats.document(GRACE_MS);
    } catch {
      return; // the next heartbeat tries again
    }
    if (this.#wantsReload(answer)) location.reload(); // only if no guest has come meanwhile
  }

  /** Whether the screen may be redrawn: only the start screen, and "broken" or what follows it. */
  #mayRedraw() {
    const { k } = this;
    return k.visit.screen === "start" || k.screen === "broken" || k.drawn === "broken";
  }

  /**
   * Whether to reload: for a new release, or if the page has been open for a day; only while no
   * guest and no member of staff uses the kiosk.
   */
  #wantsReload(answer) {
    const { k } = this;
    if (k.visit.begun || k.panel?.isOpen) return false;
    const newer = answer.release && answer.release !== k.data.release;
    return newer || Date.now() - this.began > OLD_MS;
  }

  #startByHand({ language }) {
    const { k } = this;
    k.touched();
    if (k.choices.some((each) => each.tag === language)) k.speakIn(language);
    k.begin();
  }

  async #missAnswer(error) {
    if (error instanceof Refused && (await this.#isNoKiosk())) return void location.reload();
    this.#miss();
  }

  /**
   * There is no network, no answer, or no database. Its guest may go on typing while the page says
   * "One moment…"; if it lasts longer than GRACE_MS, the kiosk is out of order.
   */
  #miss() {
    this.missed ||= performance.now();
    if (performance.now() - this.missed > GRACE_MS) this.#lost();
    this.#showMoment();
    this.#again(AGAIN_MS);
  }

  /** Show "One moment…" while a visit waits that would be wiped, or hide it. */
  #showMoment() {
    const { k } = this;
    const { begun, holds } = k.visit;
    const waits = this.missed && begun && !holds && !k.status.broken;
    k.frame.showMoment(waits ? k.t("moment") : "");
  }

  /**
   * A heartbeat was refused. A proxy may refuse a single request too, and that must not end a
   * visit. So the document is requested again, which shows whether this device is still this kiosk;
   * its new token also repairs a form that was refused.
   */
  async #isNoKiosk() {
    const { k } = this;
    if (performance.now() - this.doubted < GRACE_MS) return false;
    this.doubted = performance.now();
    try {
      const found = await k.beats.document(GRACE_MS);
      if (found?.kiosk.id !== k.data.kiosk.id) return true;
      k.server.csrf = k.beats.csrf = found.csrf;
    } catch {
      // unknown: treated like a heartbeat without an answer
    }
    return false;
  }

  /**
   * Show that the kiosk is out of order, and remove everything that was typed. A guest who has
   * booked keeps number and PIN, and one who waits for the result keeps the request not to book
   * again, until that screen ends as usual.
   */
  #lost() {
    const { k } = this;
    if (this.help) this.#showHelp("failed");
    if (k.status.broken) return;
    k.status = { ...k.status, broken: true };
    if (!k.visit.holds) k.end("lost");
  }

  /**
   * A request got no answer. If heartbeats get one, our server is alive, and the guest is sent to a
   * person; else #miss() does what is needed.
   */
  unanswered() {
    return this.missed ? null : this.#sorry();
  }

  /** Our server refused a form: get a new token by a heartbeat, and send the guest to a person. */
  refused() {
    this.beat();
    return this.#sorry();
  }

  #sorry() {
    const { k } = this;
    const { visit } = k;
    if (visit.screen === "car") {
      k.booking.unlisted();
      return null;
    }
    visit.sorry = OF_A_RIDE.has(visit.screen) ? "ride" : "trouble";
    if (visit.screen === "sending") visit.sorry = "not_booked"; // no order was made
    visit.words = null;
    k.closeSheet("phone");
    k.leap("sorry");
    return null;
  }

  // ---- help ----

  /** Call the desk. */
  async ask() {
    const { k } = this;
    k.visit.begun = true;
    this.help = { at: performance.now(), state: "" };
    const { id, language } = k.visit;
    this.#showHelp("asked");
    try {
      const fields = { visit: id, lang: language, screen: k.screen };
      const answer = await k.beats.post("/kiosk/help", fields, GRACE_MS);
      if (answer.state !== "asked") this.#showHelp("failed");
      this.#again(HELP_MS);
    } catch {
      this.#showHelp("failed");
    }
    // while an order may be under way, the screen stays for its guest
    if (k.visit.id !== id || k.visit.holds) return;
    if (!k.idle.wait || k.idle.quiet) k.idle.watch(HELP_WAIT_S, true);
  }

  #showHelp(state) {
    if (!this.help || !state) return;
    const { k } = this;
    const late = state === "asked" && performance.now() - this.help.at > LATE_MS;
    const shown = late ? "late" : state;
    if (shown === this.help.state) return;
    const first = !this.help.state;
    this.help.state = shown;
    if (first || k.frame.has("help") || shown === "coming") k.lay(helpSheet(k, shown));
  }

  /** A visit has ended, and with it its call for help: its ride may have been the last one here. */
  ended() {
    this.help = null;
    this.#again(AGAIN_MS);
  }

  /** Move the screen by two pixels a minute, so that nothing burns in while no one is there. */
  #shift() {
    this.shifted = this.k.visit.begun ? 0 : (this.shifted + 1) % SHIFTS.length;
    const [x, y] = SHIFTS[this.shifted];
    document.documentElement.style.setProperty("--shift-x", `${x}px`);
    document.documentElement.style.setProperty("--shift-y", `${y}px`);
  }
}

/** The languages that this device can display, as tags with commas between. */
async function fonts(choices) {
  const { canWrite } = await import("../shared/letters.js");
  return choices
    .filter(({ name, tag }) => canWrite(name, tag))
    .map(({ tag }) => tag)
    .join(",");
}
