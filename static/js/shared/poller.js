/**
 * A polite poller: one request at a time, quiet while the page is hidden or offline, slower after errors, and
 * deaf to late answers. Knows HTTP and time; nothing of what it fetches.
 */

const BACKOFF_MAX_MS = 30_000;
const ANSWER_WITHIN_MS = 8_000;
const DEFAULT_MS = 4_000;

export class Poller {
  /**
   * `url` is an address, or what gives it anew for each question.
   * `got(body | null, answer)` is called for 200 (body) and 304 (null), and returns the next wait in ms, or null
   * to stop. `failed(status)` is called with a status, or 0 when nothing came.
   */
  constructor(url, { got, failed = () => {}, waitMs = DEFAULT_MS, hiddenMs = null }) {
    this.url = url;
    this.got = got;
    this.failed = failed;
    this.waitMs = waitMs;
    this.hiddenMs = hiddenMs; // how often a hidden page asks all the same; null: not at all
    this.etag = null;
    this.errors = 0;
    this.round = 0;
    this.timer = null;
    this.stopped = false;
    document.addEventListener("visibilitychange", () => this.#wake());
    addEventListener("online", () => this.#wake());
    addEventListener("pageshow", (event) => event.persisted && this.#wake());
  }

  start() {
    this.#later(this.waitMs);
  }

  /** Ask at once, whatever was planned. */
  now() {
    if (!this.stopped) this.#later(0);
  }

  /** Ask at once for the whole answer; one that is on its way is no longer wanted. */
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

  #wake() {
    if (!document.hidden && navigator.onLine) this.now();
  }

  #later(ms) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#ask(), ms);
  }

  async #ask() {
    if (this.stopped || (document.hidden && !this.hiddenMs) || !navigator.onLine) return; // #wake goes on
    const round = (this.round += 1);
    let wait = null;
    try {
      wait = await this.#once(round);
    } catch {
      wait = this.#missed(round, 0);
    }
    if (round !== this.round || this.stopped) return;
    if (wait === null) this.stop();
    else this.#later(document.hidden ? Math.max(wait, this.hiddenMs ?? 0) : wait);
  }

  async #once(round) {
    const headers = { Accept: "application/json" };
    if (this.etag) headers["If-None-Match"] = this.etag;
    const url = typeof this.url === "function" ? this.url() : this.url;
    const answer = await fetch(url, {
      headers,
      cache: "no-store",
      credentials: "same-origin",
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
    if (answer.status !== 200 && answer.status !== 304)
      return this.#missed(round, answer.status, answer);
    const body = answer.status === 200 ? await answer.json() : null;
    if (round !== this.round) return this.waitMs; // a later question was asked meanwhile
    this.errors = 0;
    this.etag = answer.headers.get("ETag") ?? this.etag;
    const wait = this.got(body, answer);
    if (wait !== null) this.waitMs = wait;
    return wait;
  }

  #missed(round, status, answer = null) {
    if (round !== this.round) return this.waitMs;
    this.errors += 1;
    if (this.failed(status) === "stop") return null;
    const asked = Number(answer?.headers.get("Retry-After")) * 1000;
    const grown = Math.min(this.waitMs * 2 ** this.errors, BACKOFF_MAX_MS);
    return Math.max(asked || 0, grown * (0.75 + Math.random() / 2));
  }
}

/** The server's clock minus ours, in ms, from an answer's X-Server-Now; the last known one when it has none. */
export function clockOffset(answer, last = 0) {
  const theirs = Date.parse(answer.headers.get("X-Server-Now") ?? "");
  return Number.isFinite(theirs) ? theirs - Date.now() : last;
}
