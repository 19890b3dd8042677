/**
 * The sign-in behind a staff page. It reports what a person presses and types, so that the sign-in
 * of a used desk lasts on; it warns before the end; and at the end it covers the page with a form
 * to sign in. The same person then finds the page as it was, with what was typed; for another one
 * all of it goes, and their own board opens. The page goes too when no one signs in for an hour.
 *
 * Only the server knows when a sign-in ends (/sign-in.json): this device's clock just says when to
 * ask. Events: "ridedash:ended" and "ridedash:held" come from requests (shared/ended.js);
 * "ridedash:signed-in" {csrf} goes to the page. Other pages of this browser hear of changes, too.
 */

import { bodyOf, patience } from "../shared/ask.js";
import { clocks, passed } from "../shared/clocks.js";
import { released } from "../shared/press.js";

const WARNED_MS = 600_000; // the server's WARNED_BEFORE
const REPORT_MS = 300_000; // between two reports of use
const SOON_MS = 2_000; // the same near the end
const WATCH_MS = 15_000; // between two questions to the server near the end
const TICK_MS = 5_000;
const SURE_MS = 10_000; // how long after an answer a form is sent without asking first
const COVERED_MS = 3_600_000; // then the page goes
const TOKENS = "input[name=csrf_token]";
const MEANS = ["pointerdown", "keydown", "input", "wheel"];

class SignedIn {
  constructor(body) {
    const { who, signIn, left, ends } = body.dataset;
    Object.assign(this, { who, signIn, ends });
    this.band = document.querySelector("[data-ending-band]");
    this.cover = document.querySelector("[data-cover]");
    this.parts = this.cover.querySelector("template");
    this.coveredAt = null; // the times when the page was covered; null: it is not
    this.askedAt = this.reportedAt = clocks();
    this.used = false; // whether there was a press or a key since the last report
    this.doubted = false; // whether a request heard of an end, and the server was not asked since
    this.asking = null; // the promise of the question that is under way
    this.others = "BroadcastChannel" in window ? new BroadcastChannel("ridedash sign-in") : null;
    this.#know({ left_s: Number(left), ends, warning: this.#line.textContent });
  }

  start() {
    for (const kind of MEANS)
      document.addEventListener(kind, (event) => event.isTrusted && this.#use(), {
        capture: true,
        passive: true,
      });
    document.addEventListener("ridedash:ended", (event) => {
      event.preventDefault();
      this.doubted = true;
      this.look();
    });
    document.addEventListener("ridedash:held", () => (this.heldAt = clocks()));
    document.addEventListener("visibilitychange", () => document.hidden || this.#woke());
    for (const kind of ["online", "pageshow", "focus"]) addEventListener(kind, () => this.#woke());
    document.addEventListener("focusin", ({ target }) => {
      if (!this.band.contains(target)) this.lastFocus = target;
    });
    document.addEventListener("submit", (event) => this.#hold(event), { capture: true });
    this.band.addEventListener("click", (event) => event.target.closest("button") && this.#press());
    this.cover.addEventListener("submit", (event) => this.#sign(event));
    this.cover.addEventListener("cancel", (event) => this.coveredAt && event.preventDefault());
    // some browsers close a dialog at the second Escape, whatever a page says
    this.cover.addEventListener("close", () => {
      if (this.coveredAt) this.#open();
      else if (!this.cover.open) this.cover.replaceChildren(this.parts);
    });
    this.others?.addEventListener("message", ({ data }) => this.#heard(data));
    this.#tell();
    setInterval(() => this.#tick(), TICK_MS);
    this.#tick();
  }

  get #form() {
    return this.cover.querySelector("[data-cover-form]");
  }

  get #line() {
    return this.band.querySelector("span");
  }

  /** The milliseconds until the sign-in ends, by this device's clocks. */
  get #leftMs() {
    return this.lastsMs - passed(this.knownAt);
  }

  /* ---- what the server says ---- */

  /** Ask the server. Resolves to whether the page may be used; null when there is no answer. */
  look() {
    this.asking ??= this.#ask().finally(() => (this.asking = null));
    return this.asking;
  }

  async #ask() {
    this.askedAt = clocks();
    const { ok, body } = await request("/sign-in.json");
    await released(); // the warning moves the page
    if (ok && body) return this.#take(body);
    if (this.#leftMs <= 0) await this.#hide();
    return null;
  }

  /** Take {who, sign_in, left_s, ends, warning, csrf}; returns whether the page may be used. */
  async #take(facts) {
    if (facts.who && facts.who !== this.who) return this.#leave("/");
    if (!facts.who) {
      await this.#hide();
      return false;
    }
    const isNew = facts.sign_in !== this.signIn;
    this.#know(facts);
    if (isNew) this.#renew(facts);
    else if (this.coveredAt || this.doubted) this.#resume(facts);
    return true;
  }

  #know({ left_s: leftS, ends, warning }) {
    this.knownAt = this.heldAt = clocks();
    this.lastsMs = leftS * 1000;
    this.ends = ends;
    this.#warn(warning);
  }

  /** Go on with another sign-in of the same person: all forms have tokens of the old one. */
  #renew(facts) {
    this.signIn = facts.sign_in;
    document.querySelector("meta[name=csrf-token]").content = facts.csrf;
    const parts = [...document.querySelectorAll("template")].map((each) => each.content);
    for (const part of [document, ...parts])
      for (const field of part.querySelectorAll(TOKENS))
        field.value = field.defaultValue = facts.csrf;
    this.#resume(facts);
  }

  #resume({ csrf }) {
    this.doubted = false;
    this.#uncover();
    this.cover.close();
    document.dispatchEvent(new CustomEvent("ridedash:signed-in", { detail: { csrf } }));
  }

  /* ---- use ---- */

  #use() {
    if (this.coveredAt || this.cover.open) return;
    this.used = true;
    this.#report();
  }

  /**
   * Report that the desk is used: once for all presses and keys of some minutes, but soon when the
   * end is near.
   */
  async #report() {
    if (this.reporting || !this.used || !navigator.onLine || this.coveredAt) return;
    const near = this.ends === "unused" && this.#leftMs <= WARNED_MS;
    if (passed(this.reportedAt) < (near ? SOON_MS : REPORT_MS)) return;
    this.reporting = true;
    this.used = false;
    this.reportedAt = clocks();
    await this.#stay();
    this.reporting = false;
  }

  async #stay() {
    const csrf = document.querySelector("meta[name=csrf-token]").content;
    const { ok, status, body } = await request("/me/stay", { "X-CSRFToken": csrf });
    if (ok && body) {
      await released(); // the band may go, which moves the page
      await this.#take(body);
      this.#tell();
    } else if (status) await this.look(); // signed out, or the token of a former sign-in
    else this.used = true;
  }

  /* ---- the warning ---- */

  #warn(words) {
    const { band } = this;
    const focused = band.contains(document.activeElement);
    if (this.#line.textContent !== words) this.#line.textContent = words;
    band.hidden = !words;
    band.querySelector("[data-stay]").hidden = this.ends !== "unused";
    band.querySelector("[data-sign-anew]").hidden = this.ends === "unused";
    if (focused && !words && this.lastFocus?.isConnected)
      this.lastFocus.focus({ preventScroll: true });
  }

  /** The button of the warning: stay signed in, or type the password again before the end. */
  #press() {
    if (this.ends === "unused") return void this.#stay();
    this.#open();
  }

  #tick() {
    if (this.coveredAt && passed(this.coveredAt) > COVERED_MS) return void this.#leave("/sign-in");
    this.#report();
    const near = this.coveredAt || this.doubted || this.#leftMs <= WARNED_MS;
    if (near && passed(this.askedAt) >= WATCH_MS) this.look();
  }

  /** The page is seen again: the device may have slept, or someone else have signed in. */
  #woke() {
    if (this.coveredAt && passed(this.coveredAt) > COVERED_MS) this.#leave("/sign-in");
    else if (passed(this.askedAt) > SURE_MS) this.look();
  }

  /* ---- other pages of this browser ---- */

  #tell() {
    this.others?.postMessage({ who: this.who, signIn: this.signIn });
  }

  #heard({ who, signIn }) {
    const warned = !this.band.hidden;
    if (who !== this.who || signIn !== this.signIn || warned || this.coveredAt) this.look();
  }

  /* ---- forms ---- */

  /**
   * Hold a form back until it is known that someone is signed in, if that was not heard just now:
   * after an end a page of ours would answer in place of this one, and what was typed would go.
   */
  async #hold(event) {
    const { target: form, submitter } = event;
    if (form.getAttribute("method") !== "post" || form === this.passing) return;
    if (this.cover.contains(form)) return;
    if (passed(this.heldAt) < SURE_MS || !navigator.onLine) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    const may = await this.look();
    if (may === false || this.coveredAt || !form.isConnected) return;
    this.passing = form;
    form.requestSubmit(submitter?.isConnected ? submitter : null);
    this.passing = null;
  }

  /* ---- the cover ---- */

  async #hide() {
    await released();
    if (this.coveredAt) return;
    this.coveredAt = clocks();
    this.#warn("");
    this.title = document.title;
    const { activeElement: field } = document;
    this.back = { field, from: field?.selectionStart, to: field?.selectionEnd };
    document.documentElement.classList.add("is-covered");
    document.title = this.cover.dataset.title;
    this.#open();
  }

  /** Open the dialog. Its first field does not get the focus: keys may be on their way. */
  #open() {
    this.cover.classList.toggle("is-early", !this.coveredAt);
    if (!this.#form) this.cover.append(this.parts.content.cloneNode(true));
    if (!this.cover.open) this.cover.showModal();
    this.cover.focus();
  }

  /** Show the page as it was; the focus returns to where it was. */
  #uncover() {
    if (!this.coveredAt) return;
    this.coveredAt = null;
    this.cover.close();
    document.documentElement.classList.remove("is-covered");
    document.title = this.title;
    const { field, from, to } = this.back;
    if (!field?.isConnected || field === document.body) return;
    field.focus({ preventScroll: true });
    if (typeof from === "number") field.setSelectionRange(from, to);
  }

  /** Drop the page, with all that was typed, for another one. */
  #leave(address) {
    this.coveredAt ??= clocks();
    document.documentElement.hidden = true;
    for (const form of document.forms) form.reset(); // browsers fill in forms anew
    document.body.replaceChildren();
    location.replace(address);
    return false;
  }

  /** Sign in. The token is asked for now: that of this page may belong to the sign-in before. */
  async #sign(event) {
    if (event.target !== this.#form) return; // "Not now" closes the dialog
    event.preventDefault();
    if (this.signing) return;
    const { name, password } = this.#form.elements;
    this.signing = true;
    this.#say("");
    const { body: before } = await request("/sign-in.json");
    const fields = { name: name.value, password: password.value, csrf_token: before?.csrf ?? "" };
    const { ok, body } = await request("/sign-in", {}, new URLSearchParams(fields));
    this.signing = false;
    if (ok && body?.who) {
      name.value = password.value = "";
      await this.#take(body);
      this.#tell();
      return;
    }
    this.#say(body?.message ?? this.cover.dataset.failed);
    password.focus();
    password.select();
  }

  #say(words) {
    const said = this.cover.querySelector("[data-cover-said]");
    said.hidden = !words;
    said.textContent = words;
  }
}

/** POST with a body or headers, else GET; {ok, status, body}, with status 0 without an answer. */
async function request(path, headers = null, body = null) {
  try {
    const answer = await fetch(path, {
      method: headers ? "POST" : "GET",
      headers: { Accept: "application/json", ...headers },
      body,
      credentials: "same-origin",
      cache: "no-store",
      redirect: "manual",
      signal: patience(),
    });
    return { ok: answer.ok, status: answer.status, body: await bodyOf(answer) };
  } catch {
    return { ok: false, status: 0, body: null };
  }
}

new SignedIn(document.body).start();
