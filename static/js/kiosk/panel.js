/**
 * The panel for staff. To open it, they hold two opposite corners for three seconds, or the Help
 * key for five, and type a PIN. It never shows a page of the desk.
 */

import { control, make } from "./el.js";
import { sheet } from "./frame.js";
import { ask } from "./sheets.js";

const CARD_MM = 85.6; // ISO/IEC 7810 ID-1
const CORNER_PX = 120;
const OPEN_MS = 60_000;
const STEP_PX = 1;
const FAST_PX = 10;
// why the server does not take the size of a screen -> the sentence about it
const UNFIT = { card: "staff_card", height: "staff_height", small: "staff_small" };

export class Panel {
  constructor(k) {
    this.k = k;
    this.pin = "";
    this.sent = null; // the action that waits for its answer
    this.fingers = new Map();
  }

  get isOpen() {
    return this.k.frame.has("panel");
  }

  /** Watch the corners; `ms` is how long two opposite corners must be held. */
  watch(ms) {
    const { fingers } = this;
    addEventListener("pointerdown", (event) => {
      const corner = cornerOf(event);
      if (!corner) return;
      fingers.set(event.pointerId, corner);
      const [one, other] = [...fingers.values()];
      if (opposite(one, other)) this.held = setTimeout(() => this.open(), ms);
    });
    for (const end of ["pointerup", "pointercancel"])
      addEventListener(end, (event) => {
        fingers.delete(event.pointerId);
        clearTimeout(this.held);
      });
  }

  open() {
    this.k.end("left");
    this.pin = "";
    this.sent = null;
    this.#ask("");
    this.touched();
  }

  /**
   * Keep the panel open while staff use it: measuring a screen takes longer than a minute, and a
   * guest can't open the panel.
   */
  touched() {
    if (!this.isOpen) return;
    clearTimeout(this.closing);
    this.closing = setTimeout(() => this.close(), OPEN_MS);
  }

  close() {
    clearTimeout(this.closing);
    this.pin = "";
    this.k.frame.remove("panel");
  }

  #ask(problem) {
    const { k } = this;
    const dots = make("p", "k-code num", "");
    const draw = () => (dots.textContent = "•".repeat(this.pin.length) || "–");
    const digits = this.#digits((digit) => {
      if (this.sent) return; // six digits are being checked: one more would make another PIN
      this.pin = digit === null ? this.pin.slice(0, -1) : (this.pin + digit).slice(0, 6);
      draw();
      if (this.pin.length === 6) this.#sendAction("open");
    });
    draw();
    this.#lay(k.t("staff_pin"), dots, noteOf(problem), digits, this.#buttons());
  }

  /** The actions of the panel; each one is sent with the PIN, and recorded. */
  #menu(note = "") {
    const { k } = this;
    const out = k.status.broken;
    const all = [
      [out ? "deed_in" : "deed_out", () => this.#sendAction(out ? "in_order" : "out_of_order")],
      ["deed_reload", () => this.#sendAction("reload")],
      ["deed_sound", () => this.#sendAction("sound")],
      ["deed_calibrate", () => this.#calibrate()],
      ["deed_unpair", () => this.#sure()],
    ];
    const buttons = all.map(([key, act]) => control(key, "k-button", act, k.t(key)));
    const status = make("p", "k-note", note);
    status.setAttribute("role", "status");
    this.#lay(k.t("staff"), make("div", "k-menu", ...buttons), status, this.#buttons());
  }

  #sure() {
    const { k } = this;
    const words = { title: k.t("deed_unpair"), lines: [k.t("deed_sure")] };
    const texts = { yes: k.t("deed_unpair"), no: k.t("back") };
    k.frame.lay(
      ask(k, { name: "unpair", ...words, ...texts, act: () => this.#sendAction("unpair") }),
    );
  }

  /** Send an action with the PIN, one at a time, and show what came of it. */
  async #sendAction(action, fields = {}) {
    const { k } = this;
    if (this.sent) return null;
    const sent = (this.sent = { action });
    let answer = null;
    try {
      answer = await k.beats.post("/kiosk/pair", { pin: this.pin, deed: action, ...fields });
    } catch {
      // the message follows below
    }
    if (this.sent !== sent || !this.isOpen) return null; // the panel was closed meanwhile
    this.sent = null;
    if (!answer) return this.#menuOrPin(k.t("staff_failed"), action);
    if (answer.state === "wrong" || answer.state === "blocked") {
      this.pin = "";
      return this.#ask(k.t(answer.state === "wrong" ? "staff_wrong" : "staff_blocked"));
    }
    if (answer.state === "unfit") return this.#height(fields, k.t(UNFIT[answer.problem], answer));
    if (action === "open") return this.#menu();
    if (action === "sound") k.tone.play(880);
    if (action === "reload" || action === "unpair" || action === "calibrate")
      return location.reload();
    k.pulse.beat();
    return this.#menu(k.t("done"));
  }

  #menuOrPin(words, action) {
    if (action !== "open") return this.#menu(words);
    this.pin = "";
    return this.#ask(words);
  }

  /** A frame that is adjusted to the width of a bank card held against the screen. */
  #calibrate() {
    const { k } = this;
    let px = Math.round(CARD_MM * k.measures.mm);
    const card = make("div", "k-card-frame rigid");
    const draw = () => card.style.setProperty("--card", `${px}px`);
    const step = (key, by) =>
      control(
        `${key}-${Math.abs(by)}`,
        "k-button",
        () => ((px += by), draw()),
        `${k.t(key)} ${Math.abs(by)}`,
      );
    const steps = [
      step("narrower", -FAST_PX),
      step("narrower", -STEP_PX),
      step("wider", STEP_PX),
      step("wider", FAST_PX),
    ];
    const go = () =>
      this.#height({
        mm_per_px: (CARD_MM / px).toFixed(5),
        bottom_mm: String(k.data.kiosk.bottom_mm ?? ""),
        width_px: innerWidth,
        height_px: innerHeight,
      });
    const next = control("next", "k-button k-main", go, k.t("next"));
    draw();
    const words = make("p", "k-small", k.t("card"));
    const below = make("div", "k-steps", ...steps);
    this.#lay(k.t("deed_calibrate"), words, card, below, this.#buttons(next));
  }

  /**
   * The height of the screen above the floor, so that no control is placed out of reach. `measured`
   * has the form's fields; `problem` says why the server did not take them.
   */
  #height(measured, problem = "") {
    const { k } = this;
    let bottom = measured.bottom_mm;
    const shown = make("p", "k-code num", bottom || "–");
    const digits = this.#digits((digit) => {
      bottom = digit === null ? bottom.slice(0, -1) : (bottom + digit).slice(0, 4);
      shown.textContent = bottom || "–";
    });
    const act = () => this.#sendAction("calibrate", { ...measured, bottom_mm: bottom });
    const save = control("save", "k-button k-main", act, k.t("save"));
    this.#lay(k.t("bottom"), shown, noteOf(problem), digits, this.#buttons(save));
  }

  #buttons(...more) {
    const { k } = this;
    const close = control("panel-close", "k-button", () => this.close(), k.t("close"));
    return make("div", "wrap k-deeds", close, ...more);
  }

  /** Ten digit keys and a key to delete; `act(null)` deletes a digit. */
  #digits(act) {
    const each = [..."1234567890"].map((digit) =>
      control(`pin-${digit}`, "k-key", () => act(digit), digit),
    );
    const erase = control("pin-erase", "k-key k-key-other", () => act(null), "×");
    erase.setAttribute("aria-label", this.k.t("key_delete"));
    const node = make("div", "k-digits grid", ...each, erase);
    node.dir = "ltr"; // digits run from left to right on every telephone
    return node;
  }

  #lay(title, ...parts) {
    this.k.frame.lay(sheet("panel", title, ...parts));
  }
}

/** The line for a problem, which is read aloud at once; empty without one. */
function noteOf(problem) {
  const note = make("p", "k-note strong if-any k-problem if-room", problem);
  if (problem) note.setAttribute("role", "alert");
  return note;
}

function cornerOf({ clientX, clientY }) {
  const side = near(clientX, innerWidth);
  const end = near(clientY, innerHeight);
  return side && end ? `${end}-${side}` : "";
}

function near(at, length) {
  if (at < CORNER_PX) return "low";
  return at > length - CORNER_PX ? "high" : "";
}

function opposite(one, other) {
  if (!one || !other) return false;
  const [[a, b], [c, d]] = [one.split("-"), other.split("-")];
  return a !== c && b !== d;
}
