/** The frame of every screen: the property and the clock, one question, its controls, the bar. */

import { beneath, control, fact, icon, make } from "./el.js";
import { face } from "./face.js";
import { dimAt } from "./night.js";

// screens that must show all facts, if necessary on several pages
const PAGED = new Set(["check", "ticket", "ride"]);
// what the words of a screen stand on: the property's face, a card before it, or plain paper
const GROUNDS = { check: "card", ticket: "card", ride: "card", unknown: "plain" };
const FACTS = `.k-words > :not(.k-progress, .k-question, .k-facts, .k-plates, .k-english),
  .k-facts > *, .k-plates > *`;
// the questions before Book: where, which car, for whom, and whether all of it is right
const STEPS = { where: 1, place: 1, car: 2, meet: 2, people: 2, who: 3, check: 4 };
const LAST_STEP = 4;

export class Frame {
  constructor(k, root) {
    this.k = k;
    this.root = root;
    this.head = root.querySelector("[data-head]");
    this.demo = root.querySelector("[data-demo]");
    this.stage = root.querySelector("[data-stage]");
    this.face = make("div", "k-face");
    this.face.setAttribute("aria-hidden", "true");
    face(this.face, k.data.property);
    this.stage.prepend(this.face);
    this.bar = root.querySelector("[data-bar]");
    this.clock = root.querySelector("[data-clock]");
    this.place = root.querySelector("[data-place]");
    this.sheets = root.querySelector("[data-sheets]");
    this.moment = root.querySelector("[data-moment]");
    this.covered = root.querySelector("[data-frame]");
    this.dark = null; // the dark cover over the screen, for a guest who listens
    this.clocks = {}; // time formats by language
    this.at = 0; // the number of the present question before Book, if any
    this.setClock(k.data.clock);
    setInterval(() => this.tick(), 1_000);
  }

  /**
   * Draw a screen: {question, facts, controls, look}; a node `shown` is displayed in place of the
   * text `question`. `anew`: whether the screen differs from the previous one.
   */
  draw(view, anew) {
    const press = anew ? null : document.activeElement?.dataset.press;
    const atQuestion = document.activeElement?.dataset.question === "";
    const { language } = this.k.visit;
    document.documentElement.lang = language;
    document.documentElement.dir = this.k.directionOf(language);
    this.root.dir = this.k.directionOf(language);
    const demo = this.k.data.demo[language]; // undefined if rides are real
    if (demo) this.demo.textContent = demo;
    this.root.dataset.screen = this.k.screen;
    this.root.dataset.look = view.look ?? "";
    if (view.ticket) this.root.dataset.ticket = view.ticket;
    else delete this.root.dataset.ticket;
    this.root.dataset.ground = GROUNDS[view.look] ?? "face";
    const question = make("h1", "k-question heavy title", view.shown ?? view.question);
    question.dataset.question = "";
    if (view.from) question.dataset.from = view.from;
    question.tabIndex = -1;
    const english = beneath(this.k.english(view.question));
    const facts = view.facts ?? [];
    this.root.dataset.move = anew ? this.#moved() : "";
    const step = view.above ?? this.#step(view);
    const words = make("div", "stack k-words gap-3 if-room", step, question, english, ...facts);
    const controls = make("div", "stack k-controls gap-3", ...(view.controls ?? []));
    this.#emptyStage();
    this.stage.append(words, controls);
    this.#drawBar();
    this.tick();
    view.placed?.(controls);
    if (this.k.mayTurnFacts && PAGED.has(view.look)) turnFacts(this.k, words, controls);
    this.#focus(question, press, anew || atQuestion);
  }

  /** Whether the guest goes on ("on") or back ("back") between two questions; else "". */
  #moved() {
    const before = this.at;
    this.at = STEPS[this.k.screen] ?? 0;
    if (!before || !this.at || before === this.at) return "";
    return this.at > before ? "on" : "back";
  }

  /**
   * How far the guest is on the way to a booking, as "2 of 4" and as marks; null where there is no
   * such way, or no room.
   */
  #step({ look }) {
    const n = STEPS[this.k.screen];
    const { crowded, measures } = this.k;
    if (!n || crowded || measures.narrow) return null;
    if (GROUNDS[look] === "card" && !measures.roomy) return null;
    const marks = Array.from({ length: LAST_STEP }, (_, i) =>
      make("span", i < n ? "k-step is-done" : "k-step"),
    );
    for (const mark of marks) mark.setAttribute("aria-hidden", "true");
    const words = make("span", "k-step-words num", this.k.t("position", { n, of: LAST_STEP }));
    return make("div", "line k-progress gap-2", ...marks, words);
  }

  /** Remove a screen; the face stays where it is, so that it is not drawn anew each time. */
  #emptyStage() {
    for (const node of this.stage.querySelectorAll(":scope > :not(.k-face)")) node.remove();
  }

  /** Remove everything of a visit from the document. */
  clear() {
    this.#emptyStage();
    this.sheets.replaceChildren();
    this.covered.inert = false;
    this.lighten();
    this.back = null;
    this.at = 0;
    this.unplaced();
  }

  /** Remove the position among the controls ("2 of 5"): it is of an earlier screen or language. */
  unplaced() {
    this.place.textContent = "";
  }

  /** Open a sheet over the screen; the focus goes back when the last sheet is removed. */
  lay(node) {
    this.remove(node.dataset.sheet);
    this.back ??= document.activeElement;
    this.covered.inert = true;
    this.sheets.append(node);
    (node.querySelector("[data-first]") ?? node).focus({ preventScroll: true });
  }

  remove(name) {
    const found = this.sheets.querySelector(`[data-sheet="${name}"]`);
    if (!found) return;
    found.remove();
    this.covered.inert = this.sheets.childElementCount > 0;
    if (this.covered.inert) return;
    if (this.back?.isConnected) this.back.focus({ preventScroll: true });
    this.back = null;
  }

  /** Show a line over every screen and sheet that a guest can work on below; "" hides it. */
  showMoment(text) {
    if (text && this.moment.hidden) this.k.speak([text]);
    this.moment.hidden = !text;
    this.moment.textContent = text;
  }

  /** Cover everything: the guest listens, and no one can read along. The controls still work. */
  darken(node) {
    this.dark = node;
    this.root.append(node);
  }

  lighten() {
    this.dark?.remove();
    this.dark = null;
  }

  /** Whether a sheet, or the dark, is over the screen. */
  get isCovered() {
    return this.covered.inert || Boolean(this.dark);
  }

  has(name) {
    return Boolean(this.sheets.querySelector(`[data-sheet="${name}"]`));
  }

  /**
   * Set the time of the server's clock. A demo's clock may leap or stand still; this device's may
   * be wrong.
   */
  setClock({ now, speed }) {
    this.shown = { now: Date.parse(now), speed, from: performance.now() };
  }

  tick() {
    const text = this.timeIn(this.k.visit.language);
    if (this.clock.textContent === text) return;
    this.clock.textContent = text;
    dimAt(Number.parseInt(this.timeIn("en"), 10));
  }

  /** The time, as it is written in a language. */
  timeIn(language) {
    const { now, speed, from } = this.shown;
    const at = now + (performance.now() - from) * speed;
    return (this.clocks[language] ??= this.#clockIn(language)).format(at);
  }

  #clockIn(language) {
    return new Intl.DateTimeFormat(language, {
      hour: "2-digit",
      minute: "2-digit",
      hourCycle: "h23", // otherwise 7:10 could be read as evening
      numberingSystem: "latn",
      timeZone: this.k.data.property.timezone || undefined,
    });
  }

  /** Focus the same control as before; if it is gone, or on another screen, focus the question. */
  #focus(question, press, needed) {
    if (this.covered.inert) return;
    const again = press && this.root.querySelector(`[data-press="${CSS.escape(press)}"]`);
    if (again) again.focus({ preventScroll: true });
    else if (needed || press) question.focus({ preventScroll: true });
  }

  #drawBar() {
    const { k } = this;
    const begins = k.visit.screen === "start";
    const parts = [
      begins ? null : this.#barButton("back", "back", () => k.back(), !k.visit.mayGoBack),
      // while an order is sent, starting over could not undo it, and must not look as if it could
      begins
        ? null
        : this.#barButton("over", "again", () => k.end("left"), k.visit.screen === "sending"),
      begins ? null : this.#language(),
      this.#aids(),
      this.#barButton("help", "ask", () => k.askHelp()),
    ];
    this.bar.replaceChildren(...parts.filter(Boolean));
    this.#nameAids();
  }

  /** On a tablet, the aids show their words if the bar has room for all, else only symbols. */
  #nameAids() {
    const { bar } = this;
    bar.classList.add("is-wordless");
    if (this.k.crowded) return;
    const high = bar.offsetHeight;
    bar.classList.remove("is-wordless");
    const buttons = [...bar.querySelectorAll(".k-bar-button")];
    const wide = buttons.every((each) => each.offsetWidth >= leastHeight(each) && isWhole(each));
    const room = wide && bar.offsetHeight <= high && bar.scrollWidth <= bar.clientWidth;
    bar.classList.toggle("is-wordless", !room);
  }

  #barButton(name, sign, act, off = false) {
    const words = make("span", "k-bar-word shrinks", this.k.t(name));
    const node = control(`bar-${name}`, `line k-bar-button k-bar-${name}`, act, icon(sign), words);
    node.setAttribute("aria-label", this.k.t(name));
    node.disabled = off;
    return node;
  }

  #language() {
    const { k } = this;
    const own = k.choices.find((each) => each.tag === k.visit.language);
    const words = make("span", "k-bar-word shrinks", fact(own?.name ?? k.visit.language));
    const act = () => k.chooseLanguage();
    const node = control(
      "bar-language",
      "line k-bar-button k-bar-language",
      act,
      icon("globe"),
      words,
    );
    words.lang = k.visit.language;
    return node;
  }

  #aids() {
    const { k } = this;
    const names = ["large", "lower", "contrast"];
    if (k.speech.can(k.visit.language)) names.push("aloud");
    const nodes = names.map((name) => {
      const label = k.t(`aid_${name}`);
      const node = this.#aid(`aid-${name}`, `aid-${name}`, label, () => k.turn(name));
      node.setAttribute("aria-pressed", String(k.visit.aids.has(name)));
      return node;
    });
    if (k.visit.aids.has("aloud")) nodes.push(this.#pause(), this.#volume());
    return make("div", "k-aids flex", ...nodes);
  }

  /** What a guest who listens, and has no keys, needs beside the aids. */
  #pause() {
    const { k } = this;
    const node = this.#aid("bar-pause", "pause", k.t("pause_reading"), () => k.pause());
    node.setAttribute("aria-pressed", String(k.speech.isPaused));
    return node;
  }

  #volume() {
    const node = this.#aid("bar-volume", "volume", "", () => this.k.nextVolume());
    this.#nameVolume(node);
    return node;
  }

  /** Its number of all, "4 of 6", which is read as "Volume: 4 of 6". */
  #nameVolume(node) {
    node.setAttribute("aria-label", this.k.volumeIn("volume_is"));
    node.querySelector(".k-bar-word").textContent = this.k.volumeIn("position");
  }

  #aid(press, sign, label, act) {
    const words = make("span", "k-bar-word shrinks", label);
    const node = control(press, "line k-bar-button k-aid", act, icon(sign), words);
    node.setAttribute("aria-label", label);
    return node;
  }

  markPaused(on) {
    const node = this.bar.querySelector('[data-press="bar-pause"]');
    node?.setAttribute("aria-pressed", String(on));
  }

  nameVolume() {
    const node = this.bar.querySelector('[data-press="bar-volume"]');
    if (node) this.#nameVolume(node);
  }
}

/** The property's logo once more; null without one. */
export function logo() {
  return document.querySelector("[data-head] .house-plate")?.cloneNode(true) ?? null;
}

/** Whether no word of a control is cut off at its side. */
function isWhole(node) {
  return node.scrollWidth <= node.clientWidth;
}

/** The least height of a control in px; its least width is the same (`--second` of kiosk.css). */
function leastHeight(node) {
  return Math.floor(Number.parseFloat(getComputedStyle(node).minBlockSize));
}

/** A sheet over the screen: `name` identifies it, `title` has its question, `parts` are below. */
export function sheet(name, title, ...parts) {
  const id = `sheet-${name}`;
  const heading = make("h2", "k-sheet-title heavy title", title);
  heading.id = id;
  const box = make("div", "stack k-sheet-box", heading, ...parts);
  const node = make("div", `k-sheet flex k-sheet-${name}`, box);
  node.setAttribute("role", "dialog");
  node.setAttribute("aria-modal", "true");
  node.setAttribute("aria-labelledby", id);
  node.tabIndex = -1;
  node.dataset.sheet = name;
  return node;
}

/**
 * A list without scrolling: as many items as fit on the open page, and a control for the next page.
 * `most` limits the first page alone. The last page is as full as the others: it begins with items
 * of the page before. `label(n)` is the control's text for n remaining items.
 */
export function pages(list, items, { from, most = Infinity, turn, label }) {
  let start = from < items.length ? from : 0;
  const limit = start === 0 ? most : Infinity;
  if (items.length <= limit && place(list, items, null) === items.length) return;
  const more = control("more", "k-button k-more", () => turn(next()), label(items.length - start));
  let fit = place(list, items.slice(start, start + limit), more);
  const reaches = (at) => place(list, items.slice(at), more) === items.length - at;
  if (start > 0 && start + fit === items.length) {
    while (start > 0 && reaches(start - 1)) start -= 1;
    fit = place(list, items.slice(start), more);
  }
  const left = items.length - start - fit;
  more.textContent = label(left);
  function next() {
    return left > 0 ? start + fit : 0;
  }
}

/** Facts that don't fit beside large letters follow on another page; none is left out. */
function turnFacts(k, words, controls) {
  const facts = [...words.querySelectorAll(FACTS)];
  const start = k.visit.page < facts.length ? k.visit.page : 0;
  let end = showFacts(words, facts, start);
  if (start === 0 && end === facts.length) return;
  const turn = () => {
    k.visit.page = end < facts.length ? end : 0;
    k.draw();
  };
  controls.prepend(control("facts", "k-button k-facts-more", turn, k.t("more")));
  end = showFacts(words, facts, start); // the control for pages takes space too
}

/**
 * Show as many facts as fit, at least one, starting with the given one. Returns the index of the
 * first fact that did not fit.
 */
function showFacts(words, facts, start) {
  for (let end = facts.length; ; end -= 1) {
    facts.forEach((each, i) => {
      each.hidden = i < start || i >= end;
      const { nextElementSibling: beneathIt } = each;
      if (beneathIt?.matches(".k-english")) beneathIt.hidden = each.hidden;
    });
    if (end <= start + 1 || holds(words)) return end;
  }
}

/** Whether everything that is shown lies inside its area. */
function holds(part) {
  const { top, bottom } = part.getBoundingClientRect();
  return [...part.children].every((each) => {
    const box = each.getBoundingClientRect();
    return !box.height || (box.top >= top - 1 && box.bottom <= bottom + 1);
  });
}

/** Insert as many items as fit into the list's height, at least one; returns how many. */
function place(list, items, last) {
  const end = last ? [last] : [];
  for (let count = items.length; count > 1; count -= 1) {
    list.replaceChildren(...items.slice(0, count), ...end);
    if (fits(list)) return count;
  }
  list.replaceChildren(...items.slice(0, 1), ...end);
  return Math.min(items.length, 1);
}

/** Whether no item reaches below the list; sensitive areas around items are not counted. */
function fits(list) {
  const end = list.getBoundingClientRect().bottom + 1;
  return [...list.children].every((item) => item.getBoundingClientRect().bottom <= end);
}
