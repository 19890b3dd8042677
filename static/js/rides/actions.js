/**
 * The panels of actions: one is open at a time; the server's panels replace them when the allowed
 * actions change.
 */

import { patience } from "../shared/ask.js";
import { parsed } from "../shared/markup.js";
import { released } from "../shared/press.js";

export class ActionPanels {
  /**
   * `address` is that of the page; `shown` is the snapshot that its panels belong to; `replaced()`
   * is called after new panels were inserted. `signal` aborts when the page shows another ride.
   */
  constructor(root, address, shown, replaced, { headers = {}, signal } = {}) {
    this.root = root;
    this.address = address;
    this.shown = shown;
    this.replaced = replaced;
    this.headers = { Accept: "text/html", ...headers };
    this.signal = signal;
    this.asking = false;
    this.off = false; // whether panels are hidden because new ones could not be fetched
    root.addEventListener("click", (event) => this.#click(event));
    root.addEventListener("keydown", (event) => this.#escape(event));
  }

  /**
   * Fetch the panels again if they don't match the allowed actions. Called after each poll, so a
   * failure is retried.
   */
  async follow(now) {
    if (this.asking || (!this.off && key(this.shown) === key(now))) return;
    this.asking = true;
    try {
      const page = await this.#page();
      await released(); // a pressed button must stay in place
      if (this.signal?.aborted) return;
      const theirs = JSON.parse(page.querySelector("[data-points]").textContent).snapshot;
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
    const panels = [...fresh.children].map((panel) => {
      const name = panel.dataset.action;
      if (!stays.has(name) || !current.has(name)) return document.adoptNode(panel);
      current.get(name).hidden = panel.hidden; // the current panel may have been switched off
      return current.get(name);
    });
    place(panels, section);
    section.hidden = panels.length === 0;
    if (focused && !section.contains(document.activeElement))
      this.root.querySelector(".state-headline").closest("[role=status]").focus?.();
    this.replaced();
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
    const off = event.target.closest('summary[aria-disabled="true"]');
    if (off && !off.parentElement.querySelector("form")) event.preventDefault();
    const close = event.target.closest("[data-close]");
    if (close) this.#close(close.closest("details"));
  }

  #escape(event) {
    const panel = event.key === "Escape" && event.target.closest("details.action[open]");
    // a key that an input method uses itself is not meant for the panel
    if (!panel || event.defaultPrevented || event.isComposing) return;
    event.preventDefault(); // otherwise Escape would also close the ride
    this.#close(panel);
  }

  #close(panel) {
    panel.open = false;
    panel.querySelector("summary").focus();
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
  return JSON.stringify([snapshot.order_state, (snapshot.actions ?? []).map(signature)]);
}

/** An action as one text, independent of the order of its fields. */
function signature({ name, label, allowed = false, note = "" }) {
  return JSON.stringify([name, label, allowed, note]);
}
