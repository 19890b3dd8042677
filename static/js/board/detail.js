/**
 * The chosen ride beside the list, with the markup of its page. Its forms are sent without leaving
 * the board.
 */

import { RideView } from "../rides/view.js";
import { openPanel } from "../rides/keys.js";
import { formData, patience } from "../shared/ask.js";
import { tellEnded } from "../shared/ended.js";
import { parsed } from "../shared/markup.js";
import { putBack, sentBy, typedIn } from "../shared/typed.js";

const HEADERS = { "X-Part": "beside", Accept: "text/html" };
const ELSEWHERE = /\/(card|receipt)$|^\/accounts\//; // forms that open a page of their own

export class Detail {
  /**
   * `refill(order, how)` fills the booking form and returns whether it could; `done()` runs after
   * an action; `mounted()` after a page was inserted, which may be older than the last poll;
   * `failed()` when no page of a ride came, or an action failed whose ride is not shown any more.
   */
  constructor(box, { refill, done, mounted, failed }) {
    this.box = box;
    this.map = null;
    this.refill = refill;
    this.done = done;
    this.mounted = mounted;
    this.failed = failed;
    this.view = null;
    this.id = null;
    this.coming = null; // the promise of the ride with that id
    this.round = 0;
    box.addEventListener("submit", (event) => this.#submit(event));
    box.addEventListener("click", (event) => {
      const again = event.target.closest("[data-refill]");
      if (again && !event.ctrlKey && !event.metaKey && this.refill(this.id, again.dataset.refill))
        event.preventDefault();
    });
  }

  /**
   * Show a ride. Resolves to its root, or to null when it was closed meanwhile or its page did not
   * come.
   */
  async open(id, { focus = false, panel = "" } = {}) {
    if (this.id !== id || !(this.view || this.coming)) this.coming = this.#fetch(id);
    await this.coming;
    if (this.id !== id || !this.view) return null;
    if (panel) openPanel(this.view.root, panel);
    else if (focus) this.box.focus({ preventScroll: true });
    return this.view.root;
  }

  /** Load a ride. Until it has come, the box shows what the board knows: see peek.js. */
  async #fetch(id) {
    this.#leave(); // the forms of the previous ride must not be used for this one
    this.id = id;
    const root = await this.#ask(`/rides/${id}`, { headers: HEADERS });
    if (root) this.#mount(root);
  }

  /** Draw the chosen ride on `map` from now on. */
  drawOn(map) {
    this.map = map;
    this.view?.drawOn(map);
  }

  close() {
    this.#leave();
    this.box.replaceChildren();
  }

  /** Take the chosen ride from a poll of the board: a snapshot, or null when it is unchanged. */
  take(snapshot, answer) {
    if (Number(this.view?.root.dataset.ride) === this.id) this.view.take(snapshot, answer);
  }

  miss() {
    this.view?.miss();
  }

  #leave() {
    this.round += 1;
    this.id = this.coming = null;
    this.#end();
    this.map?.clear();
  }

  #end() {
    this.view?.end();
    this.view = null;
  }

  /**
   * Insert the page of a ride. `sent`: after an action, what its form had (sentBy); what is typed
   * in other forms, or was typed since, stays.
   */
  #mount(root, sent = null) {
    const typed = sent && typedIn(this.box, sent);
    this.#end();
    this.map?.clear();
    this.box.replaceChildren(document.adoptNode(root));
    this.box.scrollTop = 0;
    this.view = new RideView(root, { headers: HEADERS });
    this.view.start();
    if (this.map) this.view.drawOn(this.map, { asked: !sent });
    if (typed) putBack(root, typed);
    this.mounted();
    root.querySelector("#form-error")?.focus();
  }

  /**
   * Request a page and return the root of its ride; null if the ride is not wanted any more, or did
   * not come. A failed action is reported even if the user has chosen another ride meanwhile.
   */
  async #ask(address, options) {
    const round = (this.round += 1);
    const { root, done } = await ridePage(address, options);
    const left = round !== this.round;
    if (left ? options.method === "POST" && !done : !root) this.failed();
    if (left) return null;
    if (!root) this.coming = null; // the next press requests it again
    return root;
  }

  async #submit(event) {
    const form = event.target;
    const action = event.submitter?.getAttribute("formaction") ?? form.action;
    const address = new URL(action, location.href).pathname;
    if (event.defaultPrevented || form.method !== "post" || ELSEWHERE.test(address)) return;
    if (address.endsWith("/again") && !this.refill(this.id, "again")) return;
    event.preventDefault();
    if (address.endsWith("/again") || form.hasAttribute("aria-busy")) return;
    form.setAttribute("aria-busy", "true");
    const sent = sentBy(form);
    const root = await this.#ask(address, {
      method: "POST",
      headers: HEADERS,
      body: new URLSearchParams(formData(form, event.submitter)),
    });
    form.removeAttribute("aria-busy");
    if (!root) return;
    this.#mount(root, sent);
    this.box.querySelector("#said, #form-error")?.focus({ preventScroll: true });
    this.done();
  }
}

/** Request a page; {root: the node of its ride, or null; done: whether it reports success}. */
async function ridePage(address, options) {
  try {
    const answer = await fetch(address, {
      credentials: "same-origin",
      cache: "no-store",
      signal: patience(),
      ...options,
    });
    if (new URL(answer.url).pathname === "/sign-in") tellEnded();
    else if (answer.ok || answer.status === 422) {
      const page = parsed(await answer.text());
      const root = page.querySelector("[data-ride]");
      return { root, done: answer.ok && Boolean(root) };
    }
  } catch {
    // no answer, or an incomplete one
  }
  return { root: null, done: false };
}
