/**
 * Reads the screen aloud. Only local voices are used: others would send the guest's words to
 * another computer. Without a local voice for the language there is no speech, and no button for
 * it.
 */

const MARKS = /[\u200e\u200f\u2066-\u2069]/g; // marks of direction, which have no sound

export class Speech {
  constructor({ changed }) {
    this.on = false;
    this.changed = changed;
    this.last = [];
    globalThis.speechSynthesis?.addEventListener?.("voiceschanged", () => changed());
  }

  /** The languages for which this device has a local voice. */
  get languages() {
    return [...new Set(local().map((voice) => base(voice.lang)))];
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
      const spoken = new SpeechSynthesisUtterance(text);
      spoken.voice = voice;
      spoken.lang = voice.lang;
      speechSynthesis.speak(spoken);
    }
  }

  /** Be silent at once, and drop all waiting sentences. */
  hush() {
    globalThis.speechSynthesis?.cancel();
  }

  end() {
    this.on = false;
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
