/**
 * Now or later: the pickup's time as typed words, as a quick choice or by a calendar. The server
 * parses the words; this module shows the result in full before the press, and sends the day and
 * time that it has shown. Days are in the property's time zone.
 */

import { ask } from "../shared/ask.js";
import { counted } from "../shared/counts.js";
import { fitWords } from "../shared/fit_words.js";
import { setText } from "../shared/slots.js";
import { GuestList } from "./guest_list.js";
import { Several } from "./several.js";

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
    this.list = new GuestList(box.querySelector("[data-several]"), {
      signal,
      changed: () => this.dispatchEvent(new Event("changed")),
    });
    this.several = new Several(box.querySelector("[data-several]"), { signal });
    this.several.addEventListener("changed", () => this.dispatchEvent(new Event("changed")));
    this.said = box.querySelector("[data-when-said]");
    this.quick = box.querySelector("[data-when-quick]");
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
    if (this.later && this.words.value && !this.time.value) this.#read();
  }

  /** The meaning of what the user types or chooses is unknown until the server has read it. */
  #edited(target) {
    target.removeAttribute("aria-invalid");
    this.list.edited(target);
    if (target === this.words) {
      this.time.value = "";
      this.wrong = false;
      clearTimeout(this.pause);
      this.pause = setTimeout(() => this.#read(), DEBOUNCE_MS);
    } else if (target === this.date || target === this.time) {
      this.words.value = "";
      this.#read();
    } else if (target.name === "when") this.#renew();
    this.#tell();
  }

  #chosen(event) {
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
    this.time.value = "";
    this.#read();
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
      ? { day: this.date.value, clock: this.time.value.slice(0, 5) }
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
    }
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
    this.several.follow();
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
   * Whether the ride is for now, or has a day and time that are not too soon; and whether the list
   * of guests, the way back and the series are complete.
   */
  get ready() {
    if (this.list.tooLong || this.list.doubtful || !this.several.ready) return false;
    return this.#timed;
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
    return at !== this.texts.kept && at < this.#clock(SOONEST_MS);
  }

  /** The number of cars; each is a separate ride. */
  get cars() {
    return this.list.count || Number(this.box.querySelector("[name=cars]")?.value ?? 1);
  }

  /** Choose Later, and move to its time. */
  open() {
    const later = this.box.querySelector("[name=when][value=later][type=radio]");
    if (later && !later.checked) later.click();
    this.words.focus();
    this.words.select();
  }

  /** The text of the button for a chosen car. */
  button(choice) {
    return this.several.button(this.#button(choice), choice.name);
  }

  #button(choice) {
    const many = this.cars > 1;
    if (this.list.tooLong) return this.list.texts.sayMost;
    if (this.list.doubtful) return this.list.texts.sayTwice;
    if (!this.later) return many ? this.#group(choice) : choice.button;
    if (!this.#timed)
      return this.date.value && this.time.value ? this.texts.sayLate : this.texts.sayWhen;
    const pattern = many ? this.#counted(this.texts.sayPlanGroup) : this.texts.sayPlan;
    return pattern.replace("{car}", () => choice.name).replace("{when}", this.#words());
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

function named(day) {
  const at = Date.parse(`${day}T00:00:00Z`);
  if (!Number.isFinite(at)) return day;
  return new Intl.DateTimeFormat(document.documentElement.lang || "en", {
    timeZone: "UTC",
    calendar: "gregory",
    numberingSystem: "latn",
    weekday: "short",
    day: "numeric",
    month: "short",
  }).format(at);
}
