/**
 * The kiosk's requests. Each has a time limit and is aborted when its visit ends, except the report
 * of that end.
 */

import { timeLimit } from "../shared/clocks.js";

const WITHIN_MS = 8_000;
const HOME = "/kiosk";
const DOCUMENT = /data-kiosk>(.*?)<\/script>/s;

/** There was no usable answer: none in time, a status of 500 or above, or an unexpected format. */
export class Lost extends Error {}

/** The answer had an error status below 500. */
export class Refused extends Error {
  constructor(status) {
    super(`status ${status}`);
    this.status = status;
  }
}

export class Server {
  /**
   * `kiosk` is the id of this document's kiosk, a field of every form and query. `heard` is called
   * with the JSON of each answer to post() and get().
   */
  constructor(csrf, kiosk, heard = () => {}) {
    this.csrf = csrf;
    this.kiosk = kiosk;
    this.heard = heard;
    this.ending = new AbortController();
  }

  /** Abort all requests but those of tell(), because their visit is over. */
  drop() {
    this.ending.abort();
    this.ending = new AbortController();
  }

  /** Post a form; resolves to the answer's JSON, {} for status 204. Throws Lost or Refused. */
  post(path, fields, within = WITHIN_MS) {
    return this.#ask(path, { method: "POST", body: this.#form(fields) }, within);
  }

  get(path, fields) {
    const query = new URLSearchParams({ ...fields, kiosk: this.kiosk });
    return this.#ask(`${path}?${query}`, {}, WITHIN_MS);
  }

  /**
   * The data that this device's document would contain now; null if the device has to be paired.
   * Throws Refused, or Lost; Lost also for a page without the data, such as a proxy's.
   */
  async document(within) {
    const answer = await this.#fetch(HOME, { headers: { Accept: "text/html" } }, within);
    const { pathname } = new URL(answer.url);
    if (pathname === `${HOME}/pair`) return null;
    const found = DOCUMENT.exec(await answer.text());
    if (!found) throw new Lost("no document");
    return JSON.parse(found[1]);
  }

  /** Report the end of a visit; needs no answer, and is sent even if the page is closed. */
  tell(path, fields) {
    const body = this.#form(fields);
    fetch(path, { method: "POST", body, keepalive: true, cache: "no-store" }).catch(() => {});
  }

  #form(fields) {
    return new URLSearchParams({ ...fields, kiosk: this.kiosk, csrf_token: this.csrf });
  }

  async #fetch(path, options, within) {
    const signal = timeLimit(within, this.ending.signal);
    let answer;
    try {
      answer = await fetch(path, { ...options, signal, cache: "no-store" });
    } catch {
      throw new Lost("no answer");
    }
    if (answer.status >= 500) throw new Lost(`status ${answer.status}`);
    if (!answer.ok) throw new Refused(answer.status);
    return answer;
  }

  async #ask(path, options, within) {
    const headers = { Accept: "application/json" };
    const answer = await this.#fetch(path, { ...options, headers }, within);
    if (answer.status === 204) return {};
    let body;
    try {
      body = await answer.json();
    } catch {
      throw new Lost("no JSON");
    }
    this.heard(body);
    return body;
  }
}
