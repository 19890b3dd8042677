/**
 * Reads the screen aloud. Only local voices are used: others would send the guest's words to
 * another computer. Without a local voice for the language there is no speech, and no button for
 * it.
 */

const MARKS = /[\u200e\u200f\u2066-\u2069]/g; // marks of direction, which have no sound

const VOLUMES = [0.25, 0.4, 0.55, 0.7, 0.85, 1];
const USUAL_VOLUME = 4; // of VOLUMES, counted from 1: two louder ones are left

export class Speech {
  /**
   * `changed()` is called when the voices of this device change, `paused(on)` when reading stops
   * for a while or goes on.
   */
  constructor({ changed, paused }) {
    this.on = false;
    this.changed = changed;
    this.paused = paused;
    this.volume = USUAL_VOLUME;
    this.waiting = []; // utterances that have not ended, in their order
    this.held = null; // while reading is paused: the utterances that are left
    this.aside = null; // the utterance of interject()
    globalThis.speechSynthesis?.addEventListener?.("voiceschanged", () => changed());
  }

  /** The languages for which this device has a local voice. */
  get languages() {
    return [...new Set(local().map((voice) => base(voice.lang)))];
  }

  /** How many volumes there are; `volume` counts from 1. */
  get volumes() {
    return VOLUMES.length;
  }

  get isPaused() {
    return this.held !== null;
  }

  can(tag) {
    return Boolean(voiceFor(tag));
  }

  /** Say these sentences after the present ones, or instead of them. */
  say(sentences, tag, { instead = false } = {}) {
    if (!this.on) return;
    if (instead) this.hush();
    const voice = voiceFor(tag);
    if (!voice) return;
    for (const sentence of sentences.filter(Boolean)) {
      const text = sentence.replaceAll(MARKS, "").replaceAll(" · ", ", ");
      if (this.held) this.held.push({ text, voice });
      else this.#utter({ text, voice });
    }
  }

  #utter({ text, voice }) {
    const utterance = new SpeechSynthesisUtterance(text);
    utterance.voice = voice;
    utterance.lang = voice.lang;
    utterance.volume = VOLUMES[this.volume - 1];
    const ended = () => (this.waiting = this.waiting.filter((each) => each !== utterance));
    for (const end of ["end", "error"]) utterance.addEventListener(end, ended);
    this.waiting.push(utterance);
    speechSynthesis.speak(utterance);
  }

  /**
   * Pause reading, or go on with the sentence at which it paused, from its start: the browser's own
   * pause() ends the sentence on tablets, and can't be resumed there. Returns whether there was
   * anything to pause or to go on with.
   */
  pause() {
    const left = this.#left;
    if (left.length === 0) return false;
    const pauses = !this.isPaused;
    this.#cancel();
    this.held = pauses ? left : null;
    if (!pauses) for (const each of left) this.#utter(each);
    this.paused(pauses);
    return true;
  }

  /** Change the volume by so many steps, as far as there are any. */
  changeVolume(steps) {
    this.volume = Math.min(Math.max(this.volume + steps, 1), this.volumes);
  }

  /** Say this at once and at the present volume, before what was being read. */
  interject(sentence, tag) {
    const left = this.#left;
    const paused = this.isPaused;
    this.held = null;
    this.#cancel();
    this.say([sentence], tag);
    this.aside = this.waiting.at(-1);
    if (paused) this.held = left;
    else for (const each of left) this.#utter(each);
  }

  /** What is still to be read, without what was said aside. */
  get #left() {
    return (this.held ?? this.waiting).filter((each) => each !== this.aside);
  }

  /** Be silent at once, and drop all waiting sentences. */
  hush() {
    const paused = this.isPaused;
    this.held = null;
    this.#cancel();
    if (paused) this.paused(false);
  }

  #cancel() {
    this.waiting = [];
    globalThis.speechSynthesis?.cancel();
  }

  /** The visit is over: the next guest hears nothing, and then the usual volume. */
  end() {
    this.on = false;
    this.volume = USUAL_VOLUME;
    this.hush();
  }
}

/** The text to read for a node: its label, else its text in one line; `k-english` is left out. */
export function wordsOf(node) {
  const label = node.getAttribute("aria-label");
  if (label !== null) return label;
  const parts = [...node.childNodes].filter((each) => !each.classList?.contains("k-english"));
  const text = parts.map((each) => each.innerText ?? each.textContent).join(" ");
  return text.replaceAll(/\s+/g, " ").trim();
}

function local() {
  return (globalThis.speechSynthesis?.getVoices() ?? []).filter((voice) => voice.localService);
}

function voiceFor(tag) {
  return local().find((voice) => base(voice.lang) === base(tag));
}

function base(tag) {
  return tag.toLowerCase().split(/[-_]/)[0];
}
