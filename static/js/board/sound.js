/**
 * A short sound when a ride, an alert or a guest at a kiosk newly needs attention, for users who
 * switched it on. The notes are synthesised: there is no sound file.
 */

const NOTES = [
  [880, 0],
  [1174.7, 0.14],
]; // frequency in Hz, start in seconds
// events that allow a page to play sounds: a touch allows it at its end, not at its start
const PRESSES = ["pointerup", "click", "keydown"];
const LASTS = 0.22;
const LOUD = 0.12;

export class Chime {
  /**
   * `sign` is shown while the sound is switched on and the browser plays none: before the first
   * press on a page, and after the system has suspended it. Any press resumes it.
   */
  constructor(on, sign) {
    this.on = on;
    this.sign = sign;
    this.known = null;
    if (!on) return;
    this.context = new AudioContext();
    this.context.addEventListener("statechange", () => this.#show());
    for (const kind of PRESSES) addEventListener(kind, () => this.#resume());
    this.#show();
  }

  /**
   * Play the sound when `items` has a new one. They are the names of all that needs attention:
   * rides, alerts, guests at kiosks. The first call only stores them.
   */
  hear(items) {
    const fresh = this.known && items.some((item) => !this.known.has(item));
    this.known = new Set(items);
    if (fresh && this.on) this.#play();
  }

  #resume() {
    if (this.context.state !== "running") this.context.resume().catch(() => this.#show());
  }

  #show() {
    this.sign.hidden = this.context.state === "running";
  }

  #play() {
    document.dispatchEvent(new CustomEvent("ridedash:chime"));
    if (this.context.state !== "running") return;
    const start = this.context.currentTime;
    for (const [pitch, after] of NOTES) {
      const tone = this.context.createOscillator();
      const volume = this.context.createGain();
      tone.frequency.value = pitch;
      volume.gain.setValueAtTime(LOUD, start + after);
      volume.gain.exponentialRampToValueAtTime(0.001, start + after + LASTS);
      tone.connect(volume).connect(this.context.destination);
      tone.start(start + after);
      tone.stop(start + after + LASTS);
    }
  }
}
