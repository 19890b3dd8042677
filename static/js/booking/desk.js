/**
 * The booking form in the board's left column: it books without leaving the page, and is empty for
 * the next guest. Starts by itself where [data-desk-form] is.
 * Listens to `ridedash:refill` {order, how} and `ridedash:rows` {rows: id -> row}, after which its
 * words about an order that has left SENDING go. Sends `ridedash:booked` {order}, `ridedash:press`
 * about each press (board/pressed.js) and `ridedash:trip` {ends, served}: the two places of the
 * trip, or none before the user has set one, and whether the service goes there. Sends
 * `ridedash:aim` {end} while a field without a place is in use; a map that will set that end
 * prevents the default, and answers a click with `ridedash:picked` {end, lat, lng}.
 */

import { ask, formData } from "../shared/ask.js";
import { counted } from "../shared/counts.js";
import { BookForm } from "./form.js";
import { guestsOf } from "./guest_list.js";
import { send } from "./send.js";

const SAID_MS = 20_000; // after this the list shows the state of the ride
// answers of a form that made nothing by this try; what an earlier try made, they don't know
const TURNED_AWAY = new Set(["limited", "out", "refused"]);
const PREPARES = new Set(["show", "quick"]); // buttons that send the form and order nothing

class DeskForm {
  constructor(root) {
    this.root = root;
    this.say = root.dataset;
    this.body = root.querySelector("[data-desk-body]");
    this.said = root.querySelector("[data-desk-said]");
    root.classList.add("has-script");
    this.#mount();
    this.#watchCut();
    document
      .querySelector('.bar a[href="/rides/new"]')
      ?.addEventListener("click", (event) => this.#here(event));
    this.aimed = null;
    root.addEventListener("click", (event) => this.#lift(event));
    document.addEventListener("focusin", (event) => this.#focused(event));
    document.addEventListener("ridedash:picked", ({ detail: { end, lat, lng } }) => {
      if (!this.sending) this.form.pin(end, lat, lng);
    });
    document.addEventListener("ridedash:map", () => this.#tellTrip()); // the board's map is there
    document.addEventListener("ridedash:refill", ({ detail }) => this.#refill(detail));
    document.addEventListener("ridedash:rows", ({ detail }) => this.#follow(detail.rows));
  }

  #mount() {
    this.ending?.abort();
    this.ending = new AbortController();
    this.form = new BookForm(this.root, {
      body: this.body,
      signal: this.ending.signal,
      both: true,
    });
    this.form.addEventListener("send", (event) => {
      event.preventDefault();
      this.#send(event.detail.event.submitter);
    });
    this.form.addEventListener("ends", () => this.#tellTrip());
    this.form.start();
    this.#tellTrip();
  }

  /** "New ride" in the bar leads to this form, where it is on the page. */
  #here(event) {
    if (event.ctrlKey || event.metaKey || event.shiftKey || !this.root.getClientRects().length)
      return;
    event.preventDefault();
    this.body.querySelector("#guest-find").focus();
  }

  /** What "More" opens lies below the cut: it comes into sight when somebody asks for it. */
  #lift({ target }) {
    const more = target.closest(".more > summary")?.parentElement;
    if (!more || more.open) return;
    const lift = () => {
      this.root.scrollTop +=
        more.getBoundingClientRect().top - this.root.getBoundingClientRect().top;
    };
    more.addEventListener("toggle", lift, { once: true });
  }

  /** Show above the button that the column has more below it. */
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
    const { trip, priced } = this.form;
    const [pickup, drop] = ["pickup", "drop"].map((end) => trip.at(end));
    // the property's own pickup is no trip
    const begun = drop || (pickup && pickup.name !== trip.ends.pickup.input.defaultValue);
    tell("trip", { ends: begun ? [pickup, drop] : [], served: priced });
    this.#aim(this.aimed);
  }

  /** Let a click on the board's map set this end, while it has no place; null: none. */
  #aim(end) {
    this.aimed = end;
    const open = end && !this.sending && !this.form.trip.at(end) ? end : null;
    this.form.mapped = !tell("aim", { end: open });
  }

  /** The end whose field has the focus; a click on the map keeps it. */
  #focused({ target }) {
    if (!target.closest("[data-map]"))
      this.#aim(target.closest("[data-place]")?.dataset.place ?? null);
  }

  async #send(submitter) {
    if (this.posting) return;
    this.sending ??= formData(this.form.book, submitter);
    this.pressed = PREPARES.has(submitter?.name) ? null : pressOf(this.sending);
    this.posting = true;
    await this.#post();
  }

  /**
   * Send the form. Until the result is known no field can change, so that a retry sends the same
   * bytes.
   */
  async #post() {
    this.form.busy();
    this.#lock(true);
    this.#say("");
    this.#tellPress("sent");
    const result = await send(this.form.book.action, this.sending, () => this.#lost());
    Object.assign(result, {
      guest: firstGuest(this.sending),
      later: this.sending.get("when") === "later",
    });
    this.posting = false;
    if (result.kind === "lost" || (this.doubted && TURNED_AWAY.has(result.kind)))
      return this.#stillLost();
    this.sending = null;
    this.doubted = false;
    this.#lock(false);
    const here =
      // a user who went elsewhere stays there
      document.activeElement === document.body || this.root.contains(document.activeElement);
    if (result.html) this.#show(result.html);
    else this.form.ready();
    const {
      sayLimited: limited,
      saySignedOut: out,
      sayRefused: refused,
      sayBefore: before,
    } = this.say;
    this.#say(
      { made: this.#booked(result), limited, out, refused, before }[result.kind] ?? "",
      result.kind !== "made",
    );
    if (result.kind === "made") {
      this.placed = result;
      this.#tellPress("placed", { orders: result.orders });
      document.dispatchEvent(
        new CustomEvent("ridedash:booked", { detail: { order: result.order } }),
      );
    } else this.#tellPress("refused", { words: this.said.textContent || this.#wrong() });
    if (here) this.#focus();
  }

  /** Tell the list what has become of the press; nothing of a form that only asked for prices. */
  #tellPress(state, facts = {}) {
    if (this.pressed) tell("press", { ...this.pressed, state, ...facts });
  }

  /** Why the server sent the form back. */
  #wrong() {
    const why = "[role=alert] .alert-title, .field-error:not([hidden]) span";
    return this.body.querySelector(why)?.textContent.trim() ?? "";
  }

  #lost() {
    this.doubted = true;
    this.#say(this.say.sayLost, true);
    this.#tellPress("lost", { words: this.say.sayLost });
  }

  #booked({ orders = [], guest = "", later = false, what = "", back = false }) {
    const n = orders.length;
    const name = `say${later ? "Planned" : "Booked"}`;
    let text = this.say[name];
    if (n > 1) text = counted(JSON.parse(this.say[`${name}Group`]), n);
    if (what === "series") text = this.say.sayPlannedSeries.replace("{n}", n);
    const said = text.replace("{guest}", () => guest);
    return back ? this.say.sayAndBack.replace("{said}", () => said) : said;
  }

  /**
   * The list has news: words about orders that wait go when those are booked, refused or not known.
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
    const { go } = this.form;
    this.#say(this.say.sayStillLost, true);
    this.#tellPress("unknown", { words: this.say.sayStillLost });
    go.removeAttribute("aria-busy");
    go.disabled = false;
    go.textContent = this.say.sayAskAgain; // the button sends the same form again
    go.focus();
  }

  #lock(on) {
    for (const part of this.form.book.children) if (!part.contains(this.form.go)) part.inert = on;
  }

  #show(html) {
    this.body.replaceChildren(
      ...new DOMParser().parseFromString(html, "text/html").body.childNodes,
    );
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
    wrong?.scrollIntoView({ block: "center" }); // what is wrong stands below the field
  }

  async #refill({ order, how }) {
    if (this.sending) return;
    const mine = (this.refilling = {});
    const { ok, status, body } = await ask(this.form.book.action, {
      [how === "return" ? "return" : "again"]: order,
    });
    // another ride fills the form, or what stands in it is on its way
    if (mine !== this.refilling || this.sending) return;
    if (!ok || !body.html)
      return this.#say(status === 401 ? this.say.saySignedOut : this.say.sayFailed, true);
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

/** What the list shows of a form that was pressed. */
function pressOf(data) {
  const listed = guestsOf(String(data.get("guests") ?? ""));
  return {
    guest: firstGuest(data),
    room: listed.length ? "" : String(data.get("guest_room") ?? "").trim(),
    to: String(data.get("drop") ?? "").trim(),
    n: listed.length || Number(data.get("cars") ?? 1),
    later: data.get("when") === "later",
  };
}

/** The name of the guest of a form, or of the first one on its list. */
function firstGuest(data) {
  const [first = ""] = guestsOf(String(data.get("guests") ?? ""));
  const [listed] = first.trim().split(/[\t;,]/);
  return listed.trim() || String(data.get("guest_name")).trim();
}

/** Send an event to the page; false when a listener has prevented its default. */
function tell(name, detail) {
  return document.dispatchEvent(new CustomEvent(`ridedash:${name}`, { detail, cancelable: true }));
}

const root = document.querySelector("[data-desk-form]");
if (root) new DeskForm(root);
