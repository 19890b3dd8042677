/**
 * The kiosk's own keyboard: ten keys in a row that write into readonly fields. The device's
 * keyboard would learn the words of one guest and offer them to the next.
 */

import { isShown } from "../shared/slots.js";
import { control, icon, make } from "./el.js";

const QWERTY = ["qwertyuiop", "asdfghjkl", "zxcvbnm"];
const LATIN = {
  en: QWERTY,
  es: ["qwertyuiop", "asdfghjklñ", "zxcvbnm"],
  fr: ["azertyuiop", "qsdfghjklm", "wxcvbn'é"],
  de: ["qwertzuiop", "asdfghjklß", "yxcvbnmäöü"],
};
const ARABIC = ["ضصثقفغعهخح", "شسيبلاتنمك", "ئءؤرىةوزظط"];
const ARABIC_LAST = "جدذأ";
// Two pages: the thirty most frequent letters and signs, then the others, in alphabetical order.
// Frequencies are those of wordfreq 3.1.1, the small list of Hindi, where the first page is 92 %:
// ा क े र ह ी न स ् ं म ि त ो ल प य द ज ै व ब ग ु भ ए अ श च आ | ट थ ू ड औ इ ख उ …
// Combining marks are drawn on a dotted circle (`shown`), so that they are visible on their own.
const HINDI = [
  ["कगचजतदनपबभ", "मयरलवशसहअआ", "ए ा ि ी ु े ै ो ् ं".replaceAll(" ", "")],
  ["खघछझटठडढणथ", "धफषङञळइईउऊ", "ऐ ओ औ ऋ ू ौ ृ ँ ः ़".replaceAll(" ", "")],
];
const PAGES = { letters: "क", rare: "ख" }; // the keys to the pages, which have room for one letter
const NUMBERS = "1234567890";
const DIGITS = [NUMBERS, "-'./&,()"];
const COLUMNS = 10;
const LEAST_MM = 20; // height of a found place
// languages whose own letters are not Latin: a key switches to Latin letters
const OWN = new Set(["ar", "hi"]);
const PAD = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];
const SIGN = /\p{M}/u;
const MOST_SIGNS = 3; // marks on one letter, the limit of `ridedash/text.py`
// accepted characters of a text: no control characters, direction marks or lone surrogates
const SEEN = /^[\p{L}\p{M}\p{N}\p{P}\p{S} \u200c\u200d]$/u;

export class Keyboard {
  /**
   * `field`: {value, kind: "text" | "digits" | "phone", most, masked}; a masked field is not read
   * aloud. `changed()` is called after each key, `written()` after the Enter of a real keyboard.
   */
  constructor(k, field, changed, written) {
    this.k = k;
    this.field = field;
    this.changed = changed;
    this.written = written;
    this.page = "letters";
    this.numbers = true; // whether digits are above the letters
    this.node = make("div", "k-keyboard grid");
    this.node.setAttribute("role", "group");
    this.node.setAttribute("aria-label", k.t("keys"));
    this.draw();
  }

  /** Type into another field from now on. */
  turn(field) {
    this.field = field;
    this.page = "letters";
    this.draw();
    this.fit();
  }

  /**
   * Once the keyboard is in the document: leave the digits to their own page if a row of them above
   * the letters takes the room of what is typed, or of two found places.
   */
  fit() {
    if (this.field.kind !== "text" || !this.numbers) return;
    if (hasRoom(this.node, LEAST_MM * this.k.measures.mm)) return;
    this.numbers = false;
    this.draw();
  }

  draw() {
    const pad = this.field.kind !== "text";
    this.node.classList.toggle("is-pad", pad);
    // digits, and letters in the usual keyboard order, begin at the left in every language
    this.node.dir = "ltr";
    this.node.replaceChildren(...(pad ? this.#pad() : this.#text()));
  }

  /** Type a letter, from this keyboard or a real one, unless the field can't take it. */
  type(letter) {
    const { field } = this;
    const phone = field.value ? /[0-9]/ : /[0-9+]/;
    const taken = { digits: /[0-9]/, phone }[field.kind] ?? SEEN;
    if (!taken.test(letter) || (SIGN.test(letter) && !carries(field.value))) return;
    if ([...field.value].length >= field.most) return;
    if (letter === " " && (!field.value || field.value.endsWith(" "))) return;
    const begins = field.kind === "text" && /(^|[ -])$/.test(field.value);
    const capital = letter.toLocaleUpperCase(this.k.visit.language);
    field.value += begins && [...capital].length === 1 ? capital : letter;
    this.k.speak([field.masked ? this.k.t("star") : letter], true);
    this.changed();
  }

  /** Delete the last letter and read it aloud; in a masked field "star" is read instead. */
  erase() {
    const { field, k } = this;
    const letters = [...field.value];
    const last = letters.pop();
    field.value = letters.join("");
    const letter = field.masked ? k.t("star") : last;
    if (last) k.speak([k.paused(k.t("key_delete"), letter)], true);
    this.changed();
  }

  #pad() {
    const left = this.field.kind === "phone" ? this.#letter("+") : make("span");
    return [...PAD.map((each) => this.#letter(each)), left, this.#letter("0"), this.#eraser(1)];
  }

  /** Rows of letters below a row of digits, if that has room: see fit(). */
  #text() {
    const rows = this.#rows();
    const above = this.numbers && this.page !== "digits" ? [NUMBERS] : [];
    return [
      ...[...above, ...rows].flatMap((row) => this.#line([...row])),
      ...this.#bottom(rows === ARABIC ? [...ARABIC_LAST] : []),
    ];
  }

  /** The rows of the present page of keys. Japanese and Chinese have Latin letters, and lists. */
  #rows() {
    const base = this.#base();
    if (this.page === "latin") return QWERTY;
    if (this.page === "digits") return DIGITS;
    if (base === "ar") return ARABIC;
    if (base === "hi") return HINDI[this.page === "rare" ? 1 : 0];
    return LATIN[base] ?? QWERTY;
  }

  /** A row, centred in steps of half a key: the grid has two tracks per key. */
  #line(letters) {
    const free = COLUMNS - letters.length;
    return letters.map((letter, i) => {
      const key = this.#letter(letter);
      if (i === 0 && free > 0) key.style.setProperty("--from", String(free + 1));
      if (i === 0) key.classList.add("is-first");
      return key;
    });
  }

  /** The last row: other letters, the space, and the key that deletes a letter. */
  #bottom(letters) {
    const base = this.#base();
    const signs = [];
    if (base === "hi")
      signs.push(this.#switch(this.page === "rare" ? PAGES.letters : PAGES.rare, "rare"));
    const others = letters.map((each) => this.#letter(each));
    const wide = others.length ? 1 : 2; // of the keys beside the space, in key widths
    if (OWN.has(base))
      signs.push(widened(this.#switch(this.page === "latin" ? "" : "Aa", "latin"), wide));
    const digits = this.#switch(this.page === "digits" ? "" : "123", "digits");
    digits.classList.add("is-first");
    widened(digits, 2);
    const space = control(
      "key-space",
      "k-key k-key-other",
      () => this.type(" "),
      this.k.t("key_space"),
    );
    const latin = OWN.has(base) ? wide : 0;
    const taken = 2 + (base === "hi" ? 1 : 0) + latin + others.length + wide;
    widened(space, COLUMNS - taken);
    return [digits, ...signs, ...others, space, this.#eraser(wide)];
  }

  #switch(face, page) {
    const back = this.page === page;
    const forth = page === "latin" ? "latin_letters" : "key_digits";
    const name = this.k.t(back ? "key_letters" : forth);
    const key = control(`key-${page}`, "k-key k-key-other", () => {
      this.page = back ? "letters" : page;
      this.draw();
      this.node.querySelector(`[data-press="key-${page}"]`)?.focus({ focusVisible: false });
      this.k.here();
    });
    key.append(shown(face || this.#first()));
    if (page !== "rare") key.setAttribute("aria-label", name);
    return key;
  }

  /** The label of the key that returns to the letters: the first three of them. */
  #first() {
    return { ar: "ابت", hi: "कगच" }[this.#base()] ?? "ABC";
  }

  #base() {
    return this.k.visit.language.split("-")[0];
  }

  #letter(letter) {
    const key = control(`key-${letter}`, "k-key", () => this.type(letter));
    key.append(shown(letter));
    key.setAttribute("aria-label", letter);
    return key;
  }

  #eraser(keys) {
    const key = control("key-erase", "k-key k-key-other", () => this.erase(), icon("erase"));
    key.setAttribute("aria-label", this.k.t("key_delete"));
    return widened(key, keys);
  }
}

/** Make a key as wide as several. */
function widened(key, keys) {
  key.style.setProperty("--keys", String(keys));
  return key;
}

/**
 * Whether all that is above a keyboard has room, and its list has room for two places of `least` px
 * each.
 */
function hasRoom(keyboard, least) {
  const { top } = keyboard.parentElement.getBoundingClientRect();
  const end = keyboard.getBoundingClientRect().top;
  const parts = [
    ...keyboard.parentElement.querySelectorAll(".k-press, .k-field, .k-label, .k-said"),
  ];
  const above = parts.filter((each) => !keyboard.contains(each) && isShown(each));
  const inside = above.every((each) => {
    const box = each.getBoundingClientRect();
    return box.top >= top - 1 && box.bottom <= end + 1;
  });
  const list = keyboard.parentElement.querySelector(".k-results");
  return inside && (!list || hasRoomForTwo(list, least));
}

function hasRoomForTwo(list, least) {
  const { gridTemplateColumns, rowGap } = getComputedStyle(list);
  if (gridTemplateColumns.split(" ").length > 1) return list.clientHeight >= least;
  return list.clientHeight >= 2 * least + Number.parseFloat(rowGap);
}

function shown(letter) {
  return SIGN.test(letter) && [...letter].length === 1 ? `◌${letter}` : letter;
}

/**
 * Whether a text ends in a letter that may have one more mark, since many marks would cover other
 * lines.
 */
function carries(text) {
  const [, letter, signs] = /([\p{L}\p{N}]?)((?:\p{M}|\u200c|\u200d)*)$/u.exec(text);
  return Boolean(letter) && [...signs].length < MOST_SIGNS;
}
