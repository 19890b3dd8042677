/**
 * The cards over the screens of the stage: the title card before the first story, and the end card
 * with the figures of a story. While a card is open, only the card and the bar can be used.
 */

export class Cards {
  /** `play()` begins the five minutes. */
  constructor(root, { play }) {
    this.root = root;
    this.behind = root.querySelectorAll("[data-floor], [data-story], [data-tabs]");
    this.plays = [...root.querySelectorAll("[data-card-play]")];
    for (const button of this.plays) button.addEventListener("click", play);
    for (const button of root.querySelectorAll("[data-card-close]"))
      button.addEventListener("click", () => this.open(""));
    this.#settle();
  }

  /** Let a story be played, unless the day of a new demo is still being made: `words` say so. */
  prepare(words) {
    for (const button of this.plays) button.disabled = Boolean(words);
    this.root.querySelector("[data-card-preparing]").textContent = words;
  }

  /** Open the card "title" or "end"; "" closes both. */
  open(name) {
    for (const card of this.root.querySelectorAll("[data-card]"))
      card.hidden = card.dataset.card !== name;
    this.#settle();
  }

  /** Show the figures of a story: {numbers: [[text, words]], sentences, checks}. */
  end({ numbers, sentences, checks }) {
    const card = this.root.querySelector('[data-card="end"]');
    const rows = numbers.map(([number, words]) => {
      const row = document.createElement("div");
      row.className = "stack";
      row.append(textIn("dt", words, "secondary"), textIn("dd", number, "num"));
      return row;
    });
    card.querySelector("[data-card-numbers]").replaceChildren(...rows);
    const lines = sentences.map((words) => textIn("li", words));
    card.querySelector("[data-card-sentences]").replaceChildren(...lines);
    card.querySelector("[data-card-checks]").textContent = checks;
    this.open("end");
  }

  get isOpen() {
    return this.root.querySelector("[data-card]:not([hidden])") !== null;
  }

  #settle() {
    this.root.classList.toggle("has-card", this.isOpen);
    for (const part of this.behind) part.inert = this.isOpen;
  }
}

function textIn(tag, text, name = "") {
  const element = document.createElement(tag);
  element.className = name;
  element.textContent = text;
  return element;
}
