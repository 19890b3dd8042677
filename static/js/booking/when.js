/**
 * Now or later: reads the pickup's day and time, and gives the text of the button. Days are those
 * of the property's time zone.
 */

const DAY_MS = 24 * 3_600_000;
const SOONEST_MS = 15 * 60_000;

export class When extends EventTarget {
  constructor(box) {
    super();
    this.box = box;
    this.say = box.dataset;
    this.offset = Date.parse(this.say.now) - Date.now();
    this.date = box.querySelector("[name=pickup_date]");
    this.time = box.querySelector("[name=pickup_time]");
    box.addEventListener("input", ({ target }) => {
      target.removeAttribute("aria-invalid");
      this.dispatchEvent(new Event("changed"));
    });
  }

  get later() {
    return (
      (
        this.box.querySelector("[name=when]:checked") ??
        this.box.querySelector("[name=when][type=hidden]")
      )?.value === "later"
    );
  }

  /** Whether the ride is for now, or has a day and time that are not too soon. */
  get ready() {
    return !this.later || Boolean(this.date.value && this.time.value && !this.#late);
  }

  /**
   * Whether the pickup time is past or too soon; a planned ride that is changed may keep its own
   * time.
   */
  get #late() {
    const at = `${this.date.value}T${this.time.value.slice(0, 5)}`;
    return at !== this.say.kept && at < this.#clock(SOONEST_MS);
  }

  /** The number of cars; each is a ride of its own. */
  get cars() {
    return Number(this.box.querySelector("[name=cars]")?.value ?? 1);
  }

  /** Choose Later, and lead to its time. */
  open() {
    const later = this.box.querySelector("[name=when][value=later][type=radio]");
    if (later && !later.checked) later.click();
    this.time.focus();
  }

  /** The text of the button for a chosen car. */
  button(choice) {
    const many = this.cars > 1;
    if (!this.later) return many ? this.#group(choice) : choice.button;
    if (!this.ready)
      return this.date.value && this.time.value ? this.say.sayLate : this.say.sayWhen;
    const pattern = many ? this.say.sayPlanGroup.replace("{n}", this.cars) : this.say.sayPlan;
    return pattern.replace("{car}", () => choice.name).replace("{when}", this.#words());
  }

  /** The text for several cars: their prices are the server's, from two cars on. */
  #group(choice) {
    const sum = choice.group[this.cars - 2] ?? "";
    return (sum ? this.say.sayGroup : this.say.sayGroupUnpriced)
      .replace("{n}", this.cars)
      .replace("{car}", () => choice.name)
      .replace("{sum}", () => sum);
  }

  terms(choice) {
    const terms = this.later ? this.say.sayTerms : choice.terms;
    return this.cars > 1 ? `${this.say.sayEach} ${terms}` : terms;
  }

  #words() {
    const day = this.date.value;
    const pattern =
      { [this.#day(0)]: this.say.sayToday, [this.#day(1)]: this.say.sayTomorrow }[day] ??
      this.say.sayDay;
    return pattern.replace("{time}", this.time.value.slice(0, 5)).replace("{day}", named(day));
  }

  /** The date `later` days from today in the property's zone, as the date field has it. */
  #day(later) {
    const today = this.#clock(0).slice(0, 10);
    return new Date(Date.parse(`${today}T00:00:00Z`) + later * DAY_MS).toISOString().slice(0, 10);
  }

  /** Date and time in the property's zone, `ms` from now: 2026-03-07T05:10. */
  #clock(ms) {
    const format = new Intl.DateTimeFormat("sv-SE", {
      timeZone: this.say.zone,
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
    weekday: "short",
    day: "numeric",
    month: "short",
  }).format(at);
}
