/** Detects that no one is there: asks "Still there?", then ends the visit. */

import { clocks, passed } from "../shared/clocks.js";

const TICK_MS = 250;

export class Idle {
  /**
   * `asks(s)` shows the question with the seconds left, and null removes it; `over()` ends the
   * visit. `last` is the number of seconds for which the question is shown.
   */
  constructor({ asks, over, last = 20 }) {
    this.asks = asks;
    this.over = over;
    this.last = last;
    this.wait = 0;
    this.quiet = false; // whether the visit ends without a question, because nothing would be lost
    this.from = clocks();
    this.asked = null;
    setInterval(() => this.#tick(), TICK_MS);
  }

  /**
   * A guest is there: the wait starts again. If it had ended already while the device slept, the
   * visit ends first, because the person is another guest.
   */
  touched() {
    this.#tick();
    this.#begin();
  }

  /** Watch with a wait in seconds before the question; 0: never. */
  watch(wait, quiet = false) {
    this.wait = wait;
    this.quiet = quiet;
    this.#begin();
  }

  #begin() {
    this.from = clocks();
    this.#ask(null);
  }

  #tick() {
    if (!this.wait) return;
    const last = this.quiet ? 0 : this.last;
    const left = this.wait + last - passed(this.from) / 1000;
    if (left <= 0) {
      this.wait = 0;
      this.#ask(null);
      this.over();
    } else if (left <= last) this.#ask(Math.ceil(left));
  }

  #ask(seconds) {
    if (seconds === this.asked) return;
    this.asked = seconds;
    this.asks(seconds);
  }
}

/** A short tone, so that "Still there?" is also audible; browsers may refuse it before a touch. */
export class Tone {
  constructor() {
    this.context = null;
  }

  play(pitch = 660) {
    try {
      this.context ??= new AudioContext();
      if (this.context.state === "suspended") this.context.resume().catch(() => {});
      const [tone, volume] = [this.context.createOscillator(), this.context.createGain()];
      const now = this.context.currentTime;
      tone.frequency.value = pitch;
      volume.gain.setValueAtTime(0.15, now);
      volume.gain.exponentialRampToValueAtTime(0.001, now + 0.5);
      tone.connect(volume).connect(this.context.destination);
      tone.start(now);
      tone.stop(now + 0.5);
    } catch {
      // the device has no sound
    }
  }
}
