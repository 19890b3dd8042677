/**
 * Guests at kiosks who need the desk: a card for each above the list, answered without leaving the
 * board; the dialog that makes a desk code; and handing over a tablet.
 */

import { ageText, span } from "../shared/ages.js";
import { askQuietly, formData } from "../shared/ask.js";
import { Combobox } from "../shared/combobox.js";
import { enter } from "../shared/panels.js";
import { setText } from "../shared/slots.js";

const MOVED_MS = 700; // how long a person needs to notice that cards have moved

export class Kiosks {
  /**
   * `root` is the board's element; `patterns` are the texts of ages; `done()` runs after an answer,
   * and `say(words)` shows why one failed.
   */
  constructor(root, { patterns, done, say }) {
    this.box = root.querySelector("[data-calls]");
    this.failed = root.dataset.failed;
    Object.assign(this, { patterns, done, say });
    this.box.addEventListener("submit", (event) => this.#answer(event));
    wireCode(root.querySelector("[data-kcode-dialog]"), this.failed);
    wireHand(root.querySelector("[data-hand-dialog]"), this.failed, say);
    for (const open of root.querySelectorAll("[data-opens]"))
      open.addEventListener("click", (event) => {
        event.preventDefault();
        const dialog = root.querySelector(`[data-${open.dataset.opens}-dialog]`);
        dialog.dispatchEvent(new CustomEvent("ridedash:open"));
        dialog.showModal();
        const code = dialog.querySelector("[data-kcode-form]");
        if (code) enter(code);
      });
  }

  /**
   * Show these calls. A call that is already shown keeps its card, because the user may be choosing
   * a reason there; only the texts are updated.
   */
  show(calls) {
    const before = [...this.box.children];
    const pointed = this.box.querySelector(":scope > :hover"); // the list keeps this card in place
    const names = new Set(calls.map((call) => call.name));
    const nodes = new Map(Array.from(this.box.children, (node) => [node.dataset.call, node]));
    for (const [name, node] of nodes) if (!names.has(name)) node.remove();
    for (const call of calls) {
      const shown = nodes.get(call.name);
      if (shown) this.#fill(shown, call);
      else this.box.append(this.#fill(this.#buildCard(call), call));
    }
    if (pointed?.isConnected) return;
    if (before.some((node, at) => node !== this.box.children[at])) this.#shield();
  }

  /** After cards have moved, ignore presses for a moment, so that none answers another guest. */
  #shield() {
    this.box.classList.add("is-moved");
    clearTimeout(this.shielded);
    this.shielded = setTimeout(() => this.box.classList.remove("is-moved"), MOVED_MS);
  }

  /** Update how long each guest has waited, or how much time is left to answer. */
  tick(now) {
    for (const node of this.box.children) {
      const { since, until } = node.dataset;
      const left = Date.parse(until) - now;
      const age = Math.max(0, now - Date.parse(since)) / 1000;
      const words = Number.isFinite(left) ? span(left / 1000) : ageText(age, this.patterns);
      setText(node.querySelector('[data-cell="age"]'), words);
    }
  }

  #buildCard(call) {
    const pattern = document.querySelector(`template[data-call-pattern="${call.what}"]`);
    const node = pattern.content.firstElementChild.cloneNode(true);
    node.dataset.call = call.name;
    const why = node.querySelector("select");
    if (why) {
      why.id = `reason-${call.name}`;
      node.querySelector("label").htmlFor = why.id;
    }
    return node;
  }

  #fill(node, call) {
    setText(node.querySelector('[data-cell="title"]'), call.title);
    setText(node.querySelector('[data-cell="detail"]'), call.detail ?? "");
    node.dataset.since = call.since;
    node.dataset.until = call.until ?? "";
    const form = node.querySelector("form");
    if (form) form.action = call.address;
    return node;
  }

  async #answer(event) {
    const form = event.target;
    if (event.defaultPrevented) return;
    event.preventDefault();
    if (form.hasAttribute("aria-busy")) return;
    form.setAttribute("aria-busy", "true");
    const data = formData(form, event.submitter);
    const path = new URL(form.action, location.href).pathname;
    const { ok, body } = await askQuietly(path, Object.fromEntries(data));
    form.removeAttribute("aria-busy");
    this.say(ok ? "" : (body.message ?? this.failed));
    this.done();
  }
}

function wireCode(dialog, failed) {
  if (!dialog) return;
  const part = (name) => dialog.querySelector(`[data-kcode-${name}]`);
  const form = part("form");
  let pending = null; // the press whose code was requested
  findGuests(form, failed);
  dialog.addEventListener("ridedash:open", () => {
    pending = null; // a code that is on its way is for another guest
    form.reset();
    form.elements.guest_id.value = "";
    form.hidden = false;
    part("shown").hidden = part("failed").hidden = true;
  });
  form.addEventListener("submit", async (event) => {
    if (event.defaultPrevented) return;
    event.preventDefault();
    if (pending) return;
    const mine = (pending = {});
    const { ok, body } = await askQuietly("/kiosk-codes", Object.fromEntries(new FormData(form)));
    if (mine !== pending) return;
    pending = null;
    part("failed").hidden = ok;
    if (!ok) return void setText(part("failed").querySelector("span"), body.message ?? failed);
    setText(part("digits"), `${body.code.slice(0, 3)} ${body.code.slice(3)}`);
    setText(part("until"), part("until").dataset.pattern.replace("{time}", body.until));
    part("house").hidden = !body.house_pays;
    form.hidden = true;
    part("shown").hidden = false;
  });
}

/**
 * The field that finds the guest of the ride. If its words match no guest, the code is not bound to
 * one.
 */
function findGuests(form, failed) {
  const input = form.querySelector("#code-guest");
  const id = form.elements.guest_id;
  let answered = true; // whether the last search was answered
  new Combobox(input, form.querySelector("#code-guest-list"), {
    find: async (words) => {
      const { ok, body } = await askQuietly("/guests.json", {
        q: words,
        csrf_token: form.elements.csrf_token.value,
      });
      answered = ok;
      const places = (body.guests ?? []).map((guest) => ({
        ...guest,
        kind: guest.room,
        area: [guest.phone, guest.about].filter(Boolean).join(" · "),
      }));
      return { places, message: ok ? "" : failed };
    },
    chosen: (guest) => {
      input.value = guest.name;
      id.value = guest.id;
    },
    typed: () => (id.value = ""),
    announce: () => {},
    // while the list is loading, Enter must not make a code without its guest
    waits: (words) => Boolean(words) && !id.value,
    settled: () => Boolean(id.value),
    best: (guests) => (guests.length ? 0 : -1),
    none: () => {
      if (answered) form.querySelector("[type=submit]").focus();
      return answered;
    },
    eager: false,
  });
}

function wireHand(dialog, failed, say) {
  let pending = null;
  dialog?.addEventListener("ridedash:open", () => (pending = null));
  dialog?.addEventListener("submit", async (event) => {
    const form = event.target;
    if (event.defaultPrevented || form.method !== "post") return;
    event.preventDefault();
    if (pending) return;
    const mine = (pending = {});
    const data = formData(form, event.submitter);
    const path = new URL(form.action, location.href).pathname;
    const { ok } = await askQuietly(path, Object.fromEntries(data));
    if (mine === pending) dialog.close(); // the dialog may be open again for another guest
    say(ok ? "" : failed);
  });
}
