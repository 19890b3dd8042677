/**
 * The panels of actions: one is open at a time; the server's panels replace them when the allowed
 * actions change, and the parts that name the guest when the guest is corrected.
 */

import { patience } from "../shared/ask.js";
import { quiet } from "../shared/keys.js";
import { parsed } from "../shared/markup.js";
import { leave } from "../shared/panels.js";
import { GuestParts } from "./guest_parts.js";
import { released } from "../shared/press.js";
import { putBack, typedIn } from "../shared/typed.js";

export class ActionPanels {
  /**
   * `address` is that of the page; `shown` is the snapshot that its panels belong to; `replaced()`
   * is called after new panels were inserted, and `named(part)` after a new part that names the
   * guest. `signal` aborts when the page shows another ride.
   */
  constructor(root, address, shown, replaced, { headers = {}, signal, named = () => {} } = {}) {
    this.root = root;
    this.address = address;
    this.shown = shown;
    this.replaced = replaced;
    this.headers = { Accept: "text/html", ...headers };
    this.signal = signal;
    this.asking = false;
    this.off = false; // whether panels are hidden because new ones could not be fetched
    this.typed = new Map(); // what was typed into panels of actions that are not possible now
    this.guest = new GuestParts(root, named);
    root.addEventListener("click", (event) => this.#click(event));
  }

  /**
   * Fetch the page again if its panels don't match the allowed actions, or it names another guest.
   * Called after each poll, so a failure is retried.
   */
  async follow(now) {
    if (this.asking || (!this.off && key(this.shown) === key(now))) return;
    this.asking = true;
    try {
      const page = await this.#page();
      await released(); // a pressed button must stay in place
      if (this.signal?.aborted) return;
      const theirs = JSON.parse(page.querySelector("[data-points]").textContent).snapshot;
      if (this.shown.person !== theirs.person) this.guest.take(page);
      this.#swap(page.querySelector("[data-actions]"), this.shown, theirs);
      this.shown = theirs;
      this.off = false;
    } catch {
      this.#switchOff(now); // without new panels, hide those of actions that are not allowed now
    } finally {
      this.asking = false;
    }
  }

  async #page() {
    const answer = await fetch(this.address, {
      headers: this.headers,
      credentials: "same-origin",
      cache: "no-store",
      signal: patience(this.signal),
    });
    if (!answer.ok) throw new Error(String(answer.status));
    return parsed(await answer.text());
  }

  /** Replace the panels that changed; the others keep what was typed into them. */
  #swap(fresh, before, now) {
    const section = this.root.querySelector("[data-actions]");
    const was = new Map((before.actions ?? []).map((action) => [action.name, signature(action)]));
    const stays = new Set(
      (now.actions ?? [])
        .filter((action) => was.get(action.name) === signature(action))
        .map((action) => action.name),
    );
    const current = new Map([...section.children].map((panel) => [panel.dataset.action, panel]));
    const focused = section.contains(document.activeElement);
    const typed = typedIn(section);
    const panels = [...fresh.children].map((panel) => {
      const name = panel.dataset.action;
      if (!stays.has(name) || !current.has(name)) return document.adoptNode(panel);
      current.get(name).hidden = panel.hidden; // the current panel may have been switched off
      return current.get(name);
    });
    place(panels, section);
    section.hidden = panels.length === 0;
    this.#putBack(section, typed);
    if (focused && !section.contains(document.activeElement)) {
      const state = this.root.querySelector(".state-headline").closest("[role=status]");
      state.tabIndex = -1;
      state.focus();
      quiet();
    }
    this.replaced();
  }

  /** A panel that comes back, or comes anew, has what was typed into it before. */
  #putBack(section, typed) {
    for (const [field, value] of typed.fields) this.typed.set(field, value);
    putBack(section, { ...typed, fields: this.typed });
  }

  #switchOff(now) {
    this.off = true;
    const allowed = new Set(
      (now.actions ?? []).filter((action) => action.allowed).map((action) => action.name),
    );
    for (const panel of this.root.querySelectorAll("[data-action]"))
      panel.hidden = !allowed.has(panel.dataset.action);
  }

  #click(event) {
    const panel = event.target.closest(".action > summary")?.parentElement;
    // after the panel has opened
    if (panel)
      requestAnimationFrame(() => panel.open && panel.scrollIntoView({ block: "nearest" }));
    const off = event.target.closest('summary[aria-disabled="true"]');
    if (off && !off.parentElement.querySelector("form")) event.preventDefault();
    const pencil = event.target.closest("[data-correct]");
    if (pencil) {
      event.preventDefault();
      this.#correct(pencil.dataset.correct);
    }
    const close = event.target.closest("[data-close]");
    if (close) leave(close);
  }

  /** Open the form that corrects the guest, at the field with this id. */
  #correct(id) {
    const panel = this.root.querySelector("[data-correct-panel]");
    panel.open = true;
    panel.scrollIntoView({ block: "nearest" });
    const field = panel.querySelector(`#${id}`);
    field.focus({ preventScroll: true });
    field.select();
  }
}

/**
 * Make these panels the children of a section. Panels that stay are not moved: a moved panel would
 * lose the focus, and a list that is open in it would close.
 */
function place(panels, section) {
  const gone = [...section.children].filter((old) => !panels.includes(old));
  for (const old of gone) old.remove();
  let at = section.firstElementChild;
  for (const panel of panels) {
    if (panel === at) at = at.nextElementSibling;
    else section.insertBefore(panel, at);
  }
}

function key(snapshot) {
  const { order_state: state, person } = snapshot;
  return JSON.stringify([state, person, (snapshot.actions ?? []).map(signature)]);
}

/** An action as one text, independent of the order of its fields. */
function signature({ name, label, allowed = false, note = "" }) {
  return JSON.stringify([name, label, allowed, note]);
}
