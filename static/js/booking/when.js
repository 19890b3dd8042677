/**
 * Now or later: the pickup's time as typed words, as a quick choice or by a calendar. The server
 * parses the words; this module shows the result in full before the press, and sends the day and
 * time that it has shown. Days are in the property's time zone.
 */

import { ask } from "../shared/ask.js";
import { counted } from "../shared/counts.js";
import { fitWords } from "../shared/fit_words.js";
import { enter } from "../shared/panels.js";
import { isShown, setText } from "../shared/slots.js";
import { Series } from "./series.js";
import { showChoices } from "./time_choices.js";
import { WayBack } from "./way_back.js";

// each shows fields
const OPENERS = "[name=when][value=later], [name=for_flight], [name=back]";
const DAY_MS = 24 * 3_600_000;
const SOONEST_MS = 15 * 60_000;
const DEBOUNCE_MS = 150;
const EVERY_MS = 30_000; // so often "in 40 min" and the quick choices are updated
const AGAIN_MS = 3_000; // wait after a request without an answer

export class When extends EventTarget {
  /** `signal` aborts when the form is removed. */
  constructor(box, signal) {
    super();
    this.box = box;
    this.texts = box.dataset;
    this.offset = Date.parse(this.texts.now) - Date.now();
    this.words = box.querySelector("[name=pickup_words]");
    this.date = box.querySelector("[name=pickup_date]");
    this.time = box.querySelector("[name=pickup_time]");
    this.said = box.querySelector("[data-when-said]");
    this.quick = box.querySelector("[data-when-quick]");
    this.choices = box.querySelector("[data-when-asked]");
    this.which = box.querySelector("[name=pickup_which]");
    this.series = new Series(box.querySelector("[data-series]"), () => this.later, { signal });
    this.back = new WayBack(box, this.texts.read, () => this.#there, { signal });
    for (const part of [this.series, this.back])
      part.addEventListener("changed", () => this.dispatchEvent(new Event("changed")));
    this.at = NaN; // the instant of the shown day and time, in ms, once the server has said it
    this.wrong = this.said.classList.contains("is-wrong");
    this.asked = 0; // number of the last request: older answers are ignored
    box.addEventListener("input", ({ target }) => this.#edited(target));
    box.addEventListener("click", (event) => this.#chosen(event));
    fitWords(this.words);
    this.signal = signal;
    const renew = () => this.later && !document.hidden && this.#renew();
    document.addEventListener("visibilitychange", renew, { signal });
    const timer = setInterval(renew, EVERY_MS);
    signal?.addEventListener("abort", () => {
      clearInterval(timer);
      clearTimeout(this.pause);
    });
    if (this.later && (this.words.value || this.time.value)) this.#read();
  }

  /** The meaning of what the user types or chooses is unknown until the server has read it. */
  #edited(target) {
    target.removeAttribute("aria-invalid");
    if (target === this.words) {
      this.#forget();
      this.time.value = "";
      this.wrong = false;
      clearTimeout(this.pause);
      this.pause = setTimeout(() => this.#read(), DEBOUNCE_MS);
    } else if (target === this.date || target === this.time) {
      this.#forget();
      this.words.value = "";
      this.#read();
    } else if (target.name === "when") this.#renew();
    this.#tell();
  }

  #chosen(event) {
    const control = event.target.closest("label")?.control;
    if (control?.matches(OPENERS) && control !== event.target) {
      event.preventDefault(); // WebKit would focus the control after its click
      return void control.click();
    }
    if (event.target.matches(OPENERS) && event.target.checked)
      enter(this.box.querySelector(`[data-opened-by*="${event.target.name}"]`));
    const button = event.target.closest("[name=quick]");
    if (!button) return;
    event.preventDefault();
    this.choose(button.value);
    this.words.focus();
  }

  /** Plan for a time given in words. */
  choose(words) {
    const later = this.box.querySelector("[name=when][value=later][type=radio]");
    if (later) later.checked = true;
    this.words.value = words;
    this.#forget();
    this.time.value = "";
    this.#read();
  }

  /** Another time is typed: nothing is known of it yet. */
  #forget() {
    this.which.value = "";
    this.at = NaN;
    showChoices(this.choices, "quick", [], this.words);
  }

  /**
   * Ask again about the shown day and time, which is nearer by now, or for quick choices if nothing
   * is typed. Words without a time are not read again.
   */
  #renew() {
    if (this.time.value || !this.words.value) this.#read();
  }

  async #read() {
    clearTimeout(this.pause);
    const mine = (this.asked += 1);
    const exact = this.time.value
      ? { day: this.date.value, clock: this.time.value.slice(0, 5), which: this.which.value }
      : {};
    const { ok, status, body } = await ask(this.texts.read, {
      ...(this.time.value ? exact : { words: this.words.value }),
      kept: this.texts.kept,
      series: this.texts.ofSeries,
    });
    if (mine !== this.asked) return;
    if (!ok && status !== 401 && this.later && !this.signal?.aborted)
      this.pause = setTimeout(() => this.#read(), AGAIN_MS);
    // the clock of this machine may have been corrected since
    if (body.now) this.#follow(body.now);
    this.wrong = Boolean(body.error);
    const words = (ok ? (body.error ?? body.said) : this.texts.sayUnread) ?? "";
    this.said.classList.toggle("is-wrong", this.wrong || !ok);
    this.said.classList.toggle("is-known", ok && !this.wrong && Boolean(words));
    setText(this.said, words);
    if (body.day) {
      this.date.value = body.day;
      this.time.value = body.clock;
      this.which.value = body.which;
      this.at = Date.parse(body.at);
    }
    if (ok) showChoices(this.choices, "quick", body.choices ?? [], this.words);
    this.#offer(body.quick);
    this.#tell();
  }

  /** Take the property's present time: a form that was open overnight then starts with today. */
  #follow(now) {
    this.offset = Date.parse(now) - Date.now();
    const today = this.#day(0);
    this.date.min = today;
    if (!this.time.value && this.date.value < today) this.date.value = today;
  }

  #offer(texts) {
    if (!texts || this.quick.contains(document.activeElement)) return;
    if (texts.join() === [...this.quick.children].map((each) => each.value).join()) return;
    const pattern = this.quick.firstElementChild;
    this.quick.replaceChildren(
      ...texts.map((text) => {
        const button = pattern.cloneNode();
        button.value = button.textContent = text;
        return button;
      }),
    );
  }

  #tell() {
    this.series.follow();
    this.back.follow();
    this.dispatchEvent(new Event("changed"));
  }

  get later() {
    return (
      (
        this.box.querySelector("[name=when]:checked") ??
        this.box.querySelector("[name=when][type=hidden]")
      )?.value === "later"
    );
  }

  /**
   * Whether the ride is for now, or has a day and time that are not too soon; and whether the way
   * back and the series are complete.
   */
  get ready() {
    return this.series.ready && this.back.ready && this.#timed;
  }

  /** The day and time of the ride, as they are asked about; all "" for now. */
  get #there() {
    const shown = this.later && this.time.value;
    return {
      day: shown ? this.date.value : "",
      clock: shown ? this.time.value.slice(0, 5) : "",
      which: shown ? this.which.value : "",
    };
  }

  get #timed() {
    if (!this.later) return true;
    return Boolean(this.date.value && this.time.value && !this.#late && !this.wrong);
  }

  /**
   * Whether the pickup time is past or too soon; a planned ride that is changed may keep its own
   * time.
   */
  get #late() {
    const at = `${this.date.value}T${this.time.value.slice(0, 5)}`;
    if (at === this.texts.kept) return false;
    // clocks that go back show times twice: instants are compared, once they are known
    if (this.at) return this.at < Date.now() + this.offset + SOONEST_MS;
    return at < this.#clock(SOONEST_MS);
  }

  /** Why the time can't be planned, as the button's text. */
  get #untimed() {
    if (!this.date.value || !this.time.value) return this.texts.sayWhen;
    if (this.#late) return this.texts.sayLate;
    // a time that the server has read, and refused although it is not too soon
    return this.wrong && this.at ? this.texts.sayFar : this.texts.sayWhen;
  }

  /** The number of cars; each is a separate ride. */
  get cars() {
    return Number(this.box.querySelector("[name=cars]")?.value ?? 1);
  }

  /** How many cars one press can book; a series is of one. */
  get most() {
    const choices = this.box.querySelectorAll("[name=cars] option").length;
    return this.series.wanted ? 1 : choices;
  }

  /** Choose a number of cars, and move to it. */
  take(cars) {
    const select = this.box.querySelector("[name=cars]");
    select.value = cars;
    select.focus({ preventScroll: true });
    select.dispatchEvent(new Event("input", { bubbles: true }));
  }

  /** The field whose text is asked about. */
  get field() {
    return this.words;
  }

  /** The first button of the question about the time, or null. */
  get question() {
    return this.later && isShown(this.choices) ? this.choices.querySelector("button") : null;
  }

  /** What Enter in the field leads to. */
  get offered() {
    return this.question;
  }

  /** Resolves when the server has read the text. */
  settle() {
    return this.time.value || this.question ? Promise.resolve() : this.#read();
  }

  /** Choose Later, and move to its time. */
  open() {
    const later = this.box.querySelector("[name=when][value=later][type=radio]");
    if (later && !later.checked) later.click();
    this.words.focus();
    this.words.select();
  }

  /** The text of the button for a choice, whose name is put in place of {car}. */
  button(choice) {
    return this.series.button(this.back.button(this.#button(choice)), choice);
  }

  #button(choice) {
    const many = this.cars > 1;
    if (!this.later) return this.#now(choice, many);
    if (!this.#timed) return this.#untimed;
    const pattern = many ? this.#counted(this.texts.sayPlanGroup) : this.texts.sayPlan;
    const planned = pattern.replace("{car}", () => choice.name).replace("{when}", this.#words());
    return this.texts.sayPriceNow
      .replace("{button}", () => planned)
      .replace("{price}", () => (many && choice.group[this.cars - 2]) || choice.price);
  }

  /** The text for a car now, which says so where the time of a flight is typed. */
  #now(choice, many) {
    const book = many ? this.#group(choice) : choice.button.replace("{car}", () => choice.name);
    const { checked } = this.box.querySelector("[name=for_flight]");
    const flight = checked && this.box.querySelector("[name=departs]").value.trim();
    return flight ? this.texts.sayNow.replace("{button}", () => book) : book;
  }

  /** The text for several cars; their prices come from the server. */
  #group(choice) {
    const sum = choice.group[this.cars - 2] ?? "";
    return this.#counted(sum ? this.texts.sayGroup : this.texts.sayGroupUnpriced)
      .replace("{car}", () => choice.name)
      .replace("{sum}", () => sum);
  }

  #counted(forms) {
    return counted(JSON.parse(forms), this.cars);
  }

  terms(choice) {
    const terms = this.later ? this.texts.sayTerms : choice.terms;
    return this.cars > 1 ? `${this.texts.sayEach} ${terms}` : terms;
  }

  #words() {
    const day = this.date.value;
    const pattern =
      { [this.#day(0)]: this.texts.sayToday, [this.#day(1)]: this.texts.sayTomorrow }[day] ??
      this.texts.sayDay;
    return pattern.replace("{time}", this.time.value.slice(0, 5)).replace("{day}", named(day));
  }

  /** The date in `later` days in the property's zone, in the format of the date field. */
  #day(later) {
    const today = this.#clock(0).slice(0, 10);
    return new Date(Date.parse(`${today}T00:00:00Z`) + later * DAY_MS).toISOString().slice(0, 10);
  }

  /** Date and time in the property's zone, `ms` from now: 2026-03-07T05:10. */
  #clock(ms) {
    const format = new Intl.DateTimeFormat("sv-SE", {
      timeZone: this.texts.zone,
      dateStyle: "short",
      timeStyle: "short",
    });
    return format.format(Date.now() + this.offset + ms).replace(" ", "T");
  }
}

/** A day as the server writes it (day_text in formatting.py), in English without a comma. */
function named(day) {
  const at = Date.parse(`${day}T00:00:00Z`);
  if (!Number.isFinite(at)) return day;
  const { lang } = document.documentElement;
  const english = !lang || lang === "en";
  const words = new Intl.DateTimeFormat(english ? "en-GB" : lang, {
    timeZone: "UTC",
    calendar: "gregory",
    numberingSystem: "latn",
    weekday: "short",
    day: "numeric",
    month: "short",
  }).format(at);
  return english ? words.replace(",", "") : words;
}
