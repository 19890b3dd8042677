/**
 * Stories on the stage: Play, Step, Skip and End, and each sentence below the screens. The state of
 * the run is on the server; this script only asks it to continue, and shows the right screen.
 */

import { ask, askQuietly } from "../shared/ask.js";
import * as desk from "./desk_hand.js";
import { leave, pause, until, whenLate } from "./hand.js";
import * as kiosk from "./kiosk_hand.js";
import { isDenied, isFinal, isOver, OWN_PACE, play } from "./story.js";
import { isLeftBehind, typedInto } from "./typed.js";

const HANDS = { desk, kiosk }; // what screens can do by themselves
const AFTER_HAND_S = 0.4;
// The time to read a sentence aloud, from when it appeared. It is shorter than eight seconds, so
// that no audience wonders whether the story has stopped.
const READ_MS = 1_500;
const LETTER_MS = 60;
const LONGEST_MS = 7_000;
const LEAD_MS = 900; // how long a sentence is shown before what it announces is done
const POLLED_S = 1; // how long screens need to show what has changed

/**
 * The answer to a form, without a time limit: beginning a story first deletes the demo's rides,
 * which may have to wait for the sandbox's answer to an order. {} without an answer.
 */
async function postForm(address, form) {
  try {
    const answer = await fetch(address, {
      method: "POST",
      body: new URLSearchParams(form),
      headers: { Accept: "application/json" },
      credentials: "same-origin",
    });
    return { status: answer.status, ...(await answer.json()) };
  } catch {
    return {};
  }
}

export class StageStory {
  /**
   * `say(words)` shows a sentence; `changed()` is called when the clock may have changed; `hold()`
   * holds the clock, and pauses the story; `denied(status)` is called if `isDenied(status)`;
   * `ended(moment)` when a story that was played to its end here has been read to the end.
   */
  constructor(root, screens, { say, changed, hold, denied, ended }) {
    Object.assign(this, { root, screens, changed, hold, denied, ended });
    this.said = { words: "", at: 0 };
    this.say = (words) => {
      if (words !== this.said.words) this.said = { words, at: Date.now() };
      say(words);
    };
    this.bar = root.querySelector("[data-story]");
    this.form = document.querySelector("[data-begin]");
    this.speed = OWN_PACE;
    this.moment = null;
    this.stop = null;
    this.done = null; // the step that a screen has done, as far as it could
    this.refused = ""; // the words in which the desk's form refused that step
    this.beginning = null; // the start of a story that is under way
    this.wanted = null; // identifies that start; null once a Reset has ended it
    this.again = null; // continues once the desk's form may be cleared
    const on = (name, act) => this.#part(name).addEventListener("click", act);
    on("play", () => (this.stop ? this.hold() : this.play()));
    on("step", () => this.step());
    on("skip", () => this.skip());
    on("drop", () => this.drop());
    on("clear", () => this.#clear());
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.play();
    });
    this.#part("seed").addEventListener("change", () => this.#rehearsed());
    whenLate((late) => this.#waits(late ? this.root.dataset.sayHand : ""));
    // from here on presses are handled
    for (const name of ["play", "step"]) this.#part(name).disabled = false;
    if (this.bar.dataset.run) this.#resume(this.bar.dataset.run);
  }

  get playing() {
    return this.stop !== null;
  }

  /** Whether the story controls the clock: it plays, or is about to. */
  get leads() {
    return this.playing || this.beginning !== null;
  }

  /** Continue with another speed of the clock, if a story plays. */
  at(speed) {
    this.speed = speed;
    if (this.playing) this.play();
  }

  async play() {
    const from = await this.#currentRun(() => this.play());
    if (from) this.#play(from);
  }

  pause() {
    this.stop?.();
    leave(); // the hand stops typing
    this.stop = null;
    this.#show();
  }

  /** Take one step to its end; while it waits, the clock leaps. */
  async step() {
    this.pause();
    const from = await this.#currentRun(() => this.step());
    if (from) this.#play(from, from.step);
  }

  skip() {
    this.#sendAction("skip");
  }

  drop() {
    this.#sendAction("drop");
  }

  /** A Reset has ended the story. */
  forget() {
    this.again = this.wanted = null;
    this.moment = null; // first, so that the message of the Reset is not overwritten
    this.form.reset();
    this.#part("choose").selectedIndex = 0; // for the next partner the first story is chosen again
    this.pause();
  }

  #part(name) {
    return document.querySelector(`[data-${name}]`);
  }

  /** How long the present sentence is still to be read; less if the next step waits anyway. */
  #between({ ahead_s: aheadS }) {
    const { words, at } = this.said;
    const read = Math.min(READ_MS + LETTER_MS * words.length, LONGEST_MS);
    const waits = aheadS ? (aheadS + POLLED_S) * 1_000 : 0;
    return Math.max(0, at + read - Date.now() - waits);
  }

  /** Say what the coming step does, before it does it. */
  async #lead({ state, acts, next }) {
    if (state !== "todo" || !acts || !next || next === this.said.words) return;
    this.say(next);
    await pause(LEAD_MS);
  }

  /** Show the progress of the story again, after another message. */
  tell() {
    if (this.again) this.say(this.root.dataset.sayTyped);
    else if (this.moment) this.say(this.#words(this.moment));
    else this.say(this.root.dataset.sayReady);
  }

  /** The current run; begins a new one if there is none, only once even if called repeatedly. */
  async #currentRun(again) {
    if (this.moment && !isOver(this.moment)) return this.moment;
    if (!this.#isFree(again)) return null;
    this.beginning ??= this.#begin();
    const begun = await this.beginning;
    this.beginning = null;
    return begun;
  }

  async #begin() {
    if (!this.form.reportValidity()) return null;
    const id = this.#part("choose").value;
    this.say(this.root.dataset.sayBegins);
    const mine = (this.wanted = {});
    const answer = await postForm(`/demo/stories/${id}/start`, new FormData(this.form));
    if (this.wanted !== mine) return null;
    if (!answer.run) {
      this.#refuse(answer.message, answer.status);
      return null;
    }
    this.moment = answer;
    this.speed = OWN_PACE;
    this.done = null;
    this.screens.calm();
    // the list of calls covers the desk
    if (this.root.dataset.layout === "3") this.screens.arrange("1");
    await this.screens.reload("desk", "/");
    this.changed();
    return this.moment;
  }

  /**
   * Whether the desk may be used. Text that a person has typed there is only removed with their
   * consent: the story pauses, and one press clears the form and continues with `again`.
   */
  #isFree(again) {
    const field = typedInto(this.screens.page("desk"));
    if (!field) return true;
    this.pause();
    this.screens.show("desk");
    field.scrollIntoView({ block: "nearest" });
    this.again = again;
    this.#show();
    return false;
  }

  /** Empty the desk's form if the hand has given up, and no person has typed into the form. */
  async #emptyForm() {
    if (isLeftBehind(this.screens.page("desk"))) await this.screens.reload("desk", "/");
  }

  async #clear() {
    const { again } = this;
    await this.screens.reload("desk", "/");
    await until(() => !typedInto(this.screens.page("desk")));
    if (this.again !== again) return; // after a Reset, or another press
    this.again = null;
    this.#show();
    again();
  }

  #play(from, only = null) {
    this.again = null;
    this.stop?.();
    leave();
    const stop = play(from, {
      speed: only === null ? this.speed : 0,
      hands: async (moment) => {
        await this.#lead(moment);
        return this.#hands(moment);
      },
      between: (moment) => (only === null ? this.#between(moment) : 0),
      onMoment: (moment) => this.#come(moment, only),
      onTrouble: (words, status) => this.#showError(words, status),
    });
    this.stop = stop;
    this.#show();
  }

  async #come(moment, only) {
    this.moment = moment;
    this.#show();
    this.changed();
    if (moment.state === "hand") {
      const mine = this.stop;
      const { screen, do: what } = moment.hand;
      const again = only === null ? () => this.play() : () => this.step();
      if (screen === "desk" && !this.#isFree(again)) return;
      if (screen === "desk" && !this.screens.page("desk")?.querySelector("#book"))
        await this.screens.reload("desk", "/");
      const stands = () => this.#stands(moment, mine);
      const page = () => this.screens.page(screen);
      const result = await HANDS[screen][what](page, moment.hand, stands);
      if (this.stop !== mine) return;
      this.done = moment.step; // the server does what the hand could not do
      this.refused = result.refused ?? "";
      if (!result.refused && !(result.booked ?? result)) await this.#emptyForm();
      moment.again_s = AFTER_HAND_S;
      return;
    }
    const isTaken = only !== null && moment.step > only;
    if (isOver(moment) || isTaken) this.pause();
    if (moment.state === "ended" && moment.card) this.ended(moment);
  }

  /** For `take`: the screen that does the next step by itself, now visible; {} for none. */
  async #hands(moment) {
    const { state, step, hand } = moment;
    const screen = hand?.screen ?? hand; // {screen, do, …} if the hand is to act now
    if (!screen || state === "waiting") return {};
    if (this.done === step) return this.refused ? { [screen]: "1", refused: this.refused } : {};
    this.screens.show(screen);
    if (screen === "kiosk" && !(await this.screens.pair())) return {};
    return { [screen]: "1" };
  }

  /** Whether a step is still to be taken: the story may be paused, or ended by another person. */
  async #stands({ run, step }, mine) {
    const { ok, body } = await ask(`/demo/runs/${run}`, {});
    return ok && this.stop === mine && body.step === step && body.state === "todo";
  }

  #showError(words, status) {
    this.#refuse(words, status);
    if (!isFinal(status)) return;
    this.stop?.();
    this.stop = null;
    if (status === 404) this.moment = null; // the file of the run was deleted
    this.#show({ silently: true });
  }

  #refuse(words, status) {
    if (isDenied(status)) this.denied(status);
    else this.say(words || this.root.dataset.sayAway);
  }

  async #sendAction(what) {
    const { moment } = this;
    if (!moment) return;
    this.again = null;
    this.pause();
    await this.#emptyForm();
    const { csrf_token } = Object.fromEntries(new FormData(this.form));
    const sent = { csrf_token, step: moment.step };
    const answer = await askQuietly(`/demo/runs/${moment.run}/${what}`, sent);
    if (!answer.ok) return this.#refuse(answer.body.message, answer.status);
    this.moment = what === "drop" ? null : answer.body;
    if (what === "drop") this.say(this.root.dataset.sayDropped);
    this.#show();
    this.changed();
  }

  async #resume(run) {
    const { ok, body } = await ask(`/demo/runs/${run}`, {});
    if (!ok || this.moment) return;
    this.moment = body;
    this.#show();
  }

  #show({ silently = false } = {}) {
    const { moment } = this;
    const runs = Boolean(moment) && !isOver(moment);
    for (const name of ["choose", "seed"]) this.#part(name).disabled = runs;
    for (const name of ["title", "skip", "drop"]) this.#part(name).hidden = !runs;
    this.#part("clear").hidden = !this.again;
    this.#part("play").classList.toggle("is-playing", this.playing);
    this.#part("play-words").textContent = this.root.dataset[this.playing ? "sayPause" : "sayPlay"];
    this.#showInfo(runs ? moment.told : "");
    this.#waits(runs && this.playing ? moment.waits : "");
    this.#lines(moment?.lines ?? []);
    if (this.again) this.say(this.root.dataset.sayTyped);
    if (!moment) return;
    this.#part("title-words").textContent = moment.title;
    this.#part("title-step").textContent = `${Math.max(moment.taken, 0)} / ${moment.of}`;
    if (!silently && !this.again) this.say(this.#words(moment));
    if (runs) this.screens.show(moment.show || "desk", moment.point, moment.order);
    else this.screens.calm();
  }

  #words({ state, say, next, why, refused }) {
    if (refused) return refused;
    if (state === "ended") return this.root.dataset.sayEnded;
    if (state === "dropped") return this.root.dataset.sayDropped;
    if (state === "failed") return this.root.dataset.sayFailed.replace("{why}", why);
    return say || next;
  }

  /** Show a fact for the desk that no ride shows, such as a price. */
  #showInfo(words) {
    const line = this.#part("told");
    line.hidden = !words;
    line.textContent = words;
  }

  /** Show what the story waits for, and until when. */
  #waits(words) {
    this.#part("waits").hidden = !words;
    this.#part("waits-words").textContent = words ?? "";
  }

  #lines(lines) {
    const list = this.#part("lines");
    list.hidden = !lines.length;
    const items = lines.map(([words, holds]) => {
      const item = document.createElement("li");
      item.textContent = words;
      item.classList.toggle("is-false", !holds);
      return item;
    });
    list.replaceChildren(...items);
  }

  #rehearsed() {
    const { value, dataset } = this.#part("seed");
    if (Number(value) > Number(dataset.rehearsed)) this.say(this.root.dataset.sayUnrehearsed);
  }
}
