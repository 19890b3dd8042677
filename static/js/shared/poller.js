/**
 * Polls one address: one request at a time, none while the device is offline or a staff page is
 * signed out, none or few while the page is hidden, fewer after errors. An answer that comes after
 * a newer request is ignored; one that comes while a button is pressed waits, because it could move
 * the button. Independent of the contents that it fetches.
 */

import { onSignedIn, tellEnded, tellHeld } from "./ended.js";
import { released } from "./press.js";

const BACKOFF_MAX_MS = 30_000;
const ANSWER_WITHIN_MS = 8_000;
const DEFAULT_MS = 4_000;
const RETRY_MAX_MS = 120_000; // a longer Retry-After would look like a standstill
// longest wait of a page that must follow quickly (a demo whose clock leaps); 0: no limit
const WITHIN_MS = Number(document.body.dataset.pollWithin ?? 0);

export class Poller {
  /**
   * `url` is an address, or a function that returns one for each request. `got(body | null,
   * answer)` is called for 200 (body) and 304 (null); it returns the next wait in ms, or null to
   * stop. `failed(status)` is called for any other status, and with 0 when there was no answer or
   * `got` threw an error; it returns "stop" to stop.
   */
  constructor(url, { got, failed = () => {}, waitMs = DEFAULT_MS, hiddenMs = null }) {
    this.url = url;
    this.got = got;
    this.failed = failed;
    this.waitMs = waitMs;
    this.hiddenMs = hiddenMs; // interval of a hidden page; null: it does not poll
    this.etag = null;
    this.errors = 0;
    this.round = 0;
    this.timer = null;
    this.stopped = false;
    this.signedOut = false; // on a page that waits until its person has signed in again
    document.addEventListener("visibilitychange", () => this.#wake());
    onSignedIn(() => this.#resume());
    addEventListener("online", () => this.#wake());
  }

  start() {
    this.#later(this.#shown(this.waitMs));
  }

  /** Poll at once, regardless of the schedule. */
  now() {
    if (!this.stopped) this.#later(0);
  }

  /** Poll at once for the complete answer; the result of a running request is ignored. */
  anew() {
    this.round += 1;
    this.etag = null;
    this.now();
  }

  stop() {
    this.stopped = true;
    this.round += 1;
    clearTimeout(this.timer);
  }

  #resume() {
    if (!this.signedOut) return;
    this.signedOut = false;
    this.anew();
  }

  #wake() {
    if (!document.hidden && navigator.onLine) this.now();
  }

  #later(ms) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#ask(), ms);
  }

  async #ask() {
    // #wake() continues the polling
    if (this.stopped || this.signedOut) return;
    if ((document.hidden && !this.hiddenMs) || !navigator.onLine) return;
    const round = (this.round += 1);
    let wait = null;
    try {
      wait = await this.#once(round);
    } catch {
      wait = this.#missed(round, 0);
    }
    if (round !== this.round || this.stopped || this.signedOut) return;
    if (wait === null) this.stop();
    else this.#later(document.hidden ? Math.max(wait, this.hiddenMs ?? 0) : this.#shown(wait));
  }

  #shown(ms) {
    return WITHIN_MS && !this.errors ? Math.min(ms, WITHIN_MS) : ms;
  }

  async #once(round) {
    const headers = { Accept: "application/json" };
    if (this.etag) headers["If-None-Match"] = this.etag;
    const url = typeof this.url === "function" ? this.url() : this.url;
    const answer = await fetch(spoken(url), {
      headers,
      cache: "no-store",
      credentials: "same-origin",
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
    if (answer.status === 401 && tellEnded()) {
      this.signedOut = true;
      return this.waitMs;
    }
    if (answer.status !== 200 && answer.status !== 304)
      return this.#missed(round, answer.status, answer);
    tellHeld();
    const body = answer.status === 200 ? await answer.json() : null;
    if (body) await released();
    if (round !== this.round) return this.waitMs; // a newer request was sent meanwhile
    const wait = this.got(body, answer);
    this.errors = 0;
    // stored only now: `got` may have failed to show the answer, or have called anew()
    if (round === this.round) this.etag = answer.headers.get("ETag") ?? this.etag;
    if (wait !== null) this.waitMs = wait;
    return wait;
  }

  #missed(round, status, answer = null) {
    if (round !== this.round) return this.waitMs;
    this.errors += 1;
    if (this.failed(status) === "stop") return null;
    const retryMs = Number(answer?.headers.get("Retry-After")) * 1000;
    const grown = Math.min(this.waitMs * 2 ** this.errors, BACKOFF_MAX_MS);
    return Math.max(Math.min(retryMs || 0, RETRY_MAX_MS), grown * (0.75 + Math.random() / 2));
  }
}

/** The address with the language of the page; English is the default. */
function spoken(url) {
  const { lang } = document.documentElement;
  if (!lang || lang === "en") return url;
  return `${url}${url.includes("?") ? "&" : "?"}lang=${lang}`;
}

/**
 * The server's clock minus this device's, in ms, from the X-Server-Now of an answer; `last` for an
 * answer without it.
 */
export function clockOffset(answer, last = 0) {
  const theirs = Date.parse(answer.headers.get("X-Server-Now") ?? "");
  return Number.isFinite(theirs) ? theirs - Date.now() : last;
}
