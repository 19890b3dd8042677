/**
 * Reads the screen aloud. Only voices of this device speak: others would send the guest's words to
 * somebody else's computer. A document without one for the language has no speech, and no button.
 */

const EVENT = "ridedash:spoken"; // for tests: browsers without a screen have no voice

const MARKS = /[\u200e\u200f\u2066-\u2069]/g; // of directions, which have no sound

export class Speech {
  constructor({ changed }) {
    this.on = false;
    this.changed = changed;
    this.last = [];
    globalThis.speechSynthesis?.addEventListener?.("voiceschanged", () => changed());
  }

  /** The languages in which this device speaks by itself. */
  get languages() {
    return [...new Set(local().map((voice) => base(voice.lang)))];
  }

  can(tag) {
    return Boolean(voiceFor(tag));
  }

  /** Say these sentences after what is said now, or instead of it. */
  say(sentences, tag, { instead = false } = {}) {
    if (!this.on) return;
    if (instead) this.hush();
    const voice = voiceFor(tag);
    if (!voice) return;
    for (const sentence of sentences.filter(Boolean)) {
      const text = sentence.replaceAll(MARKS, "");
      const spoken = new SpeechSynthesisUtterance(text);
      spoken.voice = voice;
      spoken.lang = voice.lang;
      document.dispatchEvent(new CustomEvent(EVENT, { detail: text }));
      speechSynthesis.speak(spoken);
    }
  }

  /** Be silent at once: what waits is forgotten. */
  hush() {
    globalThis.speechSynthesis?.cancel();
  }

  end() {
    this.on = false;
    this.hush();
  }
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
