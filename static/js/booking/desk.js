/**
 * The booking form in the board's left column: it books without leaving the page, and is then empty
 * for the next guest. It starts itself on pages with [data-desk-form]. It listens to
 * `ridedash:refill` {order, how} and `ridedash:rows` {rows: id -> row}, after which it removes its
 * words about orders whose rows are not `waiting` any more. Sends `ridedash:booked` {order},
 * `ridedash:press` about each press (board/pressed.js) and `ridedash:trip` {ends, served}: the ends
 * of the trip, none before the user has set one, and whether the service goes there. Sends
 * `ridedash:aim` {end} while a field without a place is in use; a map that can set that end
 * prevents the default, and answers a click with `ridedash:picked` {end, lat, lng}.
 */

import { ask, formData } from "../shared/ask.js";
import { counted } from "../shared/counts.js";
import { onSignedIn } from "../shared/ended.js";
import { opening } from "../shared/keys.js";
import { nodesOf } from "../shared/markup.js";
import { BookForm } from "./form.js";
import { send } from "./send.js";

const SAID_MS = 20_000; // then a message of success disappears: the list shows the ride's state
// results of attempts that made no order; an earlier attempt may have made one
const TURNED_AWAY = new Set(["limited", "out", "refused"]);
const PREPARES = new Set(["show", "quick"]); // buttons that send the form without ordering

class DeskForm {
  aimed = null; // the end that a click on the board's map sets: "pickup", "drop" or null

  posting = false; // whether a request is under way

  pendingData = null; // the bytes that were sent, until the result of the press is known

  doubted = false; // whether an earlier request of this press had no answer

  pressed = null; // what the list shows of the press; null if it only requests prices

  placed = null; // the result of the press whose orders the form's message is about

  constructor(root) {
    this.root = root;
    this.texts = root.dataset;
    this.body = root.querySelector("[data-desk-body]");
    this.said = root.querySelector("[data-desk-said]");
    root.classList.add("has-script");
    this.#mount();
    this.#watchCut();
    document
      .querySelector('.bar a[href="/rides/new"]')
      ?.addEventListener("click", (event) => this.#here(event));
    root.addEventListener("click", (event) => this.#lift(event));
    root.addEventListener("input", () => root.classList.add("is-begun"));
    document.addEventListener("focusin", (event) => this.#focused(event));
    document.addEventListener("ridedash:picked", ({ detail: { end, lat, lng } }) => {
      if (!this.pendingData) this.bookForm.pin(end, lat, lng);
    });
    document.addEventListener("ridedash:map", () => this.#tellTrip()); // the board's map has loaded
    document.addEventListener("ridedash:refill", ({ detail }) => opening(this.#refill(detail)));
    document.addEventListener("ridedash:rows", ({ detail }) => this.#follow(detail.rows));
    // a form whose outcome is unknown is sent once more as it was, but for the CSRF token
    onSignedIn((csrf) => this.pendingData?.set("csrf_token", csrf));
  }

  #mount() {
    this.ending?.abort();
    this.ending = new AbortController();
    this.bookForm = new BookForm(this.root, {
      body: this.body,
      signal: this.ending.signal,
      both: true,
    });
    this.bookForm.addEventListener("send", (event) => {
      event.preventDefault();
      this.#send(event.detail.event.submitter);
    });
    this.root.classList.remove("is-begun");
    this.bookForm.addEventListener("ends", ({ detail }) => {
      this.root.classList.toggle("is-begun", this.root.matches(".is-begun") || Boolean(detail.end));
      this.#tellTrip();
    });
    this.bookForm.start();
    this.#tellTrip();
  }

  /** "New ride" in the bar leads to this form if it is on the page. */
  #here(event) {
    if (event.ctrlKey || event.metaKey || event.shiftKey || !this.root.getClientRects().length)
      return;
    event.preventDefault();
    this.body.querySelector("#guest-find").focus();
  }

  /** Scroll to what "More" opens, which is outside of the visible part of the column. */
  #lift({ target }) {
    const more = target.closest(".more > summary")?.parentElement;
    if (!more || more.open) return;
    const lift = () => {
      this.root.scrollTop +=
        more.getBoundingClientRect().top - this.root.getBoundingClientRect().top;
    };
    more.addEventListener("toggle", lift, { once: true });
  }

  /** Show above the button that there is more of the column below. */
  #watchCut() {
    const look = () => {
      const { scrollHeight, clientHeight, scrollTop } = this.root;
      this.root.classList.toggle("is-cut", scrollHeight - clientHeight - scrollTop > 1);
    };
    this.root.addEventListener("scroll", look, { passive: true });
    const sizes = new ResizeObserver(look);
    for (const part of [this.root, this.body]) sizes.observe(part);
  }

  #tellTrip() {
    const { trip, priced } = this.bookForm;
    const [pickup, drop] = ["pickup", "drop"].map((end) => trip.at(end));
    // the property's own pickup alone is not a trip
    const begun = drop || (pickup && pickup.name !== trip.ends.pickup.input.defaultValue);
    tell("trip", { ends: begun ? [pickup, drop] : [], served: priced });
    this.#aim(this.aimed);
  }

  /** Let a click on the board's map set this end while it has no place; null: no end. */
  #aim(end) {
    this.aimed = end;
    const open = end && !this.pendingData && !this.bookForm.trip.at(end) ? end : null;
    this.bookForm.mapped = !tell("aim", { end: open });
  }

  /** Let a click on the map set the end whose field has the focus, until another field has it. */
  #focused({ target }) {
    if (!target.closest("[data-map]"))
      this.#aim(target.closest("[data-place]")?.dataset.place ?? null);
  }

  async #send(submitter) {
    if (this.posting) return;
    this.pendingData ??= formData(this.bookForm.form, submitter);
    this.pressed = PREPARES.has(submitter?.name) ? null : pressOf(this.pendingData);
    this.posting = true;
    // the next guest's name may be typed before the form is empty
    const lost = new Promise((done) => (this.isLost = done));
    await opening(Promise.race([this.#post(), lost]));
  }

  /**
   * Send the form. Until the result is known, no field can be changed, so that a retry sends the
   * same bytes.
   */
  async #post() {
    this.bookForm.showSending();
    this.#lock(true);
    this.#say("");
    this.#tellPress("sent");
    const result = await send(this.bookForm.form.action, this.pendingData, () => this.#lost());
    Object.assign(result, {
      guest: String(this.pendingData.get("guest_name")).trim(),
      later: this.pendingData.get("when") === "later",
    });
    this.posting = false;
    if (result.kind === "lost" || (this.doubted && TURNED_AWAY.has(result.kind)))
      return this.#stillLost();
    this.pendingData = null;
    this.doubted = false;
    this.#lock(false);
    const here =
      // the focus is not taken from a user who went elsewhere
      document.activeElement === document.body || this.root.contains(document.activeElement);
    if (result.html) this.#show(result.html);
    else this.bookForm.showReady();
    this.#say(this.#wordsOf(result), result.kind !== "made");
    if (result.kind === "made") {
      this.placed = result;
      this.#tellPress("placed", { orders: result.orders });
      tell("booked", { order: result.order });
    } else this.#tellPress("refused", { words: this.said.textContent || this.#wrong() });
    if (here) this.#focus();
  }

  /** Tell the list the progress of the press, but not for a form that only requested prices. */
  #tellPress(state, facts = {}) {
    if (this.pressed) tell("press", { ...this.pressed, state, ...facts });
  }

  /**
   * The text of the first error in a returned form: of a field if the form has a summary of wrong
   * fields (#booking-wrong), else of an alert or a field; "" without any.
   */
  #wrong() {
    const marked = ".field-error:not([hidden]) span";
    const why = this.body.querySelector("#booking-wrong") && this.body.querySelector(marked);
    const message = why ?? this.body.querySelector(`[role=alert] .alert-title, ${marked}`);
    return message?.textContent.trim() ?? "";
  }

  #lost() {
    this.isLost();
    this.doubted = true;
    this.#say(this.texts.sayLost, true);
    this.#tellPress("lost", { words: this.texts.sayLost });
  }

  /** The message about a result; "" for a form with errors, which has its own words. */
  #wordsOf(result) {
    switch (result.kind) {
      case "made":
        return this.#booked(result);
      case "before":
        return this.texts.sayBefore;
      case "limited":
        return this.texts.sayLimited;
      case "out":
        return this.texts.saySignedOut;
      case "refused":
        return this.texts.sayRefused;
      default:
        return "";
    }
  }

  #booked({ orders = [], guest = "", later = false, what = "", back = false }) {
    const n = orders.length;
    const name = `say${later ? "Planned" : "Booked"}`;
    let text = this.texts[name];
    if (n > 1) text = counted(JSON.parse(this.texts[`${name}Group`]), n);
    if (what === "series") text = this.texts.sayPlannedSeries.replace("{n}", n);
    const sentence = text.replace("{guest}", () => guest);
    return back ? this.texts.sayAndBack.replace("{said}", () => sentence) : sentence;
  }

  /**
   * After an update of the list, remove words about waiting orders that are now booked, refused or
   * unknown.
   */
  #follow(rows) {
    if (!this.placed) return;
    const { orders = [] } = this.placed;
    const waiting = orders.filter((id) => rows.get(id)?.waiting ?? !rows.has(id));
    if (waiting.length === orders.length) return;
    const left = { ...this.placed, orders: waiting };
    this.#say(waiting.length ? this.#booked(left) : "");
    this.placed = waiting.length ? left : null;
  }

  #stillLost() {
    const { bookButton } = this.bookForm;
    this.#say(this.texts.sayStillLost, true);
    this.#tellPress("unknown", { words: this.texts.sayStillLost });
    bookButton.removeAttribute("aria-busy");
    bookButton.disabled = false;
    bookButton.textContent = this.texts.sayAskAgain; // the button sends the same form again
    bookButton.focus();
  }

  #lock(on) {
    const { form, bookButton } = this.bookForm;
    for (const part of form.children) if (!part.contains(bookButton)) part.inert = on;
    // the browser takes the focus away only when it draws next: letters until then would be lost
    if (document.activeElement?.closest("[inert]")) document.activeElement.blur();
  }

  #show(html) {
    this.body.replaceChildren(...nodesOf(html));
    this.root.scrollTop = 0;
    this.#mount();
  }

  /** Move the focus to an error, else to a note about filled-in fields, else to the next guest. */
  #focus() {
    const wrong =
      this.body.querySelector("[aria-invalid=true]") ??
      this.body.querySelector("[role=alert], [data-filled]");
    if (wrong && !wrong.matches("input, select, textarea")) wrong.tabIndex = -1;
    (wrong ?? this.body.querySelector("#guest-find")).focus();
    wrong?.scrollIntoView({ block: "center" }); // the field with the error may be out of view
  }

  async #refill({ order, how }) {
    if (this.pendingData) return;
    const mine = (this.refilling = {});
    const { ok, status, body } = await ask(this.bookForm.form.action, {
      [how === "return" ? "return" : "again"]: order,
    });
    // another ride fills the form, or the form is being sent
    if (mine !== this.refilling || this.pendingData) return;
    if (!ok || !body.html)
      return this.#say(status === 401 ? this.texts.saySignedOut : this.texts.sayFailed, true);
    this.#say("");
    this.#show(body.html);
    this.#focus();
  }

  #say(words, bad = false) {
    this.placed = null;
    this.said.classList.toggle("is-bad", bad);
    this.said.textContent = words;
    clearTimeout(this.fading);
    if (words && !bad) this.fading = setTimeout(() => this.#say(""), SAID_MS);
  }
}

/** The data of a pressed form for the list. */
function pressOf(data) {
  return {
    guest: String(data.get("guest_name")).trim(),
    room: String(data.get("guest_room") ?? "").trim(),
    to: String(data.get("drop") ?? "").trim(),
    n: Number(data.get("cars") ?? 1),
    later: data.get("when") === "later",
  };
}

/** Send an event to the page; false when a listener has prevented its default. */
function tell(name, detail) {
  return document.dispatchEvent(new CustomEvent(`ridedash:${name}`, { detail, cancelable: true }));
}

const root = document.querySelector("[data-desk-form]");
if (root) new DeskForm(root);
